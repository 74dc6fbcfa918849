/**
 * Requests of What-if
 * ===================
 * Loads recordings, runs rules on them while they are typed, and passes frames on as they come.
 * Only the newest run counts: an overtaken one is aborted at the daemon as well.
 */
import type { SetupPlanAnswer } from "../../../src/daemon/api-types/setup.ts";
import type { TuneFrame } from "../../../src/daemon/api-types/tune.ts";
import type {
  WhatIfApplied,
  WhatIfFrame,
  WhatIfLadders,
  WhatIfRecording,
} from "../../../src/daemon/api-types/what-if.ts";
import { ApiError, ask } from "../lib/api.ts";

export interface Trying {
  readonly token: string;
  readonly recording: string;
  readonly rules: string;
  readonly signal: AbortSignal;
  readonly onFrame: (frame: WhatIfFrame) => void;
}

/** Tries rules on a recording. @throws ApiError, or the AbortError of `signal`. */
export const tryRules = ({ token, recording, rules, signal, onFrame }: Trying) =>
  readFrames("run", { token, body: { recording, rules }, signal, onFrame });

interface Tuning {
  readonly token: string;
  /** Labels of messages from that moment on, ms. */
  readonly since: number;
  readonly measure: "precision" | "recall" | "f1";
  readonly atLeast: number | null;
  readonly signal: AbortSignal;
  readonly onFrame: (frame: TuneFrame) => void;
}

/** Looks for rules that decide better. @throws ApiError, or the AbortError of `signal`. */
export const tuneRules = ({ token, signal, onFrame, ...body }: Tuning) =>
  readFrames("tune", { token, body, signal, onFrame });

interface Reading<Frame> {
  readonly token: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
  readonly onFrame: (frame: Frame) => void;
}

/** Passes frames on as they come. */
async function readFrames<Frame>(
  path: string,
  { token, body, signal, onFrame }: Reading<Frame>,
): Promise<void> {
  const response = await fetch(`/api/what-if/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok || response.body === null) throw await refusal(response);
  const reader = response.body.pipeThrough(new TextDecoderStream() as never).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = (await reader.read()) as { value?: string; done: boolean };
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events)
      if (event.startsWith("data: ")) onFrame(JSON.parse(event.slice(6)) as Frame);
  }
}

async function refusal(response: Response): Promise<ApiError> {
  const answer = (await response.json().catch(() => null)) as {
    readonly error?: { readonly message?: string };
  } | null;
  const message = answer?.error?.message ?? `earshot responded with ${response.status}.`;
  return new ApiError(response.status, message);
}

/** The journal from a moment on. */
export const recordJournal = (token: string, since: number, name: string) =>
  ask("/api/what-if/recordings", { token, body: { since, name } }) as Promise<WhatIfRecording>;

/** A scenario somebody has. */
export async function uploadFile(token: string, file: File): Promise<WhatIfRecording> {
  const response = await fetch(`/api/what-if/files?name=${encodeURIComponent(file.name)}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/jsonl" },
    body: file,
  });
  if (!response.ok) throw await refusal(response);
  return (await response.json()) as WhatIfRecording;
}

export const bothLadders = (
  token: string,
  body: { readonly recording: string; readonly rules: string; readonly n: number },
  signal: AbortSignal,
) => ask("/api/what-if/ladders", { token, body, signal }) as Promise<WhatIfLadders>;

export const planRules = (token: string, rules: string) =>
  ask("/api/what-if/plan", { token, body: { rules } }) as Promise<SetupPlanAnswer>;

/** Writes what `plan` showed. */
export const applyRules = (token: string, rules: string, plan: SetupPlanAnswer) =>
  ask("/api/what-if/apply", {
    token,
    body: { rules, token: plan.token },
  }) as Promise<WhatIfApplied>;

export const undoRules = (token: string, undo: WhatIfApplied["undo"]) =>
  ask("/api/what-if/undo", { token, body: { undo } }) as Promise<{ readonly rules: string }>;
