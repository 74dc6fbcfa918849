/**
 * Rows in the journal of a daemon that does not run
 * =================================================
 * As another version may have left them: an event that was set aside although it can be applied by
 * now, or one that breaks its conversation as soon as it is applied.
 */
import { join } from "node:path";
import { conversationOf } from "../../../src/actors/protocol/event-codec.ts";
import { quarantinedCode } from "../../../src/actors/protocol/host-protocol.ts";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { type InboundInput, inboundSchema } from "../../../src/domain/message.ts";

const at = 1_700_000_000_000;

async function leave(stateDir: string, key: string, event: unknown, code?: number): Promise<void> {
  const store = await openSqliteStore({ path: join(stateDir, "earshot.db") });
  const cfg = (await store.latestConfig())?.version ?? 1;
  const name = conversationOf(key);
  const identity = `left|${await store.lastSeq()}`;
  const [seq] = await store.commit([
    {
      kind: "event",
      at: 0,
      eid: await store.lastSeq(),
      identity,
      ...name,
      cfg,
      body: JSON.stringify(event),
      messageId: null,
      ...(code === undefined ? {} : { code }),
    },
  ]);
  const one = { ...name, seq, at, error: "the step threw", tries: 0 };
  if (code !== undefined)
    await store.commit([{ kind: "meta", name: "quarantine", value: JSON.stringify([one]) }]);
  await store.close();
}

/** A message to the agent that is in quarantine and would be heard today. */
export function leaveFixed(stateDir: string, key: string, message: InboundInput): Promise<void> {
  const event = {
    type: "message.received",
    at,
    seq: 0,
    message: inboundSchema.parse(message),
    authority: { commandAuthorized: true, owner: false },
    membership: null,
  };
  return leave(stateDir, key, event, quarantinedCode);
}

/** An event that its conversation has not had yet, and that holds nothing it could apply. */
export function leavePoison(stateDir: string, key: string): Promise<void> {
  return leave(stateDir, key, { type: "message.received", at, seq: 0 });
}
