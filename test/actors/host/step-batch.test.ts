/**
 * A batch stepped from its record gives what the hosts of the pool give, however the events are cut into
 * batches, and whichever of them are poison.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import type { ConversationFactory } from "../../../src/actors/host/conversation-host.ts";
import { type NumberedEvent, stepBatch } from "../../../src/actors/host/step-batch.ts";
import { type HostStep, quarantinedCode } from "../../../src/actors/protocol/host-protocol.ts";
import type { ConversationSettings } from "../../../src/domain/settings.ts";
import {
  inPool,
  numberedFrom,
  type Outcome,
  parsedRecord,
} from "../../support/machines/pool-steps.ts";
import { storyOf } from "../../support/machines/random-story.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { settingsWith } from "../../support/runtime/conversation-rig.ts";
import { message } from "../../support/runtime/supervised.ts";

const key = "agent:main:story";

/** Conversations that fail on some events, once these have changed them. */
const failingOn =
  (poison: ReadonlySet<number>): ConversationFactory =>
  (options) => {
    const real = createConversation(options);
    const step: typeof real.step = (event, settings) => {
      const effects = real.step(event, settings);
      if ("seq" in event && poison.has(event.seq)) throw new Error("poison");
      return effects;
    };
    return Object.create(real, { step: { value: step } }) as typeof real;
  };

/** The record, verdicts and effects of batches, the next one at each of these places. */
function inBatches(
  events: readonly NumberedEvent[],
  cuts: readonly number[],
  settings: ConversationSettings,
  create?: ConversationFactory,
): Outcome {
  const ends = [...new Set(cuts.filter((cut) => cut > 0 && cut < events.length))].sort(
    (a, b) => a - b,
  );
  const starts = [0, ...ends];
  let record: string | null = null;
  const codes: number[] = [];
  const steps: HostStep[] = [];
  const rejected: number[] = [];
  for (const [index, start] of starts.entries()) {
    const batch = { key, record, events: events.slice(start, starts[index + 1]) };
    const result = stepBatch(batch, {
      settings: () => ({ ...settings }),
      ...(create === undefined ? {} : { create }),
    });
    record = result.record;
    codes.push(...result.codes);
    steps.push(...result.steps);
    rejected.push(...result.rejected.map(({ seq }) => seq));
  }
  return { record: parsedRecord(record), codes, steps, rejected };
}

property(
  [fc.nat({ max: 1_000_000 }), fc.array(fc.integer({ min: 1, max: 119 }), { maxLength: 40 })],
  {
    numRuns: rounds(12, 1_000),
  },
)("batches of any size give the record, the verdicts and the effects of the pool", (seed, cuts) => {
  const { events, settings } = storyOf(seed, 120);
  const all = numberedFrom(events);
  expect(inBatches(all, cuts, settings)).toEqual(inPool(key, all, settings));
});

property(
  [
    fc.nat({ max: 1_000_000 }),
    fc.array(fc.integer({ min: 1, max: 59 }), { maxLength: 10 }),
    fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }),
  ],
  { numRuns: rounds(15, 500) },
)("events that fail leave no trace, in the pool and in batches", (seed, cuts, poison) => {
  const { events, settings } = storyOf(seed, 60);
  const all = numberedFrom(events);
  const create = failingOn(new Set(poison));
  const stepped = inBatches(all, cuts, settings, create);
  expect(stepped).toEqual(inPool(key, all, settings, create));
  const good = all.filter(({ seq }) => !stepped.rejected.includes(seq));
  expect(stepped.record).toEqual(inBatches(good, [], settings).record);
});

test("a batch that is rejected whole leaves a new conversation without a record", () => {
  const settings = settingsWith();
  const event = { ...message("room", "1", "hello"), seq: 1 };
  const events = [{ seq: 1, cfg: 1, event }] as NumberedEvent[];
  const result = stepBatch(
    { key, record: null, events },
    { settings: () => settings, create: failingOn(new Set([1])) },
  );
  expect(result).toEqual({
    record: null,
    codes: [quarantinedCode],
    steps: [],
    rejected: [{ seq: 1, error: "poison" }],
  });
});
