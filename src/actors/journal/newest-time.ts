/**
 * The newest time in a journal
 * ============================
 * What is stored is due by the clock of the process that stored it. A start must not be earlier, or
 * what is due waits for as long again.
 */
import type { Millis } from "../../domain/message.ts";
import type { Store } from "../../domain/ports/index.ts";

/** Events of one moment may be stored in another order than they were made. */
const rowsRead = 100;

/** The latest time of the newest events; 0 in an empty journal. Unreadable rows have none. */
export async function newestTime(
  store: Pick<Store, "lastSeq" | "numberBefore" | "scan">,
): Promise<Millis> {
  const lastSeq = await store.lastSeq();
  const rows = await store.scan(await store.numberBefore(lastSeq, rowsRead), rowsRead);
  return Math.max(0, ...rows.map(({ body }) => timeOf(body)));
}

function timeOf(body: string): Millis {
  try {
    const { at } = (JSON.parse(body) ?? {}) as { at?: unknown };
    return typeof at === "number" ? at : 0;
  } catch {
    // Recovery quarantines it, and says so.
    return 0;
  }
}
