/**
 * Judges in labelled rooms: their recorded answers decide lines, `earshot tune` tries the judge on and
 * off by them, and none is asked.
 */
import { describe, expect, test } from "vitest";
import { tuneTable } from "../../../src/daemon/cli/commands/quality/tune-table.ts";
import { configWith } from "../../../src/daemon/quality/apply-edits.ts";
import { tune } from "../../../src/daemon/quality/tune.ts";
import { labelledText } from "../../../src/daemon/replay/recording.ts";
import { simulateScenario } from "../../../src/daemon/replay/simulate.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { scenarioOf } from "../../../src/domain/scenario/read-scenario.ts";
import { parseLabelledRooms, scoreRooms } from "../../../src/testing/labelled-rooms.ts";
import { roomText } from "../../support/labelled-rooms.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const judge = { kind: "command", command: "judge-that-nobody-has", minConfidence: 0.6 };
const asked = scenarioConfig({}, { engagement: { judge } });
const yes = { engage: true, confidence: 0.9 };
const no = { engage: false, confidence: 0.9 };
const target = { measure: "f1", atLeast: null } as const;
const screen = { colour: false, columns: 200 };

/** Rooms in which every other line without a name is meant for the agent; `answers` are the judge's. */
const talks = (answers: readonly (object | null)[]) =>
  parseLabelledRooms(
    [1, 2, 3, 4, 5, 6]
      .map((room) =>
        roomText({ room: `r${room}`, agents: ["scout"], from: "3" }, [
          { by: "bob", text: "good morning" },
          { by: "ann", text: "good morning" },
          ...answers.map((judged, index) => ({
            by: index % 4 < 2 ? "ann" : "cy",
            text: `line ${index}`,
            at: (index + 3) * 3_600_000,
            meant: index % 2 === 0 ? ["scout"] : [],
            ...(judged === null ? {} : { judged }),
          })),
        ]),
      )
      .join("\n"),
  );

describe("a recorded answer", () => {
  const rooms = talks([yes, no, yes, no]);
  test("decides its line where the config has a judge, and nothing where it has none", () => {
    expect(scoreRooms(rooms, asked)).toMatchObject({ precision: 1, recall: 1 });
    expect(scoreRooms(rooms)).toMatchObject({ engaged: 0 });
    const surer = scenarioConfig({}, { engagement: { judge: { ...judge, minConfidence: 0.95 } } });
    expect(scoreRooms(rooms, surer)).toMatchObject({ engaged: 0 });
  });

  test("is no answer in a room of several agents", () => {
    const several = rooms.map((room) => ({ ...room, agents: ["scout", "hilda"] }));
    expect(scoreRooms(several, asked)).toMatchObject({ engaged: 0 });
  });

  test("of another form is refused", () => {
    for (const wrong of [{ engage: true }, { ...yes, confidence: 2 }, { ...yes, why: "x" }])
      expect(() => talks([wrong])).toThrow(/judged/u);
  });
});

describe("tune", () => {
  test("keeps a judge that is right, and proposes to drop one that is wrong", async () => {
    const right = await tune(talks([yes, no, yes, no]), asked, { target, seed: 1 });
    expect(right.judge).toBe("tried");
    expect(right.best[0].edits).toEqual([]);
    expect(right.best[0].measured.f1.mean).toBe(1);

    const wrong = talks([no, yes, no, yes, null, yes]);
    const called = wrong.map(({ lines, ...room }) => ({
      ...room,
      lines: [...lines, { id: "x", at: 9e8, by: "bob", text: "scout?", meant: ["scout"] }],
    }));
    const off = await tune(called, asked, { target, seed: 1 });
    expect(off.best[0].edits).toEqual([
      { path: ["engagement", "judge"], before: "as it is", after: null },
    ]);
    expect(tuneTable(off, [], screen)).toContain(
      '- engagement.judge: "as it is"\n+ engagement.judge: null',
    );
    expect(tuneTable(off, [], screen)).not.toContain(judge.command);
    const without = configWith(asked, off.best[0].edits);
    expect(scoreRooms(called, without)).toMatchObject({ precision: 1 });
    const list = [{ id: "main", engagement: { judge } }];
    const own = scenarioConfig({}, { agents: { list } });
    const [best] = (await tune(called, own, { target, seed: 1 })).best;
    expect(best.edits.map(({ path }) => path)).toEqual([
      ["agents", "list", 0, "engagement", "judge"],
    ]);
  });

  test("says in one line that it cannot try it, without answers or without a judge", async () => {
    const unanswered = await tune(talks([null, null]), asked, { target, seed: 1 });
    expect(unanswered.judge).toBe("no answers");
    expect(tuneTable(unanswered, [], screen)).toContain(
      "The judge was not tried: the rooms have no recorded answers of one.",
    );
    const none = await tune(talks([yes, no]), scenarioConfig({}, {}), { target, seed: 1 });
    expect(none.judge).toBe("no judge");
    expect(tuneTable(none, [], screen)).toContain("but the config has none.");
  });
});

test("record --labels writes what the judge of a room answered, redacted or not", async () => {
  const key = "agent:main:irc:group:kitchen";
  const said = (t: number, id: string, text: string) => ({
    t,
    in: { channel: "irc", chat: { id: "kitchen", kind: "group" }, id, author: { id: "bo" }, text },
  });
  const answered = (t: number, id: string, more: object) => ({
    t,
    judge: { key, id, engage: true, confidence: 0.8, why: "Bo asks", ...more },
  });
  const config = { agents: { list: [{ id: "main", name: "Scout" }] }, engagement: { judge } };
  const store = createTestStore();
  const lines = [
    { earshot: 1, config },
    { t: 0, membership: { channel: "irc", chat: "kitchen", humans: 3, bots: 0 } },
    { t: 0, agent: { key, runs: [{ steps: [{ text: "for four" }] }] } },
    said(0, "m1", "nice weather"),
    answered(500, "m1", { engage: false }),
    said(20_000, "m2", "can somebody book a table?"),
    answered(20_500, "m2", {}),
    said(400_000, "m3", "hm"),
    answered(400_500, "m3", { failed: "late" }),
  ];
  await simulateScenario(scenarioOf(lines, "room"), { store });
  for (const redact of [false, true]) {
    let text = "";
    for await (const part of labelledText(store, { since: 0, conversation: key, redact }))
      text += part;
    const [room] = parseLabelledRooms(text);
    const judged = room?.lines.filter(({ by }) => by !== "Scout").map((line) => line.judged);
    expect(judged).toEqual([
      { engage: false, confidence: 0.8 },
      { engage: true, confidence: 0.8 },
      undefined,
    ]);
    expect(text).not.toContain("Bo asks");
  }
});
