/**
 * Recordings of generated rooms: what was recorded replays to the same history, redacted or not,
 * and a redacted one holds no word of the room.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recordScenario } from "../../src/actors/recording/recorder.ts";
import type { RecordingLine } from "../../src/actors/recording/types.ts";
import { redacted } from "../../src/daemon/replay/recording.ts";
import { simulateScenario } from "../../src/daemon/replay/simulate.ts";
import { parseScenario, scenarioOf } from "../../src/domain/scenario/read-scenario.ts";
import type { StreamLine } from "../../src/domain/stream.ts";
import { floorWords } from "../../src/machines/engagement/floor-words.ts";
import { property } from "../support/property.ts";
import { decisions, ends, play, sends } from "../support/replay/replay.ts";
import { rounds } from "../support/rounds.ts";
import { createTestStore } from "../support/runtime/test-store.ts";
import { rooms } from "./generated.ts";

const runs = { numRuns: rounds(3, 24) };
type Line = Record<string, unknown>;

/** Plays a room and records what its journal says. */
async function recorded(
  room: readonly Line[],
): Promise<{ was: StreamLine[]; lines: RecordingLine[] }> {
  const store = createTestStore();
  const was: StreamLine[] = [];
  const text = room.map((line) => JSON.stringify(line)).join("\n");
  await simulateScenario(parseScenario(text, "room"), { store, onLine: (line) => was.push(line) });
  const lines: RecordingLine[] = [];
  for await (const line of recordScenario(store, { since: 0 })) lines.push(line);
  return { was, lines };
}

async function inOtherWords(lines: readonly unknown[]): Promise<RecordingLine[]> {
  const { header, lines: rest } = scenarioOf(lines, "room");
  const out: RecordingLine[] = [];
  for await (const line of redacted([header, ...rest], "a key")) out.push(line);
  return out;
}

const again = (lines: readonly RecordingLine[]) => play(lines as readonly unknown[] as Line[]);

/** What was decided and what came of it, without names. */
const history = (lines: readonly StreamLine[]) => ({
  decisions: decisions(lines).map(({ t, decision, rule, credit }) => ({
    t,
    decision,
    rule,
    credit,
  })),
  turns: ends(lines).map(({ t, turn, outcome }) => ({ t, turn, outcome })),
  sends: sends(lines).map(({ t, status, text }) => ({ t, status, units: text.length })),
});

/** The same in ms since the first decision: a recording begins with its first event. */
function sinceFirst(lines: readonly StreamLine[]) {
  const first = decisions(lines)[0]?.t ?? 0;
  const { sends: all, ...rest } = history(lines.map((line) => ({ ...line, t: line.t - first })));
  // Tries that were followed by another leave no trace in the journal.
  const last = all.filter(({ status }) => status !== "in-doubt");
  return { ...rest, sends: last.map(({ status, units }) => ({ status, units })) };
}

test("a turn slot that came when nothing waited for it any more is no run of a recording", async () => {
  const direct = (t: number, id: string, who: string, isBot = false) =>
    heard(t, id, { chat: { id: "d1", kind: "direct" }, author: { id: who, isBot } });
  const room = [
    { earshot: 1, config: {} },
    direct(0, "m0", "bo"),
    direct(0, "m1", "rex", true),
    direct(100, "m2", "ann"),
    heard(100, "m3", { author: { id: "ann" }, text: "hello" }),
  ];
  const { was, lines } = await recorded(room);
  expect(ends(was).map(({ outcome }) => outcome)).toEqual(["replied", "replied", "replied"]);
  expect(sinceFirst(await again(lines))).toEqual(sinceFirst(was));
});

/** A room in which hosts and the whole process go down now and then. */
const shaky = fc
  .tuple(
    rooms,
    fc.array(fc.tuple(fc.nat(400), fc.constantFrom("host", "process"), fc.nat(9_000)), {
      maxLength: 4,
    }),
  )
  .map(([room, crashes]) => {
    const lines: Line[] = room.filter(
      (line) => !/"send":"(?:hang|429)"/.test(JSON.stringify(line)),
    );
    for (const [place, crash, laterMs] of crashes) {
      const at = 1 + (place % Math.max(1, lines.length - 1));
      const t = Number(lines[at]?.t ?? 0) + laterMs;
      const after = lines.findIndex((line) => Number(line.t ?? 0) > t);
      lines.splice(after === -1 ? lines.length : after, 0, { t, crash });
    }
    return lines;
  });

const heard = (t: number, id: string, more: Line = {}): Line => ({
  t,
  in: {
    channel: "irc",
    chat: { id: "g", kind: "group" },
    id,
    author: { id: "ann" },
    text: "so?",
    ...more,
  },
});

/** The same room where the agent can be steered, each run this often. */
const steered = fc
  .tuple(rooms, fc.constantFrom("steer", "steer-backlog"), fc.array(fc.nat(2), { minLength: 1 }))
  .map(([room, mode, counts]) =>
    room.map((line, index) => {
      if ("earshot" in line) {
        const config = line.config as Line;
        return { ...line, config: { ...config, messages: { queue: { mode } } } };
      }
      if (!("agent" in line)) return line;
      const { runs: given } = line.agent as { runs: { steps: Line[] }[] };
      const takes = Array.from({ length: counts[index % counts.length] ?? 0 }, () => ({
        steer: true,
      }));
      return {
        ...line,
        agent: { runs: given.map(({ steps }) => ({ steps: [...steps, ...takes] })) },
      };
    }),
  );

describe("a recording of a room whose agent is steered", () => {
  const room = (takes: number): Line[] => [
    { earshot: 1, config: { messages: { queue: { mode: "steer" } } } },
    {
      t: 0,
      agent: {
        runs: [
          {
            steps: [
              { waitMs: 5_000 },
              ...Array.from({ length: takes }, () => ({ steer: true })),
              { text: "Both." },
            ],
          },
        ],
      },
    },
    ...[1, 2_000, 3_500].map((t, n) =>
      heard(t, `m${n}`, { mentions: [{ id: "self", isSelf: true }] }),
    ),
  ];

  test.each([
    [0, 3],
    [1, 2],
    [2, 1],
  ])(
    "where its run takes %i of two messages there are %i turns, then and now",
    async (takes, turns) => {
      const { was, lines } = await recorded(room(takes));
      expect(ends(was)).toHaveLength(turns);
      const steps = lines.flatMap((line) =>
        "agent" in line ? line.agent.runs.flatMap(({ steps }) => steps) : [],
      );
      expect(steps.filter((step) => "steer" in step)).toHaveLength(takes);
      expect(sinceFirst(await again(lines))).toEqual(sinceFirst(was));
    },
  );

  property([fc.oneof(rooms, steered)], { numRuns: rounds(4, 48) })(
    "replays to the same history, as that of any room does",
    async (room) => {
      // Of a platform that asks to wait, or does not answer, the journal knows only when it ended.
      const answered = room.filter((line) => !/"send":"(?:hang|429)"/.test(JSON.stringify(line)));
      const { was, lines } = await recorded(answered);
      expect(sinceFirst(await again(lines))).toEqual(sinceFirst(was));
    },
  );
});

describe("a recording of a room with crashes", () => {
  test.each(["host", "process"])(
    "has a turn end when it did, after a %s went down",
    async (crash) => {
      const { was, lines } = await recorded([
        {
          earshot: 1,
          config: {
            agents: { list: [{ id: "main", name: "Scout" }] },
            engagement: { stickiness: { mode: "one-shot" } },
          },
        },
        { t: 0, membership: { channel: "irc", chat: { id: "g", kind: "group" }, humans: 5 } },
        { t: 0, agent: { runs: [{ steps: [{ waitMs: 3_000 }, { text: "Later." }] }] } },
        heard(1, "m1", { mentions: [{ id: "self", isSelf: true }] }),
        { t: 2_500, crash },
        // The answer came at 5,500: until then she is credited by the turn alone.
        heard(4_500, "m2"),
        heard(100_000, "m3"),
      ]);
      const recordedTurns = sinceFirst(was);
      expect(recordedTurns.decisions.map(({ credit }) => credit)).toContain("held");
      expect(sinceFirst(await again(lines))).toEqual(recordedTurns);
    },
  );

  test("has a turn that was tried too often fail when it did", async () => {
    const { was, lines } = await recorded([
      { t: 0, agent: { runs: [{ steps: [{ waitMs: 9_000 }, { text: "Late." }] }] } },
      heard(1, "m1", { mentions: [{ id: "self", isSelf: true }] }),
      ...[1_000, 2_000, 3_000, 4_000].map((t) => ({ t, crash: "process" })),
      heard(6_000, "m2"),
    ]);
    const { turns } = sinceFirst(was);
    expect(turns[0]?.outcome).toBe("failed");
    expect(turns[0]?.t).toBeLessThan(4_000);
    expect(sinceFirst(await again(lines)).turns).toEqual(turns);
  });

  property([shaky], runs)("replays to the same decisions without them", async (room) => {
    const { was, lines } = await recorded(room);
    expect(sinceFirst(await again(lines)).decisions).toEqual(sinceFirst(was).decisions);
  });
});

describe("a redacted scenario", () => {
  property([rooms], runs)("replays to the same history in other words", async (room) => {
    const other = await inOtherWords(room);
    expect(history(await again(other))).toEqual(history(await play(room)));
  });

  property([rooms], runs)("keeps no word of the room but names of ours", async (room) => {
    const words = (value: unknown) =>
      new Set(
        JSON.stringify(value)
          .match(/(?<=")[^"]*(?=")/g)
          ?.join(" ")
          .toLowerCase()
          .match(/\p{L}{4,}/gu),
      );
    const said = room.slice(1).flatMap((line) => texts(line));
    const left = (await inOtherWords(room)).slice(1).flatMap((line) => texts(line));
    // Beside names of ours: the silent token, what the simulator calls what it has sent, and words by
    // which mode "floor" decides.
    const kept = new Set(["scout", "reply", "sent", ...floorWords]);
    for (const word of words(said)) if (!kept.has(word)) expect(words(left)).not.toContain(word);
  });
});

/** Everything somebody said or is called. */
function texts(value: unknown, field = ""): string[] {
  if (typeof value === "string")
    return ["text", "name", "id", "title"].includes(field) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    texts(one, Array.isArray(value) ? field : name),
  );
}
