/**
 * What an operator does to a room from outside of it, and what becomes of it. Where the conversation is active
 * somewhere else it is an order, which has an id: it is carried out once, and the same order again gets the same answer.
 */
import type { Activation, Expected } from "../../domain/decision.ts";
import { EarshotError, isErrorCode } from "../../domain/errors.ts";
import type { SessionPatch } from "../../domain/session.ts";
import type { Speech } from "./speech.ts";

/** Who acts, as the journal names them: the person with the token of the daemon. */
export const operatorName = "operator";

export type RoomAction =
  | { readonly does: "stop" }
  | { readonly does: "disengage" }
  /** A new session. */
  | { readonly does: "new" }
  /** The agent says this text. `id` is the caller's: the same one is said once. */
  | { readonly does: "say"; readonly text: string; readonly id?: string }
  /** Null: as configured. */
  | { readonly does: "activation"; readonly level: Activation | null };

export interface RoomOrder {
  readonly key: string;
  readonly by: string;
  readonly action: RoomAction;
}

/** Why nothing was done. `no-place`: nobody has written there, so there is no chat to write to. */
export type RoomRefusal = "unknown" | "no-turn" | "no-session" | "no-place" | "conflict";

export type RoomActed =
  | { readonly refused: RoomRefusal }
  /** `messages`: outbox ids of what is said. */
  | { readonly refused: null; readonly messages: readonly string[] };

/** Commands of an operator on one conversation. */
export interface RoomOperator {
  abortTurn(key: string, by: string): Promise<boolean>;
  disengage(key: string, by?: string): Promise<void>;
  /**
   * Carries out an action; resolves when it is durable.
   * @throws EarshotError EAR_USAGE: the account of the room, or its agent, is not configured.
   *
   * EAR_STORE_FAILED
   *
   * EAR_STORE_FULL: nothing was stored.
   */
  act(order: RoomOrder): Promise<RoomActed>;
}

export type OrderedAction =
  | { readonly does: "act"; readonly action: RoomAction; readonly by: string }
  | { readonly does: "abort-turn"; readonly by: string }
  | { readonly does: "disengage"; readonly by?: string }
  /** `id`: platform id of the message; the rest as `LabelOrder`. */
  | {
      readonly does: "label";
      readonly id: string;
      readonly seq?: number;
      readonly expected: Expected | null;
      readonly by: string;
    }
  /** `speech.place` has its kind of chat, and `speech.id` is there. */
  | { readonly does: "say"; readonly speech: Speech & { readonly id: string } }
  /** `part`: id of a row of the outbox. */
  | { readonly does: "resend" | "drop"; readonly part: string }
  | { readonly does: "retry-event" | "drop-event"; readonly seq: number }
  | { readonly does: "update-session"; readonly patch: SessionPatch; readonly by?: string }
  /** `sessionId`: that of the session which begins. */
  | {
      readonly does: "reset-session";
      readonly sessionId: string;
      readonly wait: boolean;
      readonly by?: string;
    }
  | { readonly does: "compact-session" };

export interface ConversationOrder {
  readonly id: string;
  /** Session key of the conversation. */
  readonly key: string;
  readonly action: OrderedAction;
}

/** What became of an order, as it is stored. */
export type OrderOutcome =
  /** What the function of the runtime answers. */
  | { readonly answer: unknown }
  /** What it throws. */
  | { readonly refused: { readonly code: string; readonly message: string } };

/** What the caller gets. @throws EarshotError what the function of the runtime threw. */
export function resultOf(outcome: OrderOutcome): unknown {
  if ("answer" in outcome) return outcome.answer;
  const { code, message } = outcome.refused;
  // Another version may have codes that this one does not.
  throw new EarshotError(isErrorCode(code) ? code : "EAR_HOST_LOST", message);
}
