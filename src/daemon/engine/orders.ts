/**
 * What an operator does to conversations that are active on any node
 * ==================================================================
 * The same functions as a runtime that steps its own conversations has: here each is an order to its conversation.
 */

import type { OrderedAction, RoomActed } from "../../actors/protocol/room-actions.ts";
import type { RetryOutcome, Runtime } from "../../actors/protocol/runtime.ts";
import type { SpeechTaken } from "../../actors/protocol/speech.ts";
import type { Label } from "../../actors/protocol/why.ts";
import { parseSessionKey } from "../../domain/key.ts";
import type { Ids, Store } from "../../domain/ports/index.ts";
import type { Session } from "../../domain/session.ts";
import type { Orders } from "../../engines/restate/orders.ts";

type Operated = Pick<
  Runtime,
  | "abortTurn"
  | "disengage"
  | "act"
  | "label"
  | "resend"
  | "drop"
  | "retryEvent"
  | "dropEvent"
  | "updateSession"
  | "resetSession"
  | "compactSession"
>;

export interface OperatedPorts {
  readonly orders: Orders;
  readonly ids: Ids;
  /** What this node knows of the conversations of all. */
  readonly store: Pick<Store, "outboxRow" | "events" | "conversation">;
}

/** Says something in a conversation, wherever it is. */
export const sayer =
  (orders: Orders) =>
  async (key: string, speech: Extract<OrderedAction, { does: "say" }>["speech"]) => {
    const given = await orders.give(key, { does: "say", speech }, false);
    return (given as { readonly answer: SpeechTaken | "conflict" }).answer;
  };

export function createOperated({ orders, ids, store }: OperatedPorts): Operated {
  /** `unknown`: the answer where there is no such conversation. */
  async function order<Answer>(
    key: string,
    action: OrderedAction,
    unknown: Answer,
  ): Promise<Answer> {
    const given = await orders.give(key, action, true);
    return given === "unknown" ? unknown : (given.answer as Answer);
  }

  async function withPart(does: "resend" | "drop", part: string): Promise<boolean> {
    const row = await store.outboxRow(part);
    return row === null ? false : order(row.key, { does, part }, false);
  }

  /** The conversation of a row of the journal. */
  async function keyOf(seq: number): Promise<string | null> {
    const [row] = await store.events([seq]);
    return row === undefined ? null : ((await store.conversation(row.conv))?.key ?? null);
  }

  return {
    abortTurn: (key, by) => order(key, { does: "abort-turn", by }, false),
    async disengage(key, by) {
      await order(key, { does: "disengage", ...named(by) }, null);
    },
    act: ({ key, action, by }) =>
      order<RoomActed>(key, { does: "act", action, by }, { refused: "unknown" }),
    label: ({ key, ...label }) =>
      order<Label | null | "unknown">(key, { does: "label", ...label }, "unknown"),
    resend: (part) => withPart("resend", part),
    drop: (part) => withPart("drop", part),
    async retryEvent(seq, given) {
      const key = given ?? (await keyOf(seq));
      if (key === null) return "unknown";
      return order<RetryOutcome>(key, { does: "retry-event", seq }, "unknown");
    },
    async dropEvent(seq, given) {
      const key = given ?? (await keyOf(seq));
      return key === null ? false : order(key, { does: "drop-event", seq }, false);
    },
    async updateSession(key, patch, by) {
      parseSessionKey(key);
      // A session may begin before anybody has spoken.
      const action = { does: "update-session", patch, ...named(by) } as const;
      const given = await orders.give(key, action, false);
      return (given as { readonly answer: Session }).answer;
    },
    resetSession(key, { wait = true, by, sessionId = ids.next() } = {}) {
      parseSessionKey(key);
      const action = { does: "reset-session", sessionId, wait, ...named(by) } as const;
      return order<Session | null>(key, action, null);
    },
    compactSession: (key) =>
      order<"done" | "busy" | "empty">(key, { does: "compact-session" }, "empty"),
  };
}

const named = (by: string | undefined) => (by === undefined ? {} : { by });
