/** Who may speak and how far accounts have read, shared by all nodes. */
import { EarshotError } from "../../../domain/errors.ts";
import type { AccessRow, AccessWrite, CursorWrite } from "../../../domain/ports/index.ts";
import { answerOf } from "../calls/ingress-call.ts";
import { createSharedTable, type SharedPorts } from "./table.ts";
import { accessService, cursorService, cursorsSchema, type SharedRow } from "./wire.ts";

export interface SharedRowsPorts extends SharedPorts {
  /** Another node has changed these rows. */
  readonly onChanged: (rows: readonly SharedRow[]) => void;
}

export interface SharedRows {
  /** All rows, as they are. Those of `own` are given to all nodes when there are none yet. */
  load(own: readonly AccessRow[]): Promise<readonly AccessRow[]>;
  /** Begins to look for changes. */
  start(): void;
  /**
   * Stores these; resolves when they are durable.
   * @throws EarshotError EAR_STORE_FAILED: Restate cannot be reached, or another node was faster; nothing was
   * stored, and the same may be tried again on what `onChanged` has given.
   */
  store(writes: readonly (AccessWrite | CursorWrite)[]): Promise<void>;
  /** How far an account has read. */
  cursor(channel: string, account: string, identity: string): Promise<string | null>;
  stop(): void;
}

export function createSharedRows(ports: SharedRowsPorts): SharedRows {
  const { call } = ports;
  const table = createSharedTable({ ...ports, service: accessService });

  async function change(rows: readonly SharedRow[]): Promise<void> {
    if (await table.change(rows)) return;
    throw new EarshotError(
      "EAR_STORE_FAILED",
      "Cannot change who may speak: another node has just changed the same. Try it again.",
    );
  }

  return {
    load: table.load,
    start: table.start,
    async store(writes) {
      const rows = writes.flatMap((write) =>
        write.kind === "access" ? { name: write.name, body: write.body } : [],
      );
      const cursors = writes.flatMap((write) => (write.kind === "cursor" ? write : []));
      if (rows.length > 0) await change(rows);
      for (const { channel, account, identity, value } of cursors)
        await call(`${cursorService}/${accountKey(channel, account)}/set`, { identity, value });
    },
    async cursor(channel, account, identity) {
      const path = `${cursorService}/${accountKey(channel, account)}/all`;
      return answerOf(cursorsSchema, await call(path), path)[identity] ?? null;
    },
    stop: table.stop,
  };
}

/** The key of an account, as a path has it. */
export const accountKey = (channel: string, account: string) =>
  encodeURIComponent(`${channel}:${account}`);
