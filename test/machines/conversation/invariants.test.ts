/** Promises of a conversation over whole stories, each with its positive twin. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import type { Effect } from "../../../src/machines/events/effects.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { modes, stories } from "../../support/machines/stories.ts";
import { property } from "../../support/property.ts";
import { Rig } from "../../support/runtime/conversation-rig.ts";

const direct = { id: "dm", kind: "direct" } as const;

function running(): Rig {
  const rig = new Rig();
  rig.say("ann", "earshot", { to: "us" });
  rig.wait(500);
  return rig;
}

describe("under any interleaving of events, stale ones included", () => {
  property([stories, modes, fc.constantFrom(1, 20)])(
    "one decision a message, one outcome a turn, no reaction and no typing left behind",
    (story, mode, cap) => {
      const rig = new Rig({ holdSlots: true, settings: { queue: { mode, cap, drop: "old" } } });
      let heard = 0;
      for (const make of story) {
        const event = make(rig);
        const turn = rig.conversation.context.run;
        // A slot is granted under a new id, and only to who wants one; what else comes is stale.
        if (event.type === "lane.granted" && turn !== null) continue;
        if (event.type === "lane.granted") rig.grant();
        else rig.step(event);
        if (event.type === "message.received") heard += 1;
      }
      expect(rig.of("decided")).toHaveLength(heard);
      const settle = () => {
        rig.wait(10_000);
        if (rig.wantsSlot) rig.grant();
        const { run } = rig.conversation.context;
        if (rig.attention === "engaged.running") rig.end();
        for (const { index } of run?.open ?? []) rig.sent(index);
      };
      for (let round = 0; round < 60 && rig.attention !== "observing"; round += 1) settle();
      expect(rig.attention).toBe("observing");
      const ran = new Set(rig.runs.map(({ turnId }) => turnId));
      const ended = rig.of("outcome").map(({ turnId }) => turnId);
      expect(new Set(ended).size).toBe(ended.length);
      for (const turnId of ran) expect(ended).toContain(turnId);
      expect(rig.acked()).toEqual([]);
      expect(rig.typing()).toBe(false);
      for (const { turnId, outcome } of rig.of("outcome")) {
        const replies = rig.of("block").filter((block) => block.turnId === turnId && !block.aside);
        if (outcome === "replied") expect(replies).not.toEqual([]);
      }
      expect(rig.of("transcript").filter(({ text }) => text !== "word")).toEqual([]);
      accountForAll(rig);
    },
  );
});

/** Every engaged message is in exactly one outcome's batch or was dropped by name. */
function accountForAll(rig: Rig): void {
  const engaged = rig.of("decided").filter(({ decision }) => decision === "engage");
  const answered = rig.of("outcome").flatMap(({ batch }) => batch.map(({ seq }) => seq));
  const contextual = new Set(["context-size", "context-age"]);
  const dropped = rig.of("dropped").filter(({ why }) => !contextual.has(why));
  const ends = [...answered, ...dropped.map(({ message }) => message.seq)];
  expect(ends.sort((a, b) => a - b)).toEqual(engaged.map(({ seq }) => seq));
}

describe("invariant 3: what is no message decides nothing", () => {
  property([
    fc.array(fc.constantFrom("edit", "delete", "reaction", "command", "membership"), {
      size: "+1",
    }),
  ])(
    "edits, deletions, reactions, commands and member reads leave credits, buffer and guard as they were",
    (kinds) => {
      const rig = running();
      rig.reply();
      rig.say("bob", "by the way", { id: "kept" });
      const { ledger, counters, buffer } = rig.conversation.context;
      for (const kind of kinds) {
        const at = rig.now;
        if (kind === "edit") rig.edit("unknown", "text");
        if (kind === "delete") rig.remove("unknown");
        if (kind === "reaction") rig.react("unknown");
        if (kind === "command")
          rig.step({ type: "command.applied", at, command: "status", args: [] });
        if (kind === "membership") {
          const membership = { humans: 9, bots: 1, truncated: false, fetchedAt: at };
          rig.step({ type: "membership.read", at, membership });
        }
      }
      expect(rig.conversation.context).toMatchObject({ ledger, counters, buffer });
    },
  );
});

describe("invariant 4: a credit starts at most one turn", () => {
  test("one-shot: the line after a reply engages, the second only while it is held", () => {
    const rig = running();
    rig.reply();
    expect(rig.say("ann", "and then?")).toBe("sticky");
    expect(rig.say("ann", "I mean it")).toBe("sticky");
    expect(rig.conversation.view().credits).toEqual({});
    rig.wait(1_000);
    rig.end(true);
    expect(rig.say("ann", "hello?")).toBe("default");
  });

  test.each([
    [899_999, "sticky"],
    [900_000, "default"],
    [900_001, "default"],
  ])("%i ms after the delivery a plain line is decided by %s", (ms, rule) => {
    const rig = running();
    rig.reply();
    rig.wait(ms);
    expect(rig.say("ann", "and?")).toBe(rule);
  });

  test("sliding: it engages exactly while it is live, and moves with use", () => {
    const stickiness = { ...stickyDefaults, mode: "sliding" as const, windowMs: 5_000 };
    const rig = new Rig({ settings: { engagement: { stickiness } } });
    rig.say("ann", "earshot", { to: "us" });
    rig.wait(500);
    rig.reply();
    for (let line = 0; line < 3; line += 1) {
      rig.wait(4_000);
      expect(rig.say("ann", "and?")).toBe("sticky");
      rig.wait(999);
      rig.end(true);
    }
    rig.wait(4_001);
    expect(rig.say("ann", "still there?")).toBe("default");
  });

  test("a reply that did not reach the room grants nothing", () => {
    const rig = running();
    rig.answer("lost");
    rig.end();
    rig.lost();
    expect(rig.credits).toEqual([]);
  });

  test("a clock set back revives nothing that was seen dead", () => {
    const rig = running();
    rig.reply();
    rig.wait(900_000);
    rig.say("bob", "late");
    rig.now -= 800_000;
    expect(rig.say("ann", "and?")).toBe("default");
  });
});

const stickyDefaults = { enabled: true, windowMs: 900_000, holdDuringTurn: true };

describe("invariant 9: backing off does not undo itself", () => {
  property([fc.nat({ max: 8 }), fc.boolean()])(
    "however many deliveries follow in the same turn, the ledger stays empty",
    (blocks, whileRunning) => {
      const rig = running();
      for (let block = 0; block < blocks; block += 1)
        rig.answer("ok, backing off", { mentions: ["bob"] });
      if (whileRunning) rig.step({ type: "disengage", at: rig.now });
      rig.answer("really");
      rig.end();
      if (!whileRunning) rig.step({ type: "disengage", at: rig.now });
      for (let block = 0; block <= blocks; block += 1) rig.sent(block, "T1");
      expect(rig.credits).toEqual([]);
      expect(rig.say("ann", "ok?")).toBe("default");
    },
  );

  test("after the next turn's first delivery it is not empty", () => {
    const rig = running();
    rig.step({ type: "disengage", at: rig.now });
    expect(rig.attention).toBe("engaged.running");
    expect(rig.conversation.view().lock).toBe("withheld");
    rig.reply();
    rig.say("ann", "earshot, come back", { to: "us" });
    rig.wait(500);
    rig.answer("here", { mentions: ["bob"] });
    rig.sent();
    expect(rig.credits.sort()).toEqual(["ann", "bob"]);
  });

  test("it lets go of those who wait, and a new call is heard in the same turn", () => {
    const rig = running();
    rig.step({ type: "disengage", at: rig.now });
    expect(rig.say("ann", "wait")).toBe("default");
    expect(rig.say("ann", "earshot?")).toBe("alias");
    expect(rig.say("ann", "now?")).toBe("sticky");
  });
});

describe("invariant 10: the guard acts exactly when its limits were reached", () => {
  const bot = (rig: Rig) => rig.say("bot", "and you?", { bot: true, to: "us" });

  test("four turns of a peer bot are clear, the fifth is warned, the twentieth is the last", () => {
    const rig = new Rig();
    const rules: string[] = [];
    for (let line = 1; line <= 22; line += 1) {
      rules.push(bot(rig));
      rig.wait(20_000);
      if (rig.conversation.busy) rig.reply();
    }
    expect(rig.runs.slice(0, 5).map(({ guard }) => guard)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
    expect(rig.runs.map(({ nudge, guard }) => nudge !== guard)).toEqual(Array(20).fill(true));
    expect(rules.slice(18)).toEqual(["mention", "mention", "loop-guard", "loop-guard"]);
    expect(rig.conversation.view().guard).toBe("muted");
  });

  test("any line of a human clears it, observed or not", () => {
    const rig = new Rig();
    for (let line = 0; line < 25; line += 1) bot(rig);
    expect(rig.conversation.view().guard).toBe("muted");
    expect(rig.say("ann", "hm")).toBe("default");
    expect(rig.conversation.view().guard).toBe("clear");
    expect(bot(rig)).toBe("mention");
  });

  test("history does not count for the guard", () => {
    const rig = new Rig();
    for (let line = 0; line < 5; line += 1) bot(rig);
    const { message } = rig.message("ann", "long ago");
    rig.step({ type: "history.seeded", at: rig.now, seq: 99, messages: [message] });
    expect(rig.conversation.view().guard).toBe("tripped");
  });

  test("two of us in one room, with agents that always answer, stop by themselves", () => {
    const rooms = [new Rig(), new Rig()] as const;
    let lines = 0;
    const bounce = (from: number): void => {
      const speaker = rooms[from];
      const listener = rooms[1 - from];
      if (speaker === undefined || listener === undefined) return;
      listener.now = speaker.now;
      listener.say(`bot ${from}`, "indeed", { bot: true });
      lines += 1;
    };
    rooms[0].say("ann", "earshot", { to: "us" });
    for (let round = 0; round < 400; round += 1) {
      for (const [place, rig] of rooms.entries()) {
        rig.wait(1_000);
        if (!rig.conversation.busy) continue;
        rig.answer("indeed", { mentions: [`bot ${1 - place}`] });
        rig.end();
        rig.sent();
        bounce(place);
      }
    }
    expect(rooms.every((rig) => rig.attention === "observing")).toBe(true);
    expect(lines).toBeLessThan(45);
  });
});

describe("invariants 11 and 12: the buffer", () => {
  property([
    fc.array(fc.constantFrom(0, 0, 0, 1, 2, 3), { maxLength: 60, size: "max" }),
    fc.nat({ max: 6 }),
  ])(
    "holds the newest lines in order, and each is shown once or counted as dropped",
    (story, size) => {
      const rig = new Rig({ settings: { context: { size, maxAgeMs: 60_000 } } });
      for (const what of story) {
        if (what === 0) rig.say("bob", "aside");
        if (what === 1) rig.say("ann", "earshot", { to: "us" });
        if (what === 2) rig.wait(30_000);
        if (what === 3 && rig.conversation.busy) rig.end(true);
        const { entries } = rig.conversation.context.buffer;
        expect(entries.length).toBeLessThanOrEqual(size);
        expect(entries.map(({ seq }) => seq)).toEqual(
          entries.map(({ seq }) => seq).sort((a, b) => a - b),
        );
      }
      const observed = rig.of("decided").filter(({ decision }) => decision === "observe");
      const shown = rig.runs.flatMap(({ context }) => context.map(({ seq }) => seq));
      const dropped = rig.of("dropped").map(({ message }) => message.seq);
      const kept = rig.conversation.context.buffer.entries.map(({ seq }) => seq);
      expect([...shown, ...dropped, ...kept].sort((a, b) => a - b)).toEqual(
        observed.map(({ seq }) => seq),
      );
      const omitted = rig.runs.reduce((sum, run) => sum + run.omitted, 0);
      expect(omitted + rig.conversation.context.buffer.dropped).toBe(dropped.length);
    },
  );

  test("a buffered line is shown in its edited form, and a deleted one not at all", () => {
    const rig = new Rig();
    rig.say("bob", "frist", { id: "a" });
    rig.say("bob", "secret", { id: "b" });
    const seq = rig.edit("a", "first");
    rig.remove("b");
    rig.say("ann", "earshot", { to: "us" });
    rig.wait(500);
    expect(rig.runs[0]?.context).toEqual([{ seq: 1, id: "a", editSeq: seq }]);
  });
});

describe("invariant 14: brought back at any point, a conversation goes on the same", () => {
  property([stories, modes, fc.nat(), fc.constantFrom("group", "direct")])(
    "the effects of every later event are the same",
    (story, mode, cutAt, kind) => {
      const chat = kind === "direct" ? { chat: direct } : {};
      const rig = new Rig({ ...chat, holdSlots: true, settings: { queue: { mode } } });
      const cut = story.length === 0 ? 0 : cutAt % story.length;
      const before: ConversationEvent[] = [];
      const rest: { event: ConversationEvent; effects: readonly Effect[] }[] = [];
      let record = rig.conversation.record();
      for (const [place, make] of story.entries()) {
        if (place === cut) record = rig.conversation.record();
        const event = make(rig);
        const effects = rig.step(event);
        if (place < cut) before.push(event);
        else rest.push({ event, effects });
      }
      const revived = createConversation({ key: "rig", settings: rig.settings, record });
      for (const { event, effects } of rest) expect(revived.step(event)).toEqual(effects);
      expect(JSON.parse(revived.record())).toEqual(JSON.parse(rig.conversation.record()));
      expect(revived.view()).toEqual(rig.conversation.view());
    },
  );
});
