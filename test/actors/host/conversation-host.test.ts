/**
 * The host's core: what a batch returns, conversations that are evicted and loaded, steps that
 * throw.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import {
  type ConversationFactory,
  createHostCore,
} from "../../../src/actors/host/conversation-host.ts";
import { settingsFor } from "../../../src/actors/host/conversation-settings.ts";
import {
  type Activation,
  alreadySteppedCode,
  type HostBatch,
  type HostEntry,
  type HostResult,
  notLiveCode,
  quarantinedCode,
} from "../../../src/actors/protocol/host-protocol.ts";
import { hash52 } from "../../../src/domain/key.ts";
import type { Effect } from "../../../src/machines/events/effects.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { configOf, groupKey, message } from "../../support/runtime/supervised.ts";

const configs = [{ version: 1, config: configOf() }];
const fresh: Activation = { record: null, recordSeq: 0, tail: [] };

const core = (
  live = 100,
  checkpointEvery = 64,
  create: ConversationFactory = createConversation,
  evictedTail = 0,
) => createHostCore({ create, settingsFor, live, checkpointEvery, evictedTail });

const batch = (id: number, entries: readonly HostEntry[], more: Partial<HostBatch> = {}) => ({
  id,
  epoch: 1,
  configs,
  forget: [],
  entries,
  ...more,
});

/** A line to somebody else: overheard, never engaged. */
const aside = "are you coming?";

const entry = (room: string, seq: number, text = aside, more: Partial<HostEntry> = {}) => {
  const key = groupKey(room);
  const mentions = text === aside ? [{ id: "zoe", isSelf: false }] : [];
  const event = { ...message(room, String(seq), text, { mentions }), seq } as ConversationEvent;
  return { conv: hash52(key), key, seq, cfg: 1, event, ...more };
};

/** A conversation of which some words are poison. */
const touchy: ConversationFactory = (options) => {
  const real = createConversation(options);
  return {
    step(event, settings) {
      if (event.type === "message.received" && event.message.text === "poison")
        throw new Error("poison");
      return real.step(event, settings);
    },
    record: () => real.record(),
    get idle() {
      return real.idle;
    },
    get guarded() {
      return real.guarded;
    },
    summary: (now) => real.summary(now),
    inspect: () => real.inspect(),
    stop: () => real.stop(),
  };
};

test("codes answer the entries in order, and only steps with effects come back", () => {
  const result = core().apply(
    batch(1, [
      entry("a", 1, "earshot?", { activation: fresh }),
      entry("b", 2, aside, { activation: fresh }),
      entry("a", 3, "and you?"),
    ]),
  );
  expect(result.codes).toHaveLength(3);
  expect(result.codes.every((code) => code > 0)).toBe(true);
  expect(result.steps[0]).toMatchObject({ seq: 1, key: groupKey("a"), code: result.codes[0] });
  expect(result.steps.flatMap(({ effects }) => effects.map(({ type }) => type))).not.toContain(
    "decided",
  );
  expect(result.live).toBe(2);
});

test("what a line pushes out of a full memory comes back without a step, and with one where it caught up", () => {
  const small = [{ version: 1, config: configOf({ context: { size: 1 } }) }];
  const host = core();
  const result = host.apply(
    batch(1, [entry("a", 1, aside, { activation: fresh }), entry("a", 2), entry("a", 3)], {
      configs: small,
    }),
  );
  expect(result.codes.every((code) => code > 0)).toBe(true);
  expect(result.forgotten).toEqual([
    [2, 1, "1"],
    [3, 2, "2"],
  ]);
  expect(result.steps.filter(({ seq }) => seq > 1)).toEqual([]);
  const tail = [1, 2].map((seq) => {
    const { event } = entry("a", seq);
    return { seq, cfg: 1, event, applied: false };
  });
  const activation: Activation = { record: null, recordSeq: 0, tail };
  const again = core().apply(batch(2, [entry("a", 3, aside, { activation })], { configs: small }));
  expect(again.steps.map(({ seq }) => seq)).toEqual([1, 2]);
  expect(again.steps[1]?.effects).toEqual([
    { type: "dropped", message: { seq: 1, id: "1" }, why: "context-size" },
  ]);
  expect(again.forgotten).toEqual([[3, 2, "2"]]);
});

test("an event that was stepped before is not stepped again", () => {
  const host = core();
  host.apply(batch(1, [entry("a", 5, "earshot?", { activation: fresh })]));
  const again = host.apply(batch(2, [entry("a", 5, "earshot?"), entry("a", 4, "earshot?")]));
  expect(again.codes).toEqual([alreadySteppedCode, alreadySteppedCode]);
  expect(again.steps).toEqual([]);
});

test("a tail is stepped: applied events silently, the others with their effects", () => {
  const tail = [1, 2, 3].map((seq) => ({
    seq,
    cfg: 1,
    event: entry("a", seq, "earshot?").event,
    applied: seq === 1,
  }));
  const result = core().apply(batch(1, [entry("a", 4, aside, { activation: { ...fresh, tail } })]));
  expect(result.steps.map(({ seq }) => seq).filter((seq) => seq < 4)).toEqual([2, 3]);
  expect(result.steps.every(({ seq, code }) => seq === 4 || code > 0)).toBe(true);
});

describe("a step that throws", () => {
  test("is rejected; what follows waits for a fresh activation; neighbours go on", () => {
    const host = core(100, 64, touchy);
    const first = host.apply(
      batch(1, [
        entry("a", 1, aside, { activation: fresh }),
        entry("a", 2, "poison"),
        entry("a", 3),
        entry("b", 4, aside, { activation: fresh }),
      ]),
    );
    expect(first.codes.map((code) => Math.min(code, 0))).toEqual([
      0,
      quarantinedCode,
      notLiveCode,
      0,
    ]);
    expect(first.rejected).toEqual([{ seq: 2, conv: entry("a", 2).conv, error: "poison" }]);
    const tail = [{ seq: 1, cfg: 1, event: entry("a", 1).event, applied: true }];
    const next = host.apply(batch(2, [entry("a", 3, aside, { activation: { ...fresh, tail } })]));
    expect(next.codes[0]).toBeGreaterThan(0);
  });

  test("in a tail is left out and told, and the rest of the tail is stepped", () => {
    const tail = [aside, "poison", aside].map((text, n) => ({
      seq: n + 1,
      cfg: 1,
      event: entry("a", n + 1, text).event,
      applied: false,
    }));
    const result = core(100, 64, touchy).apply(
      batch(1, [entry("a", 4, aside, { activation: { ...fresh, tail } })]),
    );
    expect(result.rejected.map(({ seq }) => seq)).toEqual([2]);
    expect(result.steps.map(({ seq }) => seq).filter((seq) => seq < 4)).toEqual([1, 3]);
    expect(result.codes[0]).toBeGreaterThan(0);
  });
});

test("a row of a tail that cannot be read is set aside, and the rest of the tail is stepped", () => {
  const tail = [JSON.stringify(entry("a", 1).event), "{", JSON.stringify(entry("a", 3).event)].map(
    (body, n) => ({ seq: n + 1, cfg: 1, body, applied: false }),
  );
  const result = core().apply(batch(1, [entry("a", 4, aside, { activation: { ...fresh, tail } })]));
  expect(result.rejected.map(({ seq }) => seq)).toEqual([2]);
  expect(result.steps.map(({ seq }) => seq)).toEqual([1, 3]);
});

test("a record that cannot be read is told, not guessed", () => {
  const activation = { record: "[99,99,{}]", recordSeq: 7, tail: [] };
  const result = core().apply(batch(1, [entry("a", 8, aside, { activation })]));
  expect(result.codes).toEqual([notLiveCode]);
  expect(result.unreadable).toHaveLength(1);
});

describe("passivation", () => {
  test("evicts the coldest idle conversation, with a record that covers it", () => {
    const host = core(2);
    const rooms = ["a", "b", "c"];
    const result = host.apply(
      batch(
        1,
        rooms.map((room, n) => entry(room, n + 1, aside, { activation: fresh })),
      ),
    );
    const [evicted] = result.passivated;
    expect(result.passivated).toHaveLength(1);
    expect(result.checkpoints.map(({ conv }) => conv)).toContain(evicted);
    expect(result.live).toBe(2);
  });

  test("leaves a short tail to the journal, and a record where one is asked for", () => {
    const rooms = ["a", "b"].map((room, n) => entry(room, n + 1, aside, { activation: fresh }));
    const evicted = hash52(groupKey("a"));
    const short = core(1, 64, createConversation, 1).apply(batch(1, rooms));
    expect(short).toMatchObject({ passivated: [evicted], checkpoints: [] });
    const asked = core(1, 64, createConversation, 1).apply(batch(1, rooms, { records: true }));
    expect(asked.checkpoints).toMatchObject([{ conv: evicted, recordSeq: 1 }]);
    const long = core(1, 64, createConversation, 1).apply(
      batch(1, [rooms[0] as HostEntry, entry("a", 2), { ...(rooms[1] as HostEntry), seq: 3 }]),
    );
    expect(long.checkpoints).toMatchObject([{ conv: evicted, recordSeq: 2 }]);
  });

  test("without a record asks for an activation for the event that was on its way", () => {
    const host = core(1, 64, createConversation, 9);
    host.apply(batch(1, [entry("a", 1, aside, { activation: fresh })]));
    const result = host.apply(
      batch(2, [entry("b", 2, aside, { activation: fresh }), entry("a", 3)]),
    );
    expect(result.codes[1]).toBe(notLiveCode);
    expect(result.passivated).toEqual([hash52(groupKey("a"))]);
  });

  test("never evicts a conversation that owes something", () => {
    const host = core(1);
    const rooms = ["a", "b", "c", "d"];
    const result = host.apply(
      batch(
        1,
        rooms.map((room, n) => entry(room, n + 1, "earshot?", { activation: fresh })),
      ),
    );
    expect(result.passivated).toEqual([]);
    expect(result.live).toBe(4);
  });

  test("an event that was on its way finds the evicted conversation again", () => {
    const host = core(1);
    host.apply(batch(1, [entry("a", 1, aside, { activation: fresh })], { passivate: true }));
    const result = host.apply(batch(2, [entry("a", 2)]));
    expect(result.codes[0]).not.toBe(notLiveCode);
  });

  test("a forgotten conversation needs its activation", () => {
    const host = core(1);
    const first = host.apply(
      batch(1, [entry("a", 1, aside, { activation: fresh })], { passivate: true }),
    );
    const forget = [...first.passivated];
    expect(host.apply(batch(2, [entry("a", 2)], { forget })).codes).toEqual([notLiveCode]);
  });

  const lines = fc.array(
    fc.record({
      room: fc.constantFrom("a", "b", "c", "d", "e"),
      author: fc.constantFrom("ann", "bo", "cy"),
      text: fc.oneof(
        { weight: 6, arbitrary: fc.constant(aside) },
        { weight: 1, arbitrary: fc.constantFrom("earshot?", "and then?") },
      ),
    }),
    { minLength: 1, maxLength: 60 },
  );

  test("churn decides what hosts that never passivate decide", () => {
    let passivated = 0;
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 3 }), fc.nat(4), (said, live, evictedTail) => {
        const calm = runAll(said, 1_000, 1_000);
        const churned = runAll(said, live, 3, evictedTail);
        expect(churned.out).toEqual(calm.out);
        passivated += churned.passivated;
      }),
      { numRuns: 60 },
    );
    expect(passivated).toBeGreaterThan(0);
  });

  /** Every line in a batch of its own, with a store that keeps the records. */
  function runAll(
    said: readonly { room: string; author: string; text: string }[],
    live: number,
    checkpointEvery: number,
    evictedTail = 0,
  ) {
    const host = core(live, checkpointEvery, createConversation, evictedTail);
    const records = new Map<number, { record: string; recordSeq: number }>();
    const there = new Set<number>();
    const history: HostEntry[] = [];
    let forget: number[] = [];
    let passivated = 0;
    const out: { seq: number; code: number; effects: readonly Effect[] }[] = [];
    said.forEach(({ room, author, text }, n) => {
      const base = entry(room, n + 1, text);
      const event = {
        ...base.event,
        message: {
          ...(base.event as { message: object }).message,
          author: { id: author, name: author, isBot: false, isSelf: false },
        },
      } as ConversationEvent;
      const { conv } = base;
      const found = records.get(conv);
      const tail = history
        .filter((old) => old.conv === conv && old.seq > (found?.recordSeq ?? 0))
        .map((old) => ({ seq: old.seq, cfg: 1, body: JSON.stringify(old.event), applied: true }));
      const activation = there.has(conv)
        ? {}
        : { activation: { record: found?.record ?? null, recordSeq: found?.recordSeq ?? 0, tail } };
      const result: HostResult = host.apply(
        batch(n + 1, [{ ...base, event, ...activation }], { forget }),
      );
      there.add(conv);
      history.push({ ...base, event });
      for (const one of result.checkpoints) records.set(one.conv, one);
      forget = [...result.passivated];
      passivated += forget.length;
      for (const gone of forget) there.delete(gone);
      out.push({
        seq: n + 1,
        code: result.codes[0] as number,
        effects: result.steps.flatMap(({ effects }) => effects),
      });
    });
    return { out, passivated };
  }
});

test("a glance tells how live conversations stand, and warms none of them", () => {
  const host = core();
  host.apply(
    batch(1, [
      entry("a", 1, "earshot?", { activation: fresh }),
      entry("b", 2, aside, { activation: fresh }),
    ]),
  );
  const convs = ["a", "b", "unheard"].map((room) => hash52(groupKey(room)));
  const [engaged, observing, unheard] = host.summary(convs, 10);
  expect(engaged).toMatchObject({ attention: "engaged.gathering", queued: 1, humans: 1, bots: 0 });
  expect(observing).toMatchObject({ attention: "observing", queued: 0, guard: "clear" });
  expect(observing).toMatchObject({ source: "who has spoken", credits: [] });
  expect(unheard).toBeNull();
});

test("a tally tells what is live, engaged and held by its guard, and nothing of what is put away", () => {
  const host = core(2);
  const touchy = [{ version: 1, config: configOf({ loopGuard: { hardLimit: 1 } }) }];
  const fromBot = message("b", "2", "earshot?", {
    author: { id: "pip", name: "Pip", isBot: true, isSelf: false },
    mentions: [{ id: "self", isSelf: true }],
  });
  const entries = [
    entry("a", 1, aside, { activation: fresh }),
    { ...entry("b", 2, "", { activation: fresh }), event: { ...fromBot, seq: 2 } },
    entry("c", 3, "earshot?", { activation: fresh }),
  ];
  const [a, b, c] = entries.map(({ conv }) => conv);
  host.apply(batch(1, entries, { configs: touchy }));
  expect(host.count()).toEqual({ live: 3, engaged: [b, c], guarded: [b] });
  for (const room of ["d", "e"])
    host.apply(batch(2, [entry(room, 4, aside, { activation: fresh })]));
  expect(host.count()).toEqual({ live: 4, engaged: [b, c], guarded: [b] });
  expect(host.summary([a as number, b as number], 10)).toMatchObject([null, { guard: "muted" }]);
});
