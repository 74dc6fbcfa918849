/**
 * Orders on their way to their conversation
 * =========================================
 * An order goes into the inbox of its conversation, wherever that is active or at rest; the node that has it carries
 * it out. Restate is asked until it has the outcome. A call that got no answer is made again with the same id.
 */
import { type OrderedAction, resultOf } from "../../actors/protocol/room-actions.ts";
import { EarshotError } from "../../domain/errors.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Clock, Ids } from "../../domain/ports/index.ts";
import { pauseFor } from "../../domain/ports/pause.ts";
import { answerOf, type IngressCall } from "./calls/ingress-call.ts";
import {
  conversationService,
  inboxService,
  orderAnswerSchema,
  outcomeAnswerSchema,
} from "./wire.ts";

export interface Orders {
  /**
   * Resolves to what became of it; "unknown" where it is for a conversation that there is, and there is none.
   * @param id of the same order, where it is given again
   * @throws EarshotError what the conversation's node throws. EAR_STORE_FAILED: Restate cannot be reached.
   * EAR_HOST_LOST: it is taken, and not carried out yet.
   */
  give(key: string, action: OrderedAction, known: boolean, id?: string): Promise<Ordered>;
}

export type Ordered = "unknown" | { readonly answer: unknown };

export interface OrderPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly call: IngressCall;
  /** How long to wait for an outcome, ms. @default engineLimits.orderMsMax */
  readonly waitMs?: number;
}

/** A call that got no answer is made so often. */
const triesMax = 3;

export function createOrders({
  clock,
  ids,
  call,
  waitMs = engineLimits.orderMsMax,
}: OrderPorts): Orders {
  const pause = (ms: number) => pauseFor(clock, ms, new AbortController().signal);

  async function again(path: string, input: object): Promise<unknown> {
    for (let tries = 1; ; tries += 1)
      try {
        return await call(path, input);
      } catch (error) {
        if (tries >= triesMax) throw error;
        await pause(engineLimits.orderLookMsMax);
      }
  }

  return {
    async give(key, action, known, id = ids.next()) {
      const name = encodeURIComponent(key);
      const path = `${inboxService}/${name}/order`;
      const given = await again(path, { id, action, known });
      if (answerOf(orderAnswerSchema, given, path) === "unknown") return "unknown";
      const asked = `${conversationService}/${name}/outcome`;
      const until = clock.monotonic() + waitMs;
      for (let ms: number = engineLimits.decisionLookMs; ; ) {
        await pause(ms);
        const outcome = answerOf(outcomeAnswerSchema, await again(asked, { id }), asked);
        if (outcome !== null) return { answer: resultOf(outcome) };
        if (clock.monotonic() >= until) throw notYet(key);
        ms = Math.min(ms * 1.5, engineLimits.orderLookMsMax);
      }
    },
  };
}

const notYet = (key: string) =>
  new EarshotError(
    "EAR_HOST_LOST",
    `Cannot say yet what became of the order for ${key}: no node has carried it out. It is carried out as soon as one ` +
      "has the conversation.",
  );
