/**
 * What an operator does to a conversation is in a recording, and done again in a replay: decisions,
 * turns and replies are the same, redacted or not.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { recordScenario } from "../../../src/actors/recording/recorder.ts";
import type { RecordingLine } from "../../../src/actors/recording/types.ts";
import { redacted } from "../../../src/daemon/replay/recording.ts";
import { simulateScenario } from "../../../src/daemon/replay/simulate.ts";
import { scenarioOf } from "../../../src/domain/scenario/read-scenario.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { property } from "../../support/property.ts";
import { decisions, ends, play, sends } from "../../support/replay/replay.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

const key = "agent:main:telegram:group:room";
const chat = { id: "room", kind: "group" as const };
const ann = { id: "ann", name: "Ann" };
const bo = { id: "bo", name: "Bo" };
const mentioned = { mentions: [{ id: "us", isSelf: true }] };

type Step =
  | { does: "says"; who: typeof ann; addressed: boolean }
  | { does: "reset" | "disengage" | "abort" }
  | { does: "override"; activation: "ladder" | "mention" | "always" | null };

async function lived(
  steps: readonly { step: Step; afterMs: number }[],
  delaysMs: readonly number[] = [],
) {
  const config = {
    access: { groupPolicy: "open" },
    engagement: { stickiness: { windowMs: 90_000 } },
  };
  const world = await new World({ config }).start();
  for (const afterMs of delaysMs) world.runs.push({ afterMs, steps: [{ text: "Well." }] });
  for (const { step, afterMs } of steps) {
    if (step.does === "says")
      await world.say("what now?", {
        chat,
        author: step.who,
        ...(step.addressed ? mentioned : {}),
      });
    else if (step.does === "override")
      await world.runtime.updateSession(key, { override: { activation: step.activation } });
    else if (step.does === "reset") await world.runtime.resetSession(key, { wait: false });
    else if (step.does === "disengage") await world.runtime.disengage(key);
    else await world.runtime.abortTurn(key, "operator");
    await world.pass(afterMs);
  }
  await world.pass(600_000);
  const lines: RecordingLine[] = [];
  for await (const line of recordScenario(world.store, { since: 0 })) lines.push(line);
  return { world, lines };
}

const reported = (lines: readonly StreamLine[]) => ({
  decisions: decisions(lines).map(({ decision, rule, credit }) => `${decision} ${rule} ${credit}`),
  turns: ends(lines).map(({ turn, outcome }) => `${turn} ${outcome}`),
  sends: sends(lines).map(({ status }) => status),
});
const played = (lines: readonly RecordingLine[]) =>
  play(lines as unknown as Record<string, unknown>[]);

async function inOtherWords(lines: readonly RecordingLine[]): Promise<RecordingLine[]> {
  const out: RecordingLine[] = [];
  for await (const line of redacted(lines, "a key")) out.push(line);
  return out;
}

test("each of them is a line of its own, at its moment and in its order", async () => {
  const { lines } = await lived([
    { step: { does: "says", who: ann, addressed: true }, afterMs: 5_000 },
    { step: { does: "override", activation: "always" }, afterMs: 1_000 },
    { step: { does: "disengage" }, afterMs: 1_000 },
    { step: { does: "reset" }, afterMs: 1_000 },
    { step: { does: "says", who: bo, addressed: true }, afterMs: 100 },
  ]);
  const orders = lines.flatMap((line) => ("operator" in line ? [[line.t, line.operator]] : []));
  expect(orders).toEqual([
    [5_000, { key, override: { queue: null, send: null, activation: "always" } }],
    [6_000, { key, does: "disengage" }],
    [7_000, { key, does: "reset" }],
  ]);
});

test("a turn that was ended by hand ends at the same moment again", async () => {
  const { world, lines } = await lived(
    [
      { step: { does: "says", who: ann, addressed: true }, afterMs: 5_000 },
      { step: { does: "abort" }, afterMs: 1_000 },
    ],
    [60_000],
  );
  const was = reported(world.lines);
  expect(was).toMatchObject({ turns: ["1 cancelled"], sends: [] });
  expect(lines).toContainEqual({ t: 5_000, operator: { key, does: "abort" } });
  expect(reported(await played(lines))).toEqual(was);
});

test("what a message ordered is ordered by it again, and by nothing else", async () => {
  const config = {
    access: { groupPolicy: "open" },
    commands: { ownerAllowFrom: ["telegram:ann"] },
  };
  const world = await new World({ config }).start();
  for (const text of ["/activation always", "/new", "/disengage", "/stop"]) {
    await world.say(text, { chat, author: ann, ...mentioned });
    await world.pass(5_000);
  }
  const lines: RecordingLine[] = [];
  for await (const line of recordScenario(world.store, { since: 0 })) lines.push(line);
  expect(lines.filter((line) => "in" in line)).toHaveLength(4);
  expect(lines.filter((line) => "operator" in line)).toEqual([]);
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("says" as const),
      who: fc.constantFrom(ann, bo),
      addressed: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom("reset", "disengage", "abort"),
    }) as fc.Arbitrary<Step>,
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("override" as const),
      activation: fc.constantFrom("ladder" as const, "mention" as const, "always" as const, null),
    }),
  },
);
const steps = fc.array(fc.record({ step, afterMs: fc.constantFrom(3_000, 20_000, 100_000) }), {
  minLength: 1,
  maxLength: 16,
});

const delays = fc.array(fc.constantFrom(0, 4_000, 60_000), { maxLength: 8 });

property([steps, delays], { numRuns: rounds(6, 80) })(
  "a recording with an operator's hand in it replays to the same history",
  async (all, delaysMs) => {
    const { world, lines } = await lived(all, delaysMs);
    if (lines.length === 0) return;
    const was = reported(world.lines);
    expect(reported(await played(lines))).toEqual(was);
    expect(reported(await played(await inOtherWords(lines)))).toEqual(was);
  },
);

test("an order to an agent that is not there changes nothing, and is logged", async () => {
  const logged: string[] = [];
  const lines = [
    { t: 0, operator: { key: "agent:gone:irc:group:g", does: "reset" } },
    { t: 1, in: { channel: "irc", chat, id: "m1", author: ann, text: "hi" } },
  ];
  const out: StreamLine[] = [];
  await simulateScenario(scenarioOf(lines, "lines"), {
    log: (_level, event) => void logged.push(event),
    onLine: (line) => void out.push(line),
  });
  expect(logged).toContain("operator.nothing");
  expect(decisions(out)).toHaveLength(1);
});

test("a key that is none is refused with its place before anything is run", () => {
  const line = { t: 0, operator: { key: "kitchen", does: "reset" } };
  expect(() => scenarioOf([line], "room")).toThrow(/room:1 at operator/u);
});
