/**
 * Activation
 * ==========
 * A conversation as the store has it, for the host that is about to bring it to life: its record
 * and the events since, as text: the host that steps them reads them, because the thread that asks
 * here is the one that everybody waits for. Asked for only when a conversation is not live.
 */
import { EarshotError } from "../../domain/errors.ts";
import type { Store } from "../../domain/ports/index.ts";
import { type Activation, quarantinedCode } from "../protocol/host-protocol.ts";
import type { Configs } from "./config-versions.ts";

const nothing: Activation = { record: null, recordSeq: 0, tail: [] };

/**
 * Reads record and tail before `beforeSeq`. With `rebuild` the record is left out. Events up to
 * `markedUpTo` are applied although the store may not know it yet.
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
      `Cannot open conversation ${conv} as it belongs to another session key: received ${key}`,
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
