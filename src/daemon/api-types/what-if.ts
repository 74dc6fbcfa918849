/**
 * What-if, as its page sees it
 * ============================
 * A recording is read once; then rules are tried on it, over and over. Answers come as frames,
 * since a long recording takes a while and the page shows how far it is.
 */
import type { Why } from "../../actors/protocol/runtime.ts";
import type { Decision, Rule } from "../../domain/decision.ts";
import type { Millis } from "../../domain/message.ts";

/** A recording that is ready to be asked about. */
export interface WhatIfRecording {
  readonly id: string;
  readonly name: string;
  readonly messages: number;
  readonly rooms: number;
  /** ms since the epoch; null: the recording has no moment of its own. */
  readonly from: Millis | null;
  /** The rules it is asked about: those in force, or its own where it brought some. */
  readonly rules: string;
  /** The rules are those of this daemon, so a change can be applied. */
  readonly isOurs: boolean;
}

/** Something that is wrong with the rules as they are written. */
export interface WhatIfProblem {
  /** Empty: the text as a whole. */
  readonly path: string;
  readonly message: string;
  /** Line of the text, from 1; null: not known. */
  readonly line: number | null;
}

/** A value that the rules say differently. */
export interface WhatIfEdit {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface WhatIfVerdict {
  readonly decision: Decision;
  readonly rule: Rule;
}

/** A message that is decided differently. */
export interface WhatIfChange {
  /** Names it in the recording. */
  readonly n: number;
  readonly at: Millis;
  readonly id: string;
  readonly key: string | null;
  readonly author: string;
  readonly isBot: boolean;
  readonly room: string;
  readonly text: string;
  readonly before: WhatIfVerdict;
  readonly after: WhatIfVerdict;
}

export interface WhatIfResult {
  readonly messages: number;
  readonly rooms: number;
  readonly tookMs: number;
  /** Messages whose decision is another. */
  readonly changed: number;
  /** The same decision by another rule. */
  readonly otherRule: number;
  readonly nowEngage: number;
  readonly nowObserve: number;
  readonly nowOther: number;
  /** The first of them, in order of time. */
  readonly changes: readonly WhatIfChange[];
}

export type WhatIfFrame =
  | { readonly type: "invalid"; readonly problems: readonly WhatIfProblem[] }
  | { readonly type: "valid"; readonly edits: readonly WhatIfEdit[] }
  | { readonly type: "progress"; readonly share: number }
  | { readonly type: "result"; readonly result: WhatIfResult }
  | { readonly type: "failed"; readonly message: string };

/** Both walks of the ladder for one message. */
export interface WhatIfLadders {
  readonly before: Why | null;
  readonly after: Why | null;
}

export interface WhatIfApplied {
  readonly edits: readonly WhatIfEdit[];
  /** To take it back with, as long as nothing else was applied. */
  readonly undo: string;
  /** The rules in force now, as the page shows them. */
  readonly rules: string;
}
