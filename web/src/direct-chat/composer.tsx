/**
 * The composer of the direct chat
 * ===============================
 * A line to the agent, with or without files. A line that begins with a slash opens a list of
 * commands: arrows choose, Tab or Enter takes the chosen one, Escape closes it. Enter without a
 * choice sends the line as it is. While a file is being uploaded, the line waits for it.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { limits } from "../../../src/domain/limits.ts";
import { fileName } from "../lib/file-facts.ts";
import { shownName, shownText } from "../lib/sanitize.ts";
import { Icon } from "../ui/icons.tsx";
import { Chips } from "./attachment-chips.tsx";
import type { Pending } from "./chat-reducer.ts";
import { completed, type Offer, offersFor } from "./commands.ts";
import { type FilesOfDraft, hasFiles, takeDropped, takePasted } from "./use-uploads.ts";

export interface DirectComposerProps {
  readonly agentName: string;
  /** The daemon's commands; rejects where it cannot be asked. */
  readonly commands: () => Promise<readonly Offer[]>;
  readonly files: FilesOfDraft;
  /** Stops the running turn; null: none runs. */
  readonly onStop: (() => void) | null;
  readonly onSay: (text: string, files: Pending["files"]) => void;
}

const listId = "commands";
const optionId = ({ name }: Offer) => `command-${name.replaceAll(":", "-")}`;

/** The daemon's commands, fetched when a slash is first typed. */
function useCommands(text: string, fetchAll: DirectComposerProps["commands"]): readonly Offer[] {
  const [all, setAll] = useState<readonly Offer[]>([]);
  const asking = useRef(false);
  const wanted = text.startsWith("/");
  useEffect(() => {
    if (!wanted || asking.current || all.length > 0) return;
    asking.current = true;
    // Without the list the line is typed as ever; it is asked for again at the next slash.
    fetchAll()
      .then(setAll, () => undefined)
      .finally(() => {
        asking.current = false;
      });
  }, [wanted]);
  return all;
}

/** Something is on its way, or will be when the daemon answers again: no line goes without it. */
const isMoving = ({ chosen }: FilesOfDraft) =>
  chosen.some(({ fate }) => (fate.state === "failed" ? fate.again : fate.state !== "there"));

export function DirectComposer(props: DirectComposerProps) {
  const { agentName, commands, files, onStop, onSay } = props;
  const [text, setText] = useState("");
  /** The offer that arrows have reached; null: none. */
  const [at, setAt] = useState<number | null>(null);
  const [closed, setClosed] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const all = useCommands(text, commands);
  const offers = closed ? [] : offersFor(text, all);
  const open = offers.length > 0;
  const chosen = at === null ? undefined : offers[at];
  const write = (next: string) => {
    setText(next);
    setAt(null);
    setClosed(false);
  };
  const take = (offer: Offer) => {
    write(completed(offer));
    setClosed(true);
    box.current?.focus();
  };
  const { uploads, chosen: attached } = files;
  const moving = isMoving(files);
  /** Send was asked for while a file was on its way. */
  const [due, setDue] = useState(false);
  const say = () => {
    if (moving) return setDue(true);
    const ready = uploads.take();
    if (text.trim() === "" && ready.length === 0) return;
    onSay(text, ready);
    write("");
  };
  useEffect(() => {
    if (!due || moving) return;
    setDue(false);
    // One that did not arrive is for the person to look at first.
    if (!attached.some(({ fate }) => fate.state === "failed")) say();
  }, [due, moving]);
  const move = (by: number) =>
    setAt((now) => {
      const from = now ?? (by > 0 ? -1 : 0);
      return (from + by + offers.length) % offers.length;
    });
  const keys = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const done = () => event.preventDefault();
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      done();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (open && event.key === "Tab" && !event.shiftKey) {
      done();
      take(chosen ?? (offers[0] as Offer));
    } else if (open && event.key === "Enter" && chosen !== undefined) {
      done();
      take(chosen);
    } else if (event.key === "Enter" && !event.shiftKey) {
      done();
      say();
    } else if (event.key === "Escape") {
      if (open) setClosed(true);
      else if (onStop !== null) onStop();
      else write("");
    }
  };
  const name = shownName(agentName);
  return (
    <DropPlace files={files}>
      <div class="box">
        {open && <Offers offers={offers} chosen={chosen} onTake={take} />}
        <Chips chosen={attached} uploads={uploads} onEmpty={() => box.current?.focus()} />
        <textarea
          rows={1}
          ref={box}
          aria-label={`Message to ${name}`}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={open ? listId : undefined}
          aria-activedescendant={chosen === undefined ? undefined : optionId(chosen)}
          placeholder={`Message ${name}`}
          maxLength={limits.textUnitsMax}
          value={text}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={keys}
          onPaste={(event) => {
            if (takePasted(event.clipboardData, uploads)) event.preventDefault();
          }}
        />
        <div class="tools">
          <AttachButton onFiles={(chosen) => uploads.add(chosen)} />
          <span class="end">
            {due && <span class="small muted">Sends when the file is there</span>}
            {onStop !== null && (
              <button type="button" class="btn small" aria-keyshortcuts="Escape" onClick={onStop}>
                Stop
              </button>
            )}
            <button type="button" class="btn small" onClick={say}>
              Send
            </button>
          </span>
        </div>
      </div>
      <UploadNotes files={files} />
    </DropPlace>
  );
}

/** Everything of the composer takes what is dropped on it. */
function DropPlace({
  files: { uploads },
  children,
}: {
  readonly files: FilesOfDraft;
  readonly children: ComponentChildren;
}) {
  const [over, setOver] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button beside it does the same by key
    <div
      class={over ? "composer over" : "composer"}
      onDragOver={(event) => {
        if (!hasFiles(event.dataTransfer)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        setOver(false);
        if (event.dataTransfer === null || !hasFiles(event.dataTransfer)) return;
        event.preventDefault();
        takeDropped(event.dataTransfer, uploads);
      }}
    >
      {children}
      {over && <p class="drop">Drop to attach</p>}
    </div>
  );
}

function AttachButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="btn quiet small" onClick={() => input.current?.click()}>
        <Icon name="clip" size={14} />
        Attach
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          // The same file may be chosen again.
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

/** What was not attached, for everybody; what was, for those who listen. */
function UploadNotes({ files: { chosen, note } }: { readonly files: FilesOfDraft }) {
  const there = chosen.filter(({ fate }) => fate.state === "there").map(fileName);
  const failed = chosen.flatMap((item) =>
    item.fate.state === "failed" ? [`${fileName(item)}: ${item.fate.why}`] : [],
  );
  return (
    <>
      {note !== null && (
        <p class="small note" role="alert">
          {shownText(note)}
        </p>
      )}
      <p class="sr" role="status">
        {there.length > 0 && `Attached: ${there.join(", ")}.`} {failed.join(" ")}
      </p>
    </>
  );
}

interface OffersProps {
  readonly offers: readonly Offer[];
  readonly chosen: Offer | undefined;
  readonly onTake: (offer: Offer) => void;
}

function Offers({ offers, chosen, onTake }: OffersProps) {
  return (
    <div class="offers" id={listId} role="listbox" aria-label="Commands">
      {offers.map((offer) => (
        <div
          key={offer.name}
          id={optionId(offer)}
          class="offer"
          role="option"
          tabIndex={-1}
          aria-selected={offer === chosen}
          // The line keeps the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            onTake(offer);
          }}
        >
          <span class="mono">/{offer.name}</span>
          <span class="cut muted">{shownText(offer.help)}</span>
        </div>
      ))}
    </div>
  );
}
