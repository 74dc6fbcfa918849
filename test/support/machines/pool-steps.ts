/**
 * What the pool makes of a conversation's events, as the reference for other engines: verdicts, effects and
 * the record from the core of its hosts, and the rows that are planned from them.
 */
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import {
  type ConversationFactory,
  createHostCore,
} from "../../../src/actors/host/conversation-host.ts";
import type { NumberedEvent } from "../../../src/actors/host/step-batch.ts";
import { numbered } from "../../../src/actors/protocol/event-codec.ts";
import {
  type Activation,
  type HostStep,
  notLiveCode,
} from "../../../src/actors/protocol/host-protocol.ts";
import { hash52 } from "../../../src/domain/key.ts";
import type { ConversationSettings } from "../../../src/domain/settings.ts";
import type { JournalEvent } from "../../../src/machines/events/events.ts";
import { configOf } from "../runtime/supervised.ts";

export interface Outcome {
  /** Parsed: a record that was restored on the way may have its fields in another order. */
  readonly record: unknown;
  readonly codes: readonly number[];
  readonly steps: readonly HostStep[];
  /** Numbers of the events that failed. */
  readonly rejected: readonly number[];
}

export const parsedRecord = (record: string | null): unknown =>
  record === null ? null : JSON.parse(record);

/** Events with the numbers that a new conversation gives them. */
export const numberedFrom = (events: readonly JournalEvent[]): NumberedEvent[] =>
  events.map((event, index) => ({ seq: index + 1, cfg: 1, event: numbered(event, index + 1) }));

/** The core of the pool's hosts, asked again with record and tail where it has dropped the actor. */
export function inPool(
  key: string,
  events: readonly NumberedEvent[],
  settings: ConversationSettings,
  create: ConversationFactory = createConversation,
): Outcome {
  const host = createHostCore({
    create,
    settingsFor: () => settings,
    live: 1,
    checkpointEvery: 1,
  });
  const configs = [{ version: 1, config: configOf() }];
  const codes: number[] = [];
  const steps: HostStep[] = [];
  const rejected: number[] = [];
  let record: string | null = null;
  let recordSeq = 0;
  for (const [id, one] of events.entries()) {
    const entry = { conv: hash52(key), key, ...one };
    const apply = (activation?: Activation) =>
      host.apply({
        id,
        epoch: 1,
        configs,
        forget: [],
        entries: [activation === undefined ? entry : { ...entry, activation }],
      });
    let result = apply();
    if (result.codes[0] === notLiveCode) result = apply({ record, recordSeq, tail: [] });
    codes.push(...result.codes);
    steps.push(...result.steps);
    rejected.push(...result.rejected.map(({ seq }) => seq));
    const [checkpoint] = result.checkpoints;
    if (checkpoint !== undefined) ({ record, recordSeq } = checkpoint);
  }
  host.stop();
  return { record: parsedRecord(record), codes, steps, rejected };
}
