/** The record: short, complete, and refused when it is not one of ours. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { attentions, guardStates, locks } from "../../../src/machines/conversation/states.ts";
import type { Effect } from "../../../src/machines/events/effects.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { property } from "../../support/property.ts";
import { defaults, Rig, settingsWith } from "../../support/runtime/conversation-rig.ts";

const start = 1_763_700_000_000;
const revive = (record: string) => createConversation({ key: "k", settings: defaults, record });

/** A room as it is after a morning: two people, an exchange each, nothing due. */
function typicalRoom(): Rig {
  const rig = new Rig({ chat: { id: "-1001234567890", kind: "group" } });
  rig.now = start;
  for (const author of ["123456789", "987654321"]) {
    rig.say(author, "earshot, please", { to: "us" });
    rig.wait(1_000);
    rig.answer("sure");
    rig.end();
    rig.sent(0, rig.turnId, [`8${rig.now % 1_000}`]);
    rig.wait(60_000);
  }
  expect(rig.attention).toBe("observing");
  return rig;
}

function refusal(record: string): string {
  try {
    revive(record);
  } catch (error) {
    if (error instanceof EarshotError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

describe("the record of a conversation", () => {
  test("a typical idle room takes at most 200 bytes beside its buffer", () => {
    const record = typicalRoom().conversation.record();
    expect(Buffer.byteLength(record)).toBeLessThanOrEqual(200);
  });

  test("a room that was only heard takes less, and each remembered line some 30 bytes", () => {
    const rig = new Rig();
    rig.now = start;
    for (let line = 0; line < 20; line += 1)
      rig.say("123456789", "hello", { id: `${1_000 + line}` });
    expect(Buffer.byteLength(rig.conversation.record())).toBeLessThanOrEqual(100 + 20 * 40);
  });

  test("it holds no text of the room when nothing is due", () => {
    const rig = typicalRoom();
    rig.say("123456789", "the password is swordfish");
    rig.wait(10_000);
    if (rig.conversation.busy) rig.reply();
    rig.wait(10_000);
    rig.say("stranger", "xyzzy");
    const record = rig.conversation.record();
    expect([record.includes("swordfish"), record.includes("xyzzy")]).toEqual([false, false]);
  });

  test("it is the same after being read and written again, in every state of a turn", () => {
    const rig = new Rig({ holdSlots: true });
    const seen: string[] = [];
    const check = () => {
      const record = rig.conversation.record();
      expect(JSON.parse(revive(record).record())).toEqual(JSON.parse(record));
      expect(revive(record).view()).toEqual(rig.conversation.view());
      const { attention, lock } = rig.conversation.view();
      seen.push(`${attention} ${lock}`);
    };
    check();
    rig.say("ann", "earshot", { to: "us" });
    check();
    rig.wait(500);
    check();
    rig.grant();
    check();
    rig.say("bob", "earshot", { to: "us", attachments: [{ id: "a", kind: "image" }] });
    rig.answer("well", { mentions: ["bob"] });
    rig.step({ type: "disengage", at: rig.now });
    check();
    rig.step({ type: "skip", at: rig.now, turnId: rig.turnId });
    check();
    rig.end();
    check();
    rig.sent();
    check();
    expect(seen).toEqual([
      "observing granting",
      "engaged.gathering granting",
      "engaged.waiting granting",
      "engaged.running granting",
      "engaged.running withheld",
      "engaged.running closed",
      "engaged.settling closed",
      "engaged.gathering closed",
    ]);
  });

  test("authors named like an object's own furniture survive it", () => {
    const rig = new Rig();
    for (const author of ["__proto__", "constructor", "toString"]) {
      rig.say(author, "earshot", { to: "us" });
      rig.wait(1_000);
      rig.reply();
      rig.wait(1_000);
    }
    expect(rig.credits.sort()).toEqual(["__proto__", "constructor", "toString"]);
    const again = revive(rig.conversation.record());
    expect(Object.keys(again.view().credits).sort()).toEqual(rig.credits.sort());
    expect(again.step(rig.message("__proto__", "hi"))[0]).toMatchObject({ rule: "sticky" });
  });
});

describe("what is no record of ours is refused", () => {
  const good = (): unknown[] => JSON.parse(typicalRoom().conversation.record());
  const changed = (place: number, value: unknown) => {
    const record = good();
    record[place] = value;
    return JSON.stringify(record);
  };

  test("another version, an unknown state, an unknown field, no JSON at all", () => {
    expect(refusal(JSON.stringify(good()))).toBe("accepted");
    for (const bad of [
      changed(0, 2),
      changed(1, 99),
      changed(2, "observing.deeply|clear"),
      changed(2, "observing|angry"),
      changed(2, "observing|clear|ajar"),
      changed(2, "observing|clear|closed|more"),
      changed(3, { unknown: 1 }),
      changed(3, { t: "one" }),
      "not JSON",
      "null",
      "[]",
      "",
    ])
      expect(refusal(bad)).toMatch(/^EAR_RECORD_INVALID: Cannot restore a conversation: /);
  });

  test("a state that its context makes untrue", () => {
    for (const state of [
      ...["engaged.gathering", "engaged.waiting", "engaged.running", "engaged.settling"],
    ])
      expect(refusal(changed(2, `${state}|clear`))).toMatch(/^EAR_RECORD_INVALID/);
    const busy = new Rig();
    busy.say("ann", "earshot", { to: "us" });
    const record = busy.conversation.record().replace("engaged.gathering", "observing");
    expect(refusal(record)).toMatch(/work pending/);
  });

  property([fc.nat(), fc.string({ minLength: 1, maxLength: 3 })])(
    "A38: damage is refused or harmless, never a crash of another kind",
    (at, noise) => {
      const record = typicalRoom().conversation.record();
      const cut = at % record.length;
      expect(refusal(record.slice(0, cut) + noise + record.slice(cut + noise.length))).toMatch(
        /^accepted$|^EAR_RECORD_INVALID/,
      );
    },
  );
});

/** Records as machine version 1 wrote them, and what that version did with the events after them. */
interface OldCase {
  readonly state: string;
  readonly record: string;
  readonly steps: readonly { event: ConversationEvent; effects: readonly Effect[] }[];
}
const oldRecords = resolve(import.meta.dirname, "../../fixtures/records/machine-1.jsonl");
const oldCases = readFileSync(oldRecords, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as OldCase);

describe("records of machine version 2, when the outcome came with the agent's end", () => {
  /** A record of this version as that version wrote it. */
  const asBefore = (rig: Rig) => {
    const [version, , states, { r, ...fields }] = JSON.parse(rig.conversation.record());
    const { sent: _, ...run } = r;
    return JSON.stringify([version, 2, states, { ...fields, r: run }]);
  };
  const asked = () => {
    const rig = new Rig();
    rig.say("ann", "earshot", { to: "us" });
    rig.wait(500);
    rig.answer("one");
    return rig;
  };

  test("a turn whose outcome was given is not given another", () => {
    const rig = asked();
    rig.end();
    const { turnId } = rig;
    const again = new Rig({ record: asBefore(rig) });
    again.sent(0, turnId);
    expect(again.outcomes()).toEqual([]);
    expect(again.attention).toBe("observing");
  });

  test("a turn that has delivered a part comes to an answer", () => {
    const rig = asked();
    rig.sent();
    const again = new Rig({ record: asBefore(rig) });
    again.step({ type: "agent.ended", at: again.now, turnId: rig.turnId, silent: false });
    expect(again.outcomes()).toEqual(["T1 replied"]);
  });
});

describe("records of machine version 1, from a database of before", () => {
  const settings = settingsWith({
    loopGuard: { maxConsecutive: 1, maxInWindow: 3, windowMs: 60_000, hardLimit: 2 },
  });

  test.each(oldCases.map((one) => [one.state, one] as const))(
    "%s goes on as it did",
    (_, { record, steps }) => {
      const conversation = createConversation({ key: "k", settings, record });
      for (const { event, effects } of steps) expect(conversation.step(event)).toEqual(effects);
    },
  );

  test("each state of each region is among them", () => {
    const found = oldCases.map(({ record }) => revive(record).view());
    expect(new Set(found.map(({ attention }) => attention))).toEqual(new Set(attentions));
    expect(new Set(found.map(({ lock }) => lock))).toEqual(new Set(locks));
    expect(new Set(found.map(({ guard }) => guard))).toEqual(new Set(guardStates));
  });

  test("one whose turn is not in the state it names is refused", () => {
    for (const { record } of oldCases.filter(({ state }) => state.includes("running"))) {
      expect(refusal(record.replace('"ended":false', '"ended":true'))).toMatch(
        /^EAR_RECORD_INVALID: .*not that of its turn/,
      );
      expect(refusal(record.replace(/"lock":"\w+"/, '"lock":"ajar"'))).toMatch(
        /^EAR_RECORD_INVALID/,
      );
    }
  });
});
