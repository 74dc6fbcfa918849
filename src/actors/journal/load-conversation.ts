/**
 * A conversation from the store, for the host that is about to load it: its record and the events
 * since, as text. The host parses them, because this thread serves everybody. Called only when no
 * host has the conversation in memory.
 */
import { EarshotError } from "../../domain/errors.ts";
import type { Store } from "../../domain/ports/index.ts";
import { type Activation, quarantinedCode } from "../protocol/host-protocol.ts";
import type { Configs } from "./config-versions.ts";

const nothing: Activation = { record: null, recordSeq: 0, tail: [] };

/**
 * Reads the record and the events after it before `beforeSeq`. `rebuild` ignores the record. Events
 * up to `markedUpTo` count as applied although the store may not know it yet.
 * @throws EarshotError EAR_RECORD_INVALID when the number belongs to another session key.
 */
export async function loadActivation(
  store: Store,
  configs: Configs,
  {
    conv,
    key,
    beforeSeq,
    rebuild,
    markedUpTo,
  }: {
    conv: number;
    key: string;
    beforeSeq: number;
    rebuild: boolean;
    markedUpTo: number;
  },
): Promise<Activation> {
  const row = await store.conversation(conv);
  if (row === null) return nothing;
  if (row.key !== key) {
    throw new EarshotError(
      "EAR_RECORD_INVALID",
      `Cannot open conversation ${conv}: it belongs to another session key (${key}).`,
    );
  }
  const recordSeq = rebuild ? 0 : row.recordSeq;
  const rows = (await store.tail(conv, recordSeq, beforeSeq)).filter(
    ({ seq, code }) => seq < beforeSeq && code !== quarantinedCode,
  );
  if (rows.length > 0) await configs.load(rows.map(({ cfg }) => cfg));
  return {
    record: rebuild ? null : row.record,
    recordSeq,
    tail: rows.map(({ seq, cfg, body, code }) => ({
      seq,
      cfg,
      body,
      applied: code !== null || seq <= markedUpTo,
    })),
  };
}
