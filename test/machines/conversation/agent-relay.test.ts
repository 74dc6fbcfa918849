/**
 * Relays as a conversation sees them: a batch is held until those ahead have ended, whatever happens to
 * the line meanwhile; each message is passed on exactly once; and putting the conversation away at
 * any moment changes nothing.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import { mustWait, passedId } from "../../../src/machines/conversation/agent-relay.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { type Overrides, Rig } from "../../support/runtime/conversation-rig.ts";

const keys = ["agent:a:main", "agent:b:main", "agent:c:main", "agent:d:main"];
const minute = 60_000;

/** A message that the agent at `place` answers, too. */
function relayed(rig: Rig, author: string, place: number, more: { text?: string } = {}) {
  const event = rig.message(author, more.text ?? "earshot!");
  const relay = { token: event.message.id, place, keys };
  rig.step({ ...event, relay });
  return event.message.id;
}
const passed = (rig: Rig, token: string, place: number) =>
  rig.step({ type: "deadline.due", at: rig.now, id: passedId(token, place) });
const passes = (rig: Rig) => rig.of("relay.pass").map(({ token, to }) => `${token} ${to.length}`);

describe("a batch behind others", () => {
  test("gets its turn when the last of them has ended", () => {
    const rig = new Rig();
    const id = relayed(rig, "ann", 2);
    rig.wait(minute);
    passed(rig, id, 1);
    expect(rig.runs).toEqual([]);
    passed(rig, id, 0);
    expect(rig.batches()).toEqual([[id]]);
    expect(passes(rig)).toEqual([]);
    rig.reply();
    expect(passes(rig)).toEqual([`${id} 1`]);
  });

  test("gets it after its window where they have ended before", () => {
    const rig = new Rig();
    const id = relayed(rig, "ann", 1);
    passed(rig, id, 0);
    expect(rig.runs).toEqual([]);
    rig.wait(1_000);
    expect(rig.batches()).toEqual([[id]]);
  });

  test("lets no later line overtake it, and is not joined by one that has to wait", () => {
    const rig = new Rig();
    const first = relayed(rig, "ann", 1);
    rig.wait(1_000);
    const second = relayed(rig, "bob", 1);
    rig.wait(1_000);
    passed(rig, second, 0);
    expect(rig.runs).toEqual([]);
    passed(rig, first, 0);
    rig.reply();
    rig.wait(minute);
    rig.reply();
    expect(rig.batches().flat()).toEqual([first, second]);
  });

  test("is observed: passed on at once", () => {
    const rig = new Rig();
    const id = relayed(rig, "ann", 0, { text: "hm" });
    expect(passes(rig)).toEqual([`${id} 3`]);
  });

  test("has one deadline while it waits, which is cleared when nobody is waited for", () => {
    const rig = new Rig();
    const set = () => rig.of("deadline.set").filter(({ id }) => id === "relay").length;
    const cleared = () => rig.of("deadline.clear").filter(({ id }) => id === "relay").length;
    relayed(rig, "ann", 0);
    rig.wait(minute);
    rig.reply();
    expect([set(), cleared()]).toEqual([0, 0]);
    const first = relayed(rig, "ann", 1);
    const second = relayed(rig, "bob", 1);
    expect([set(), cleared()]).toEqual([1, 0]);
    passed(rig, first, 0);
    expect([set(), cleared()]).toEqual([1, 0]);
    passed(rig, second, 0);
    expect([set(), cleared()]).toEqual([1, 1]);
    passed(rig, second, 0);
    expect([set(), cleared()]).toEqual([1, 1]);
  });

  test("waits no longer than its answer may be late", () => {
    const rig = new Rig({ settings: { turn: { replyAgeMsMax: 30_000 } } });
    const id = relayed(rig, "ann", 1);
    rig.wait(29_000);
    expect(rig.runs).toEqual([]);
    rig.wait(2_000);
    expect(rig.batches()).toEqual([[id]]);
    expect(rig.deadlines.has("relay")).toBe(false);
  });

  test("frees the line behind it when it is deleted or dropped", () => {
    for (const drop of ["delete", "cap"] as const) {
      const rig = new Rig({ settings: { queue: { cap: 1, drop: "old" } } });
      const first = relayed(rig, "ann", 1);
      rig.wait(1_000);
      const second = relayed(rig, "bob", 1);
      passed(rig, second, 0);
      if (drop === "delete") rig.remove(first);
      rig.wait(1_000);
      expect(rig.batches(), drop).toEqual([[second]]);
      expect(passes(rig), drop).toEqual([`${first} 2`]);
    }
  });
});

const modes = ["collect", "followup", "queue", "steer", "interrupt"] as const;
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("say"), place: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("hm"), place: fc.nat(3) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant("pass"), place: fc.nat(2) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("reply"), place: fc.nat(3) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constantFrom("fail", "delete"), place: fc.nat(9) }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("wait"), place: fc.nat(3) }) },
  ),
  { minLength: 3, maxLength: 30 },
);
type Steps = readonly { readonly do: string; readonly place: number }[];

/** Plays the steps; with `away` the conversation is put away and revived before each of them. */
function play(list: Steps, settings: Overrides, away: boolean) {
  const rig = new Rig({ settings });
  /** Messages that others wait for. */
  const expected: string[] = [];
  const ids: string[] = [];
  let next = 0;
  for (const { do: what, place } of list) {
    if (away) {
      const record = rig.conversation.record();
      rig.conversation = createConversation({ key: "rig", settings: rig.settings, record });
    }
    const isRunning = rig.attention === "engaged.running";
    if (what === "say") ids.push(relayed(rig, place % 2 === 0 ? "ann" : "bob", place));
    if (what === "hm") ids.push(relayed(rig, "eve", place, { text: "hm" }));
    if ((what === "say" || what === "hm") && place < 3) expected.push(ids.at(-1) as string);
    if (what === "pass" && ids.length > 0) passed(rig, ids[next++ % ids.length] as string, place);
    if (what === "reply" && isRunning) rig.reply();
    if (what === "fail" && isRunning) rig.fail();
    if (what === "delete" && ids.length > 0) rig.remove(ids[place % ids.length] as string);
    if (what === "wait") rig.wait([0, 200, 600, 3_000][place] as number);
    const { context } = rig.conversation;
    const waits = rig.attention === "engaged.waiting" && !mustWait(context);
    expect(waits, "somebody who may go waits").toBe(false);
    // A turn never holds a message that others still have to answer first.
    const held = new Set(
      context.relays.filter(({ ahead }) => ahead.length > 0).map(({ seq }) => seq),
    );
    expect(context.run?.batch.filter(({ seq }) => held.has(seq)) ?? []).toEqual([]);
  }
  // Everything ends: those ahead, the turns, and what is late.
  for (let left = 0; left < 100; left += 1) {
    for (const id of ids) for (const place of [0, 1, 2]) passed(rig, id, place);
    rig.wait(10_000);
    const { run } = rig.conversation.context;
    if (rig.attention === "engaged.running") rig.reply();
    else if (run !== null) for (const { index } of run.open) rig.sent(index);
    if (rig.attention === "observing") break;
  }
  return { rig, expected };
}

describe.each(modes)("queue mode %s", (mode) => {
  property([steps], { numRuns: rounds(40, 80) })(
    "nobody goes before his turn, every message is passed on once, nothing is left",
    (list) => {
      const { rig, expected } = play(list, { queue: { mode } }, false);
      expect(rig.attention).toBe("observing");
      expect(rig.conversation.context.relays).toEqual([]);
      const tokens = rig.of("relay.pass").map(({ token }) => token);
      expect(tokens.toSorted()).toEqual(expected.toSorted());
    },
  );

  property([steps], { numRuns: rounds(20, 40) })(
    "passivation at any moment changes nothing",
    (list) => {
      const settings = { queue: { mode } };
      const [away, stayed] = [true, false].map((put) => play(list, settings, put).rig.log);
      expect(away).toEqual(stayed);
    },
  );
});
