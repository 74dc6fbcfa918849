/**
 * What accounts could not recover, on a node
 * ==========================================
 * Rows that all nodes share, one for each report. What this node reports, and what a person has seen here, is stored
 * again and again until it is: nobody waits for it.
 */
import { z } from "zod";
import type { SharedGap, SharedGaps } from "../../../actors/channels/gaps.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { within } from "../../../domain/ports/within.ts";
import { createSharedTable, type SharedPorts } from "./table.ts";
import { gapService, type SharedRow } from "./wire.ts";

export interface NodeGaps extends SharedGaps {
  /** Reads what there is, and begins to look for changes. */
  start(): void;
  /** Resolves when what was reported here is stored, or cannot be in a moment. */
  stop(): Promise<void>;
}

const bodySchema = z.object({
  channel: z.string(),
  account: z.string(),
  at: z.number(),
  from: z.number(),
  to: z.number(),
  rooms: z.array(z.string()),
  lost: z.enum(["messages", "edits"]),
});

export function createNodeGaps(ports: SharedPorts): NodeGaps {
  const { clock, log } = ports;
  /** The newest of what is not stored yet, by id. Null: removed. */
  const unstored = new Map<string, string | null>();
  const stop = new AbortController();
  let listener: Parameters<SharedGaps["follow"]>[0] = () => undefined;
  let storing: Promise<void> | null = null;
  let isFailing = false;
  const table = createSharedTable({
    ...ports,
    service: gapService,
    lookMs: engineLimits.gapLookMs,
    onChanged: learn,
  });

  function learn(rows: readonly SharedRow[]): void {
    // What is about to be stored here is newer.
    for (const { name, body } of rows.filter((row) => !unstored.has(row.name)))
      if (body === null) listener(name, null);
      else read(name, body);
  }

  function read(id: string, body: string): void {
    try {
      listener(id, { ...bodySchema.parse(JSON.parse(body)), id });
    } catch (error) {
      log("warn", "shared.unreadable", { object: gapService, id, error: String(error) });
    }
  }

  async function storeAll(): Promise<void> {
    for (let [row] = unstored; row !== undefined; [row] = unstored) {
      const [name, body] = row;
      // False: another node has changed the same, and this one knows that now. Then it is stored on top of it.
      const isStored = await storedNow(name, body);
      if (isStored && unstored.get(name) === body) unstored.delete(name);
      if (!isStored && stop.signal.aborted) return;
    }
  }

  async function storedNow(name: string, body: string | null): Promise<boolean> {
    try {
      const isStored = await table.change([{ name, body }]);
      isFailing = false;
      return isStored;
    } catch (error) {
      if (!isFailing) log("warn", "shared.unstored", { object: gapService, error: String(error) });
      isFailing = true;
      await pauseFor(clock, engineLimits.gapAgainMs, stop.signal);
      return false;
    }
  }

  function store(id: string, body: string | null): void {
    unstored.set(id, body);
    storing ??= storeAll().finally(() => {
      storing = null;
    });
  }

  return {
    keep: ({ id, ...gap }: SharedGap) => store(id, JSON.stringify(gap)),
    forget: (id) => store(id, null),
    follow(one) {
      listener = one;
    },
    start() {
      // The look that follows reports it, if that fails.
      void table.refresh().catch(() => undefined);
      table.start();
    },
    async stop() {
      table.stop();
      if (storing !== null) await within(clock, engineLimits.gapAgainMs, storing);
      stop.abort();
    },
  };
}
