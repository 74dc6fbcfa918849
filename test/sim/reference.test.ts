/**
 * The runtime against the reference model, over generated rooms and several configs: every rule of
 * the ladder decides somewhere, and both accounts of it agree on every message.
 */
import { describe, expect, test } from "vitest";
import type { Rule } from "../../src/domain/decision.ts";
import {
  checkRooms,
  differencesFrom,
  messageOf,
  RoomRun,
  ruleCounts,
  simulateRoom,
} from "../../src/testing.ts";
import { rounds } from "../support/rounds.ts";

/** The usual rooms reach every rule; `EARSHOT_RUNS=1000` plays others. */
const asked = process.env.EARSHOT_RUNS;
const effort = (few: number) =>
  asked === undefined ? { numRuns: rounds(few, 30), seed: 4 } : { numRuns: Number(asked) };
const patience = 120_000;
const named = { agents: { list: [{ id: "main", name: "Scout", aliases: ["helper"] }] } };
const agree = (run: RoomRun) =>
  differencesFrom(run).map(({ id, was, expected }) => `${id}: ${was}, expected ${expected}`);

const slow = [
  { steps: [{ text: "Fine." }] },
  { steps: [{ waitMs: 3_000 }, { text: "Later." }] },
  { steps: [{ text: "NO_REPLY" }] },
  { steps: [{ error: "boom" }] },
];

/** With the rules that decide somewhere, and how many rooms it takes. */
const configs: readonly (readonly [string, object, readonly Rule[], number])[] = [
  [
    "the defaults",
    named,
    [
      ...["mention", "reply", "addressed-elsewhere", "sticky", "alias"],
      ...["mentions-others", "reply-to-other", "names-peer-bot", "thread-unknown"],
      ...["solo-human", "default", "duplicate"],
    ] as readonly Rule[],
    15,
  ],
  [
    "sliding credits and a strict guard",
    {
      ...named,
      engagement: { stickiness: { mode: "sliding", windowMs: 60_000 } },
      loopGuard: { hardLimit: 3 },
    },
    ["sticky", "addressed-elsewhere", "loop-guard"],
    15,
  ],
  ["everybody is answered", { ...named, engagement: { activation: "always" } }, ["always"], 6],
  [
    "only calls, and @everyone is one",
    { ...named, engagement: { activation: "mention", trigger: ["mention", "everyone"] } },
    ["mention", "alias", "default"],
    6,
  ],
];

describe.each(configs)("under %s", (_name, config, reached, few) => {
  test(
    "the runtime and the reference agree on every message, and every rule decides",
    async () => {
      const counts: Partial<Record<Rule, number>> = {};
      await checkRooms(config, agree, {
        ...effort(few),
        agents: slow,
        happenings: ["edits", "members", "repeats"],
        onRun: ({ lines }) => {
          for (const [rule, count] of Object.entries(ruleCounts(lines)))
            counts[rule as Rule] = (counts[rule as Rule] ?? 0) + count;
        },
      });
      for (const rule of reached) expect.soft(counts[rule] ?? 0, rule).toBeGreaterThan(0);
    },
    patience,
  );
});

test(
  "in direct chats they agree as well",
  () =>
    checkRooms(named, agree, {
      ...effort(6),
      numRuns: rounds(6, 20),
      chats: [{ id: "d1", kind: "direct" }, { id: "kitchen" }],
      people: ["ann"],
    }),
  patience,
);

test.each([
  ["waits for the platform", { send: "429", retryAfterMs: 5_000 }, ["held", "consumed"]],
  ["is refused", { send: "fail" }, ["none", "none"]],
] as const)("authors are held until the answer that %s is settled", async (_, fate, credits) => {
  const room = [
    { t: 0, membership: { channel: "irc", chat: "kitchen", humans: 3, bots: 1 } },
    { t: 0, platform: { channel: "irc", count: 1, ...fate } },
    { t: 0, in: messageOf("m1", { by: "ann", text: "hello", mentions: ["us"] }) },
    { t: 2_000, in: messageOf("m2", { by: "ann", text: "and then?" }) },
    { t: 20_000, in: messageOf("m3", { by: "ann", text: "and now?" }) },
  ];
  const oneShot = { ...named, engagement: { stickiness: { mode: "one-shot" } } };
  const run = await simulateRoom(oneShot, room);
  expect(run.heard.map(({ credit }) => credit)).toEqual(["none", ...credits]);
  expect(agree(run)).toEqual([]);
});

test("a runtime under other rules than the reference's is found out", async () => {
  const other = { ...named, engagement: { stickiness: { enabled: false } } };
  const found: string[] = [];
  await checkRooms(
    named,
    (run) => {
      found.push(...agree(new RoomRun(other, run.room, run.events)));
      return [];
    },
    { numRuns: rounds(5, 10), seed: 4 },
  );
  expect(found.some((words) => words.includes(": sticky slid, expected"))).toBe(true);
});
