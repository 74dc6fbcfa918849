/**
 * What-if
 * =======
 * The same messages under other rules: a recording, the rules beside it, and the decisions that
 * would differ. Nothing changes until it is applied: the change of the file is shown first, and can be undone.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { SetupPlanAnswer } from "../../../src/daemon/api-types/setup.ts";
import type {
  WhatIfEdit,
  WhatIfProblem,
  WhatIfRecording,
  WhatIfResult,
} from "../../../src/daemon/api-types/what-if.ts";
import { ApiError } from "../lib/api.ts";
import { amount } from "../lib/format.ts";
import type { PageProps } from "../lib/page-props.ts";
import { shownName, shownText } from "../lib/sanitize.ts";
import "../styles/what-if.css";
import {
  applyRules,
  bothLadders,
  planRules,
  recordJournal,
  tryRules,
  undoRules,
  uploadFile,
} from "../what-if/api.ts";
import { Editor } from "../what-if/editor.tsx";
import { Result } from "../what-if/result.tsx";
import { Tune } from "../what-if/tune.tsx";

type Pane = "changes" | "config";

/** How far back the journal is read; "yesterday" begins at its first moment. */
const spans = [
  { name: "Today, all rooms", days: 0 },
  { name: "Since yesterday, all rooms", days: 1 },
  { name: "Last 7 days, all rooms", days: 7 },
  { name: "Everything kept, all rooms", days: Number.POSITIVE_INFINITY },
] as const;
const typedMs = 400;
const toastMs = 6_000;

function since(days: number): number {
  if (!Number.isFinite(days)) return 0;
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - days);
  return day.getTime();
}

const wordsOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : "Cannot reach earshot.";

interface Tried {
  readonly edits: readonly WhatIfEdit[];
  readonly problems: readonly WhatIfProblem[];
  /** Of the newest try that came to an end. */
  readonly result: WhatIfResult | null;
  /** The rules it was of. */
  readonly rules: string | null;
  /** How far the present try is; null: none is under way. */
  readonly share: number | null;
  readonly failed: string | null;
  /** Somebody called the present try off. */
  readonly stopped: boolean;
}
const untried: Tried = {
  edits: [],
  problems: [],
  result: null,
  rules: null,
  share: null,
  failed: null,
  stopped: false,
};

export function WhatIfPage({ token, onLink }: PageProps) {
  const [span, setSpan] = useState(1);
  const [recording, setRecording] = useState<WhatIfRecording | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [text, setText] = useState("");
  const [pane, setPane] = useState<Pane>("changes");
  const [busy, setBusy] = useState(false);
  const toast = useToast();
  const [tried, stop] = useTry(token, recording, text);
  const load = (loading: Promise<WhatIfRecording>) => {
    setProblem(null);
    loading.then(
      (loaded) => {
        onLink({ state: "live" });
        setRecording(loaded);
        setText(loaded.rules);
      },
      (error: unknown) => {
        if (error instanceof ApiError && error.status === 401)
          return onLink({ state: "refused", message: "" });
        onLink(
          error instanceof ApiError && error.status === 0
            ? { state: "lost", tries: 1 }
            : { state: "live" },
        );
        setProblem(wordsOf(error));
      },
    );
  };
  const loadSpan = (index: number) => {
    const { name, days } = spans[index] ?? spans[1];
    setSpan(index);
    load(recordJournal(token, since(days), name));
  };
  useEffect(() => loadSpan(span), [token]);
  const open = (file: File | undefined) => {
    if (file === undefined) return;
    setSpan(-1);
    load(uploadFile(token, file));
  };
  // Another recording may have been loaded since: one that brought rules of its own keeps them.
  const inForce = useRef<(rules: string) => void>(() => undefined);
  inForce.current = (rules) => {
    if (recording === null || !recording.isOurs) return;
    setRecording({ ...recording, rules });
    setText(rules);
  };
  const change = (work: () => Promise<void>) => {
    setBusy(true);
    work()
      .catch((error: unknown) => toast.show(wordsOf(error), null))
      .finally(() => setBusy(false));
  };
  const [plan, setPlan] = useState<SetupPlanAnswer | null>(null);
  // What was shown is what is written.
  useEffect(() => setPlan(null), [text, recording]);
  const show = () => change(async () => setPlan(await planRules(token, text)));
  const write = () =>
    change(async () => {
      if (plan === null) return;
      const { edits, undo, rules } = await applyRules(token, text, plan);
      setPlan(null);
      inForce.current(rules);
      const count = edits.length === 1 ? "1 change" : `${edits.length} changes`;
      toast.show(`Applied ${count}`, () =>
        change(async () => inForce.current((await undoRules(token, undo)).rules)),
      );
    });
  const changed = tried.result === null ? 0 : tried.result.changed + tried.result.otherRule;
  return (
    <main
      id="main"
      class="page"
      tabIndex={-1}
      onDragOver={(event) => {
        event.preventDefault();
        event.currentTarget.dataset.drop = "here";
      }}
      onDragLeave={(event) => {
        delete event.currentTarget.dataset.drop;
      }}
      onDrop={(event) => {
        event.preventDefault();
        delete event.currentTarget.dataset.drop;
        open(event.dataTransfer?.files[0]);
      }}
    >
      <div class="head">
        <h1>What-if</h1>
        <span class="sub">
          Replay past messages under other rules. Nothing changes until you apply them.
        </span>
        <span class="grow" />
        <Source span={span} recording={recording} onSpan={loadSpan} onFile={open} />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as one strip */}
        <div class="seg only-s" role="group" aria-label="Show">
          <button
            type="button"
            aria-pressed={pane === "changes"}
            onClick={() => setPane("changes")}
          >
            Changes<span class="n">{amount(changed)}</span>
          </button>
          <button type="button" aria-pressed={pane === "config"} onClick={() => setPane("config")}>
            Config<span class="n">{amount(tried.edits.length)}</span>
          </button>
        </div>
      </div>
      <p class="sr" role="status">
        {tried.share === null && text !== recording?.rules && answerOf(tried)}
      </p>
      {recording?.isOurs === true && span >= 0 && (
        <Tune token={token} since={() => since(spans[span]?.days ?? 0)} onRules={setText} />
      )}
      <div class="whatif" data-pane={pane}>
        {recording !== null && (
          <Editor
            base={recording.rules}
            text={text}
            edits={tried.edits}
            problems={tried.problems}
            isOurs={recording.isOurs}
            busy={busy || tried.share !== null}
            onText={(typed) => {
              // A file that could not be read is no longer what this is about.
              setProblem(null);
              setText(typed);
            }}
            plan={plan}
            onApply={show}
            onWrite={write}
            onLeave={() => setPlan(null)}
          />
        )}
        <section class="panel changes" aria-label="Changed decisions" aria-live="off">
          <Outcome
            token={token}
            recording={recording}
            tried={tried}
            problem={problem}
            stop={stop}
            edited={recording !== null && text !== recording.rules}
          />
        </section>
      </div>
      {toast.view}
    </main>
  );
}

/** What a try came to, for those who listen. */
function answerOf({ result, problems }: Tried): string {
  if (result === null || problems.length > 0) return "";
  const { changed, otherRule } = result;
  if (changed + otherRule === 0) return "Same decisions";
  return changed === 1 ? "1 decision changes" : `${amount(changed)} decisions change`;
}

interface SourceProps {
  readonly span: number;
  readonly recording: WhatIfRecording | null;
  readonly onSpan: (index: number) => void;
  readonly onFile: (file: File | undefined) => void;
}

/** What is replayed: a part of the journal, or a file (which may also be dropped on the page). */
function Source({ span, recording, onSpan, onFile }: SourceProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <span class="source">
      <select
        class="btn"
        aria-label="Recording"
        value={span}
        onChange={(event) => onSpan(Number(event.currentTarget.value))}
      >
        {span < 0 && <option value={-1}>{shownName(recording?.name ?? "A file")}</option>}
        {spans.map(({ name }, index) => (
          <option key={name} value={index}>
            {name}
          </option>
        ))}
      </select>
      <button type="button" class="btn" onClick={() => input.current?.click()}>
        Open a file
      </button>
      <input
        ref={input}
        class="sr"
        type="file"
        tabIndex={-1}
        accept=".jsonl,.json,.txt"
        aria-label="Recording file"
        onChange={(event) => {
          const box = event.currentTarget;
          onFile(box.files?.[0]);
          // The same file may be chosen again once it was fixed.
          box.value = "";
        }}
      />
    </span>
  );
}

/** Tries the rules a moment after they were typed; a newer text calls the try before off. */
function useTry(
  token: string,
  recording: WhatIfRecording | null,
  text: string,
): readonly [Tried, stop: () => void] {
  const [tried, setTried] = useState(untried);
  const current = useRef<AbortController | null>(null);
  const id = recording?.id;
  useEffect(() => setTried(untried), [id]);
  useEffect(() => {
    if (recording === null || recording.messages === 0) return;
    const stop = new AbortController();
    current.current = stop;
    const part = (next: Partial<Tried>) => setTried((before) => ({ ...before, ...next }));
    part({ stopped: false });
    const run = () =>
      tryRules({
        token,
        recording: recording.id,
        rules: text,
        signal: stop.signal,
        onFrame(frame) {
          if (stop.signal.aborted) return;
          if (frame.type === "invalid") part({ problems: frame.problems, share: null });
          else if (frame.type === "valid") part({ problems: [], edits: frame.edits, share: 0 });
          else if (frame.type === "progress") part({ share: frame.share });
          else if (frame.type === "failed") part({ failed: frame.message, share: null });
          else part({ result: frame.result, rules: text, share: null, failed: null });
        },
      }).catch((error: unknown) => {
        if (!stop.signal.aborted) part({ failed: wordsOf(error), share: null });
      });
    // The rules as they are need no thinking time; they warm the recording up.
    const timer = setTimeout(run, text === recording.rules ? 0 : typedMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
      part({ share: null });
    };
  }, [token, id, recording?.rules, text]);
  const stop = () => {
    current.current?.abort();
    setTried((before) => ({ ...before, share: null, stopped: true }));
  };
  return [tried, stop];
}

interface OutcomeProps {
  readonly token: string;
  readonly recording: WhatIfRecording | null;
  readonly tried: Tried;
  readonly problem: string | null;
  readonly edited: boolean;
  readonly stop: () => void;
}

function Outcome({ token, recording, tried, problem, edited, stop }: OutcomeProps) {
  const { result, rules, share, failed, stopped, problems } = tried;
  if (problem !== null) return <Empty title="This recording cannot be used" text={problem} />;
  if (recording === null) return <Progress words="Reading the journal" share={null} />;
  if (recording.messages === 0)
    return (
      <Empty
        title="No messages in that time"
        text="Choose a longer time, or open a recording made with earshot record."
      />
    );
  if (failed !== null) return <Empty title="The replay failed" text={failed} />;
  const hasAnswer = edited && rules !== null && rules !== recording.rules;
  if (problems.length > 0 && !hasAnswer)
    return <Empty title="The config is not valid" text="The problem is marked in the config." />;
  if (stopped && share === null)
    return <Empty title="Stopped" text="Change a rule to start again." />;
  const running =
    share === null ? null : <Progress words="Replaying" share={share} onStop={stop} />;
  if (result === null) return running ?? <Progress words="Replaying" share={0} />;
  const isFresh = share === null && problems.length === 0;
  if (!edited && isFresh) return <ChangeARule recording={recording} />;
  const ladders = (n: number, signal: AbortSignal) =>
    bothLadders(token, { recording: recording.id, rules: rules ?? recording.rules, n }, signal);
  return (
    <>
      {running}
      <Result result={result} stale={!isFresh} ladders={ladders} />
    </>
  );
}

function ChangeARule({ recording: { messages, rooms } }: { readonly recording: WhatIfRecording }) {
  return (
    <div class="empty">
      <h2>Change a rule</h2>
      <p>Edit the config on the left to see which decisions would change.</p>
      <p class="small muted">
        {amount(messages)} {messages === 1 ? "message" : "messages"} in {amount(rooms)}{" "}
        {rooms === 1 ? "room" : "rooms"} {messages === 1 ? "is" : "are"} ready.
      </p>
    </div>
  );
}

function Empty({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div class="empty" role="alert">
      <h2>{title}</h2>
      <p>
        <bdi>{shownText(text)}</bdi>
      </p>
    </div>
  );
}

interface ProgressProps {
  readonly words: string;
  readonly share: number | null;
  readonly onStop?: () => void;
}

function Progress({ words, share, onStop }: ProgressProps) {
  const percent = share === null ? null : Math.round(share * 100);
  return (
    <div class="progress">
      <span class="small muted">
        {words}
        {percent !== null && `, ${percent} %`}
      </span>
      {onStop !== undefined && (
        <button type="button" class="btn quiet small" onClick={onStop}>
          Stop
        </button>
      )}
      <svg class="track" role="progressbar" aria-label={words} aria-valuenow={percent ?? 0}>
        <rect class="part" width={`${percent ?? 0}%`} height="4" rx="2" />
      </svg>
    </div>
  );
}

interface Toast {
  readonly text: string;
  readonly undo: (() => void) | null;
}

/** One line that stays six seconds, longer while it is pointed at. */
function useToast() {
  const [toast, setToast] = useState<Toast | null>(null);
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (toast === null || held) return;
    const timer = setTimeout(() => setToast(null), toastMs);
    return () => clearTimeout(timer);
  }, [toast, held]);
  const hold = (on: boolean) => () => setHeld(on);
  const view = (
    <div class="toasts" role="status">
      {toast !== null && (
        // biome-ignore lint/a11y/noStaticElementInteractions: being pointed at only keeps it longer
        <div
          class="toast"
          onMouseEnter={hold(true)}
          onMouseLeave={hold(false)}
          onFocusCapture={hold(true)}
          onBlurCapture={hold(false)}
        >
          <bdi>{shownText(toast.text)}</bdi>
          {toast.undo !== null && (
            <button
              type="button"
              class="btn small"
              onClick={() => {
                setToast(null);
                setHeld(false);
                toast.undo?.();
              }}
            >
              Undo
            </button>
          )}
        </div>
      )}
    </div>
  );
  return { view, show: (text: string, undo: (() => void) | null) => setToast({ text, undo }) };
}
