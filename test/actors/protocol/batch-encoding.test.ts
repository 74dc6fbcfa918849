/**
 * A worker unpacks what the main thread packed, for any text and any numbers.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { packBatch, unpackBatch } from "../../../src/actors/protocol/batch-encoding.ts";
import {
  conversationOf,
  decodeEvent,
  entryOf,
  newEvent,
} from "../../../src/actors/protocol/event-codec.ts";
import type { Activation, HostBatch } from "../../../src/actors/protocol/host-protocol.ts";
import { anyCharacter, property } from "../../support/property.ts";
import { groupKey, message } from "../../support/runtime/supervised.ts";

const lines = fc.array(
  fc.record({
    room: fc.stringMatching(/^[a-z]{1,4}$/),
    seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    text: fc.string({ unit: anyCharacter, maxLength: 40 }),
    live: fc.boolean(),
    atHand: fc.boolean(),
  }),
  { maxLength: 8 },
);

function batchOf(rows: Parameters<typeof lineOf>[0][]): HostBatch {
  return { id: 3, epoch: 2, configs: [], forget: [9], entries: rows.map(lineOf), passivate: true };
}

function lineOf(row: { room: string; seq: number; text: string; live: boolean; atHand: boolean }) {
  const event = message(row.room, "1", row.text);
  const name = conversationOf(groupKey(row.room));
  const made = newEvent(name, 1, event, { identity: "m1" });
  const { body, ...entry } = entryOf(made, row.seq);
  const activation: Activation = { record: "r", recordSeq: 1, tail: [] };
  return {
    ...entry,
    ...(row.atHand && body !== undefined ? { body } : {}),
    ...(row.live ? {} : { activation }),
  };
}

property([lines])("a batch crosses whole, and its events are those of the journal", (rows) => {
  const batch = batchOf(rows);
  const crossed = unpackBatch(structuredClone(packBatch(batch)));
  const { entries, ...rest } = crossed;
  const { entries: sent, ...restSent } = batch;
  expect(rest).toEqual(restSent);
  expect(entries).toHaveLength(sent.length);
  for (const [index, entry] of entries.entries()) {
    const { body: _, ...known } = sent[index] as (typeof sent)[number];
    const row = { seq: known.seq, body: JSON.stringify(known.event) };
    expect(entry).toEqual({ ...known, event: decodeEvent(row) });
  }
});
