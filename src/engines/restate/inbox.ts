/**
 * The inbox of a node
 * ===================
 * Carries events to their conversations through Restate's ingress. An invocation costs milliseconds, so one is
 * under way for a conversation at a time, and what comes in meanwhile goes together with the next. Order is
 * kept for each conversation; conversations do not wait for each other.
 */

import { EarshotError } from "../../domain/errors.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import { answerOf, ingressCaller } from "./calls/ingress-call.ts";
import { inboxService, type OfferedEvent, putAnswerSchema } from "./wire.ts";

export interface Inbox {
  /**
   * Resolves once the event is durable, to whether it is new.
   * @throws EarshotError EAR_STORE_FAILED: Restate cannot be reached or does not answer in time, and it is not
   * known whether the event was stored. It may be offered again: it is recognised.
   * @throws EarshotError EAR_INGRESS_FULL: too many wait for this conversation.
   */
  offer(key: string, event: OfferedEvent): Promise<boolean>;
}

interface Waiting {
  readonly event: OfferedEvent;
  readonly resolve: (isNew: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * @param ingress base URL of Restate's ingress
 * @param callMsMax how long a call may take, ms; Restate makes it all the same
 */
export function createInbox(ingress: string, callMsMax: number = engineLimits.callMsMax): Inbox {
  /** What waits for each conversation that has a call under way. */
  const queues = new Map<string, Waiting[]>();

  const call = ingressCaller(ingress, callMsMax);

  async function put(key: string, batch: readonly Waiting[]): Promise<readonly boolean[]> {
    const path = `${inboxService}/${encodeURIComponent(key)}/put`;
    const events = batch.map(({ event }) => event);
    const results = answerOf(putAnswerSchema, await call(path, { events }), path);
    if (results.length === batch.length) return results;
    throw new EarshotError(
      "EAR_STORE_FAILED",
      `Cannot take events for ${key}: ${batch.length} were sent and ${results.length} answered.`,
    );
  }

  async function carry(key: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, engineLimits.batchEventsMax);
      try {
        const results = await put(key, batch);
        for (const [place, { resolve }] of batch.entries()) resolve(results[place] === true);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    queues.delete(key);
  }

  return {
    offer: (key, event) =>
      new Promise((resolve, reject) => {
        const waiting = { event, resolve, reject };
        const queue = queues.get(key);
        if (queue === undefined) {
          const begun = [waiting];
          queues.set(key, begun);
          // It reports every error to those who wait.
          void carry(key, begun);
        } else if (queue.length < engineLimits.inboxEventsMax) queue.push(waiting);
        else
          reject(
            new EarshotError(
              "EAR_INGRESS_FULL",
              `Cannot take an event for ${key}: ${queue.length} wait for Restate. Send it again later.`,
            ),
          );
      }),
  };
}
