/**
 * A conversation is given to Restate
 * ==================================
 * Sends the rows of a conversation that was kept elsewhere to its object, and reads them back: it is there when both
 * have the same hash. An attempt that was cut short begins from the beginning; a conversation that is there already
 * is left as it is.
 */

import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Digest, KeptRow } from "../../domain/ports/index.ts";
import { batchesOf } from "./calls/batches.ts";
import { answerOf, ingressCaller, RefusedCall } from "./calls/ingress-call.ts";
import type { Filled } from "./shared/filling.ts";
import { conversationService, type Fill, fillingSchema, rowsSchema } from "./wire.ts";

export interface FillPorts {
  /** Base URL of Restate's ingress. */
  readonly ingress: string;
  readonly digest: Digest;
  /** @default engineLimits.callMsMax */
  readonly callMsMax?: Millis;
  /** Of the rows in one call, as JSON; a longer row goes alone. @default engineLimits.fillUnitsMax */
  readonly unitsMax?: number;
}

/** Status of an answer: the conversation has rows of its own. */
const otherRows = 409;

/**
 * @param dueAt when it must be active, ms since the epoch; null: when somebody speaks
 * @throws EarshotError EAR_STORE_FAILED: Restate cannot be reached, does not know the object, or has stored
 * something else. The call may be made again.
 */
export async function fillConversation(
  { ingress, digest, callMsMax, unitsMax = engineLimits.fillUnitsMax }: FillPorts,
  key: string,
  rows: readonly KeptRow[],
  dueAt: Millis | null,
): Promise<Filled> {
  const ask = ingressCaller(ingress, callMsMax);
  const path = `${conversationService}/${encodeURIComponent(key)}`;
  const call = (handler: string, input?: object) => ask(`${path}/${handler}`, input);
  const stored = async () => answerOf(rowsSchema, await call("rows"), path);
  const wanted = hashOfRows(digest, rows);
  const there = await stored();
  if (there.length > 0) {
    if (hashOfRows(digest, there) === wanted) return "same";
    if (!answerOf(fillingSchema, await call("filling"), path)) return "other";
  }
  const batches = batchesOf(rows, unitsIn, unitsMax);
  for (const [place, batch] of batches.entries()) {
    const whole = place === batches.length - 1;
    const part: Fill = { place, rows: [...batch] as Fill["rows"], whole, dueAt };
    try {
      await call("fill", part);
    } catch (error) {
      if (error instanceof RefusedCall && error.status === otherRows) return "other";
      throw error;
    }
  }
  if (hashOfRows(digest, await stored()) === wanted) return "filled";
  throw new EarshotError(
    "EAR_STORE_FAILED",
    `Cannot give ${key} to Restate: what it has stored is not what was sent.`,
  );
}

/**
 * The hash of a conversation's rows. The order of fields and of rows does not matter, but in the outbox,
 * where rows are sent in their order.
 */
export function hashOfRows(digest: Digest, rows: readonly KeptRow[]): string {
  const texts = new Map<string, string[]>();
  for (const { table, id, row } of rows) {
    const fields = Object.entries(row ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    const text = JSON.stringify([table, id, fields]);
    const others = texts.get(table);
    if (others === undefined) texts.set(table, [text]);
    else others.push(text);
  }
  for (const [table, of] of texts) if (table !== "outbox") of.sort();
  const tables = [...texts].sort(([a], [b]) => (a < b ? -1 : 1));
  return digest(JSON.stringify(tables));
}

const unitsIn = (row: KeptRow): number => JSON.stringify(row).length;
