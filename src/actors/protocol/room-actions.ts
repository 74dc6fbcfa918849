/** What an operator does to a room from outside of it, and what becomes of it. */
import type { Activation } from "../../domain/decision.ts";

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
