/**
 * The rules as text: to edit, or as a diff. Changed lines are tinted while one types, and a line
 * with a mistake carries a mark.
 */
import { useMemo, useState } from "preact/hooks";
import type { SetupPlanAnswer } from "../../../src/daemon/api-types/setup.ts";
import type { WhatIfEdit, WhatIfProblem } from "../../../src/daemon/api-types/what-if.ts";
import { shownText } from "../lib/sanitize.ts";
import { Diff as FileDiff } from "../setup/diff.tsx";
import { Icon } from "../ui/icons.tsx";
import "../styles/setup.css";
import { addedLines, diffLines, folded } from "./diff.ts";

interface EditorProps {
  readonly base: string;
  readonly text: string;
  readonly edits: readonly WhatIfEdit[];
  readonly problems: readonly WhatIfProblem[];
  readonly isOurs: boolean;
  readonly busy: boolean;
  readonly onText: (text: string) => void;
  /** What applying changes in the file; null: it was not asked. */
  readonly plan: SetupPlanAnswer | null;
  readonly onApply: () => void;
  readonly onWrite: () => void;
  readonly onLeave: () => void;
}

export function Editor(props: EditorProps) {
  const { base, text, edits, problems, isOurs, busy, plan, onText, onApply } = props;
  const [asDiff, setAsDiff] = useState(false);
  const count = edits.length;
  const canApply = isOurs && !busy && problems.length === 0 && count > 0 && text !== base;
  return (
    <section class="panel config" aria-label="Config">
      <header>
        <h2>Config</h2>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as one strip */}
        <div class="seg small-seg" role="group" aria-label="Show the config">
          <button type="button" aria-pressed={!asDiff} onClick={() => setAsDiff(false)}>
            Edit
          </button>
          <button type="button" aria-pressed={asDiff} onClick={() => setAsDiff(true)}>
            Diff
          </button>
        </div>
        <span class="end">{count === 1 ? "1 change" : `${count} changes`}</span>
      </header>
      {asDiff ? <Diff base={base} text={text} /> : <Lines {...props} />}
      {plan !== null && (
        <div class="plan">
          <p class="setup-hint">
            <bdi>{plan.path}</bdi>
            {plan.exists ? "" : " (new)"}
          </p>
          <FileDiff lines={plan.lines} />
          <div class="setup-acts">
            <button type="button" class="btn primary" disabled={busy} onClick={props.onWrite}>
              Save
            </button>
            <button type="button" class="btn quiet" onClick={props.onLeave}>
              Cancel
            </button>
          </div>
        </div>
      )}
      <div class="foot">
        <Verdict problems={problems} count={count} isOurs={isOurs} />
        <button
          type="button"
          class="btn quiet"
          disabled={text === base}
          onClick={() => onText(base)}
        >
          Reset
        </button>
        <button
          type="button"
          class="btn primary"
          disabled={!canApply || plan !== null}
          onClick={onApply}
        >
          Apply
        </button>
      </div>
    </section>
  );
}

function Lines({ base, text, problems, onText }: EditorProps) {
  const lines = text.split("\n");
  const added = useMemo(() => addedLines(base, text), [base, text]);
  const wrong = new Set(problems.flatMap(({ line }) => line ?? []));
  return (
    <div class="editor">
      <div class="gutter" aria-hidden="true">
        {lines.map((_, index) => (
          <span key={index} class={wrong.has(index + 1) ? "bad" : ""}>
            {index + 1}
          </span>
        ))}
      </div>
      <div class="page-of-text">
        <div class="paint" aria-hidden="true">
          {lines.map((_, index) => (
            <i
              key={index}
              class={wrong.has(index + 1) ? "bad" : added.has(index + 1) ? "add" : ""}
            />
          ))}
        </div>
        <textarea
          class="mono"
          aria-label="Rules, as JSON5"
          aria-invalid={problems.length > 0}
          spellcheck={false}
          autocomplete="off"
          wrap="off"
          rows={lines.length}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}

const signs = { same: "", del: "−", add: "+", gap: "⋯" } as const;
const words = { same: "", del: "removed", add: "added", gap: "" } as const;

function Diff({ base, text }: { readonly base: string; readonly text: string }) {
  const lines = useMemo(() => folded(diffLines(base, text)), [base, text]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable
    <section class="diff" data-scrolls tabIndex={0} aria-label="Changes to the config">
      {lines.map((line) => (
        <div key={`${line.kind} ${line.number}`} class={`ln ${line.kind}`}>
          <span>{line.kind === "gap" ? "" : line.number}</span>
          <span>
            {signs[line.kind]}
            <span class="sr">{words[line.kind]}</span>
          </span>
          <code>{line.kind === "gap" ? unchanged(line.count) : line.text}</code>
        </div>
      ))}
    </section>
  );
}

const unchanged = (count: number) => `${count} ${count === 1 ? "line" : "lines"} unchanged`;
const problemsShown = 3;

function Verdict({
  problems,
  count,
  isOurs,
}: Pick<EditorProps, "problems" | "isOurs"> & { readonly count: number }) {
  if (problems.length > 0)
    return (
      <div role="alert">
        <ul class="problems">
          {problems.slice(0, problemsShown).map(({ path, message, line }) => (
            <li key={`${path} ${message}`}>
              <Icon name="bad" />
              <bdi>
                {line !== null && `Line ${line}: `}
                {shownText(message)}
              </bdi>
            </li>
          ))}
          {problems.length > problemsShown && <li>{problems.length - problemsShown} more</li>}
        </ul>
      </div>
    );
  return (
    <p class="small muted" role="status">
      {!isOurs
        ? "These rules came with the recording and cannot be applied here."
        : count === 0
          ? "These are the current rules."
          : "Valid. Applies without a restart."}
    </p>
  );
}
