/**
 * Chips of the composer: the files attached to the line being written, their progress, and a button
 * to remove each. A change is announced once to screen readers; the progress can be read from the
 * bar.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { fileName } from "../lib/file-facts.ts";
import { bytes } from "../lib/format.ts";
import { copyOf } from "../lib/pictures.ts";
import { Icon } from "../ui/icons.tsx";
import type { Chosen, Uploads } from "./uploads.ts";

interface ChipsProps {
  readonly chosen: readonly Chosen[];
  readonly uploads: Uploads;
  /** Where the focus goes when the last chip is gone. */
  readonly onEmpty: () => void;
}

const removeId = (key: string) => `remove-${key}`;

export function Chips({ chosen, uploads, onEmpty }: ChipsProps) {
  const list = useRef<HTMLUListElement>(null);
  const failed = chosen.filter(({ fate }) => fate.state === "failed").length;
  // What came or failed last is seen.
  useEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [chosen.length, failed]);
  if (chosen.length === 0) return null;
  const remove = (index: number) => {
    const next = chosen[index + 1] ?? chosen[index - 1];
    uploads.remove((chosen[index] as Chosen).key);
    if (next === undefined) onEmpty();
    else requestAnimationFrame(() => document.getElementById(removeId(next.key))?.focus());
  };
  return (
    <ul class="chips" ref={list} aria-label="Attached">
      {chosen.map((item, index) => (
        <ChosenChip
          key={item.key}
          chosen={item}
          onRemove={() => remove(index)}
          onAgain={() => uploads.again(item.key)}
        />
      ))}
    </ul>
  );
}

interface ChosenChipProps {
  readonly chosen: Chosen;
  readonly onRemove: () => void;
  readonly onAgain: () => void;
}

function ChosenChip({ chosen: one, onRemove, onAgain }: ChosenChipProps) {
  const { fate } = one;
  // What it is, the daemon knows better than its name.
  const { kind } = fate.state === "there" ? fate.file : one;
  const name = fileName(one);
  const failed = fate.state === "failed";
  return (
    <li class={failed ? "chosen bad" : "chosen"} data-state={fate.state}>
      <Preview
        chosen={one}
        fallback={<Icon name={failed ? "bad" : kind} size={failed ? 12 : 16} />}
      />
      <span class="file-words">
        <bdi class="cut" title={name}>
          {name}
        </bdi>
        <span class={failed ? "small reason" : "small muted"}>{factsOf(one)}</span>
        {fate.state === "going" && (
          <progress aria-label={`Uploading ${name}`} max={1} value={fate.part} />
        )}
      </span>
      {failed && fate.again && (
        <button type="button" class="btn quiet small" onClick={onAgain}>
          Try again
        </button>
      )}
      <button
        type="button"
        id={removeId(one.key)}
        class="btn quiet small icon"
        aria-label={`Remove ${name}`}
        onClick={onRemove}
      >
        <Icon name="x" />
      </button>
    </li>
  );
}

function factsOf({ fate, bytes: size }: Chosen): string {
  if (fate.state === "failed") return fate.why;
  if (fate.state === "waiting") return `${bytes(size)}, waits`;
  if (fate.state === "going") return `${Math.floor(fate.part * 100)}% of ${bytes(size)}`;
  return bytes(size);
}

interface PreviewProps {
  readonly chosen: Chosen;
  readonly fallback: preact.ComponentChildren;
}

/** A small copy of a picture while this page has its bytes. */
function Preview({ chosen: one, fallback }: PreviewProps) {
  const [address, setAddress] = useState<string | null>(null);
  const { blob, kind } = one;
  useEffect(() => {
    if (blob === null || kind !== "image") return;
    let left = false;
    copyOf(blob, 64).then(
      (copy) => left || setAddress(copy),
      // Not a picture this browser can draw: the sign stays.
      () => undefined,
    );
    return () => {
      left = true;
    };
  }, [blob, kind]);
  return (
    <span class="preview" aria-hidden="true">
      {address === null ? fallback : <img src={address} alt="" />}
    </span>
  );
}
