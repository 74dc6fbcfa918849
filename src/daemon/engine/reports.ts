/**
 * What other nodes have done, as the pages hear of it
 * ===================================================
 * The runtimes of this node report what they do. Of conversations that are active elsewhere the copy gets new rows,
 * from which the same is reported to what is shown: lists, pages, search. Nothing of it is counted or logged here.
 */
import { decodeEvent } from "../../actors/protocol/event-codec.ts";
import type { RuntimeEvents } from "../../actors/protocol/runtime-events.ts";
import { decodeVerdict } from "../../domain/decision.ts";
import { hash52 } from "../../domain/key.ts";
import type { EventRow, Log, Store } from "../../domain/ports/index.ts";

export interface ReportPorts {
  readonly log: Log;
  readonly store: Pick<Store, "conversation" | "events">;
  /** Of what is shown. */
  readonly events: Pick<RuntimeEvents, "emit">;
}

/** Reports that the copy has other rows of these conversations, with events that are applied now. */
export type ReportRows = (keys: readonly string[], fresh: readonly number[]) => void;

export function createReports({ log, store, events }: ReportPorts): ReportRows {
  const { emit } = events;
  /** One after the other, as the rows came. */
  let last: Promise<void> = Promise.resolve();

  function reportEvent(row: EventRow, key: string): void {
    const event = decodeEvent(row);
    const verdict = row.code !== null && row.code > 0 ? decodeVerdict(row.code) : null;
    if (event.type === "message.received" && verdict !== null)
      emit.decided?.(row.conv, key, event, verdict);
    else if (event.type === "message.edited") emit.edited?.(row.conv, event.edit, event.edit.text);
    else if (event.type === "message.deleted") emit.edited?.(row.conv, event.deletion, null);
  }

  async function report(keys: readonly string[], fresh: readonly number[]): Promise<void> {
    const names = new Map(keys.map((key) => [hash52(key), key]));
    for (const row of await store.events(fresh)) {
      const key = names.get(row.conv);
      if (key === undefined) continue;
      try {
        reportEvent(row, key);
      } catch (error) {
        log("debug", "mirror.unreadable", { seq: row.seq, error: String(error) });
      }
    }
    for (const conv of names.keys()) {
      emit.applied?.(conv);
      emit.changed?.(conv);
    }
  }

  return (keys, fresh) => {
    last = last
      .then(() => report(keys, fresh))
      .catch((error: unknown) => log("warn", "mirror.unreported", { error: String(error) }));
  };
}
