/**
 * Frames of the direct chat
 * =========================
 * The protocol of page and daemon over `/ws` (docs/api.md), one JSON object a frame. A frame of an
 * unknown form is ignored, so that an older page works with a newer daemon.
 */
import type { Decision, Rule } from "../../../src/domain/decision.ts";
import type { AttachedFile } from "../lib/file-facts.ts";

/** A question with buttons. A press is a message with the label, in reply to the question. */
export interface Choices {
  readonly text: string;
  readonly options: readonly string[];
}

/** What the page sends. `id` is made by the page, so that a second try is known as one. */
export type ClientFrame =
  | { readonly type: "hello"; readonly token: string; readonly after: number }
  | {
      readonly type: "message";
      readonly id: string;
      readonly text: string;
      readonly replyTo: string | null;
      /** Files that were uploaded for it. */
      readonly attachments: readonly string[];
    };

/** What the daemon sends. `n` grows along the conversation; `at` is ms since the epoch. */
export type ServerFrame =
  | {
      readonly type: "ready";
      readonly agent: { readonly id: string; readonly name: string };
      readonly n: number;
      readonly uploads?: { readonly bytesMax: number; readonly countMax: number };
    }
  | {
      readonly type: "taken";
      readonly id: string;
      readonly n: number;
      readonly at: number;
      readonly text: string;
      /** It came through another channel: which, who said it there, and its id there. */
      readonly via?: string;
      readonly by?: string;
      readonly message?: string;
      readonly attachments?: readonly AttachedFile[];
    }
  | {
      readonly type: "decided";
      readonly id: string;
      readonly decision: Decision;
      readonly rule: Rule;
    }
  | {
      readonly type: "said";
      readonly n: number;
      readonly id: string;
      readonly text: string;
      readonly replyTo: string | null;
      readonly at: number;
      readonly turnId: string;
      /** It went to another channel. */
      readonly via?: string;
      readonly attachments?: readonly AttachedFile[];
      readonly choices?: Choices;
    }
  | {
      readonly type: "attached";
      readonly id: string;
      readonly attachments: readonly AttachedFile[];
    }
  | { readonly type: "delta"; readonly turnId: string; readonly text: string }
  | { readonly type: "typing"; readonly on: boolean }
  | {
      readonly type: "ack";
      readonly message: string;
      readonly emoji: string;
      readonly on: boolean;
    }
  | {
      readonly type: "turn";
      readonly turnId: string;
      readonly state: "start" | "end";
      readonly outcome?: string;
      /** Of a failed turn: its kind, and what the agent's driver says. */
      readonly cause?: string;
      /** Of a start: the session key, by which the turn can be stopped. */
      readonly key?: string;
    }
  | {
      /** A turn was cut off; `text`: what it had said and nobody got. */
      readonly type: "cut";
      readonly n: number;
      readonly at: number;
      readonly turnId: string;
      readonly outcome: string;
      readonly text: string;
    }
  | {
      readonly type: "session";
      readonly n: number;
      readonly at: number;
      readonly why: string;
      readonly by?: string;
    }
  | {
      readonly type: "error";
      readonly code: string;
      readonly message: string;
      /** The message that was not taken, and whether it never will be as it is. */
      readonly id?: string;
      readonly final?: boolean;
    };

type Kind = "string" | "number" | "boolean" | "object";
/** The fields each frame must have; the rest may be there or not. */
const forms: { readonly [Type in ServerFrame["type"]]: Readonly<Record<string, Kind>> } = {
  ready: { agent: "object", n: "number" },
  taken: { id: "string", n: "number", at: "number", text: "string" },
  decided: { id: "string", decision: "string", rule: "string" },
  said: { n: "number", id: "string", text: "string", at: "number", turnId: "string" },
  attached: { id: "string", attachments: "object" },
  delta: { turnId: "string", text: "string" },
  typing: { on: "boolean" },
  ack: { message: "string", emoji: "string", on: "boolean" },
  turn: { turnId: "string", state: "string" },
  cut: { n: "number", at: "number", turnId: "string", outcome: "string", text: "string" },
  session: { n: "number", at: "number", why: "string" },
  error: { code: "string", message: "string" },
};

/** Reads one frame; null for anything that is not a frame known here. */
export function parseFrame(data: string): ServerFrame | null {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Record<string, unknown>;
  const type = fields.type;
  if (typeof type !== "string" || !Object.hasOwn(forms, type)) return null;
  const form = forms[type as ServerFrame["type"]];
  for (const [field, kind] of Object.entries(form)) {
    const found = fields[field];
    if (found === null || typeof found !== kind) return null;
  }
  return value as ServerFrame;
}
