/**
 * The test kit: rooms that meet every edge and print as a chat, a broken rule that is reported as
 * text, and a world that advances step by step.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "../../src/domain/limits.ts";
import { scenarioOf } from "../../src/domain/scenario/read-scenario.ts";
import {
  agentRuns,
  checkRooms,
  createWorld,
  Room,
  type RoomRun,
  RuleBroken,
  rooms,
  simulateRoom,
} from "../../src/testing.ts";
import { play, printed } from "../support/replay/replay.ts";

/** For tests that play many rooms on a busy machine. */
const patience = 120_000;
const config = { agents: { list: [{ id: "main", name: "Scout" }] } };
const sample = (options: Parameters<typeof rooms>[0], numRuns = 100) =>
  fc.sample(rooms(options), { numRuns, seed: 7 });

describe("generated rooms", () => {
  test("wait one before, at and one after every window of their config", () => {
    const waits = new Set<number>();
    for (const { lines } of sample({ config: { messages: { inbound: { debounceMs: 800 } } } }))
      for (const [index, { t }] of lines.entries()) waits.add(t - (lines[index - 1]?.t ?? 0));
    for (const edge of [799, 800, 801, 499, 500, 501, 59_999, 60_000, 60_001, 899_999, 900_001])
      expect([...waits]).toContain(edge);
  });

  test("are scenarios that the runtime takes, whatever may happen in them", () => {
    const all = ["edits", "members", "repeats", "platform", "faults"] as const;
    const kinds = new Set<string>();
    for (const room of sample({ happenings: all, agents: agentRuns })) {
      const [header, ...lines] = room.scenario(config).trim().split("\n");
      expect(header).toBe(JSON.stringify({ earshot: 1, config }));
      for (const kind of scenarioOf(
        lines.map((line) => JSON.parse(line)),
        "room",
      ).kinds)
        kinds.add(kind);
    }
    const expected = ["in", "edit", "delete", "membership", "agent", "platform", "crash"];
    expect([...kinds].sort()).toEqual([...expected, "passivate"].sort());
  });

  test("have the people, bots, chats, threads and words that were asked for, and no others", () => {
    const people = new Set<string>();
    const places = new Set<string>();
    const texts = new Set<string | undefined>();
    const chats = [{ id: "a" }, { id: "b", kind: "direct" as const }];
    const options = { people: ["zoe"], bots: [], chats, threads: [], texts: ["/stop"] };
    for (const room of sample(options))
      for (const { in: message } of room.messages) {
        people.add(message.author.id);
        places.add(`${message.chat.kind} ${message.chat.id} ${message.thread?.id}`);
        texts.add(message.text);
      }
    expect([...people]).toEqual(["zoe"]);
    expect([...places].sort()).toEqual(["direct b undefined", "group a undefined"]);
    expect([...texts]).toContain("/stop");
  });

  test("print as a chat, with hostile words on one harmless line", () => {
    const chat = { id: "kitchen", kind: "group" as const };
    const text = "a\u001b]52;c;x\u0007b\nc\u202ed";
    const room = new Room([
      { t: 61_001, in: { channel: "irc", chat, id: "m1", author: { id: "ann" }, text } },
      {
        t: 3_661_000,
        in: {
          channel: "irc",
          chat,
          id: "m2",
          author: { id: "rex", isBot: true },
          text: "x".repeat(limits.textUnitsMax),
          mentions: [{ id: "s", isSelf: true }],
        },
      },
    ]);
    const [, first, second, ...rest] = `${room}`.split("\n");
    expect(first).toMatch(/^ +1:01\.001 {2}m1 ann: “a.*b c.*d”$/u);
    expect(first).not.toMatch(/[\p{Cc}\p{Bidi_C}]/u);
    expect(second).toMatch(/^ +1:01:01\.000 {2}m2 rex \(bot\): “x+…?”, mentions the agent$/u);
    expect(second?.length).toBeLessThan(200);
    expect(rest).toEqual([""]);
  });
});

describe("a played room", () => {
  test("is what `earshot replay` prints for the same lines", async () => {
    const [room] = fc.sample(rooms({ config, agents: agentRuns }), { numRuns: 1, seed: 3 });
    const run = await simulateRoom(config, room as Room);
    const lines = (room as Room).scenario(config).trim().split("\n");
    expect(run.answers.length).toBeGreaterThan(2);
    expect(printed(run.lines)).toBe(printed(await play(lines.map((line) => JSON.parse(line)))));
  });

  test("ties messages to the turns and answers they led to", async () => {
    const world = createWorld(config, { bots: ["rex"], prompts: true });
    await world.agent({ steps: [{ text: "Soup, bo." }] });
    await world.say("ann", "hello");
    await world.say("bo", "what is for lunch?", { mentions: ["us"] });
    await world.wait(5_000);
    const run = world.run();
    const { turn, rule } = run.message("m1");
    expect(rule).toBe("solo-human");
    expect(turn?.batch).toEqual(["m1"]);
    expect(turn?.answers.map(({ text, status }) => `${text} ${status}`)).toEqual([
      "Soup, bo. sent",
    ]);
    expect(turn?.prompt).toContain("hello");
    expect(run.turns.map(({ outcome }) => outcome)).toEqual(["replied", "replied"]);
    expect(run.engaged("mention").map(({ message }) => message.id)).toEqual(["m2"]);
    expect(run.by("bo")).toEqual([run.message("m2")]);
    expect(() => run.message("m9")).toThrow("m9");
    await world.close();
  });
});

/** Bots are answered at most twice between two lines of people: not so by default. */
const atMostTwo = (run: RoomRun) => {
  let count = 0;
  return run.heard.flatMap((heard) => {
    if (!heard.message.author.isBot) count = 0;
    else if (heard.decision === "engage") count += 1;
    return count > 2 ? [heard] : [];
  });
};

describe("a broken rule", () => {
  const check = (options = {}) =>
    checkRooms(config, atMostTwo, { numRuns: 300, threads: [], ...options }).then(
      () => null,
      (error: unknown) => error,
    );

  test(
    "is told with a small room, the ladder, seed and path, and comes back by them",
    async () => {
      const error = (await check({ seed: 12 })) as RuleBroken;
      expect(error).toBeInstanceOf(RuleBroken);
      expect(error.room.lines).toHaveLength(3);
      expect(error.room.messages.every(({ in: { author } }) => author.id === "rex")).toBe(true);
      expect(error.message).toMatch(/m3 rex \(bot\): “.*\n +\S+ +engage \(\w+/u);
      expect(error.message).toContain("What breaks it: m3, engage (");
      expect(error.message).toMatch(/^ {2}● \w+ +\S/mu);
      expect(error.message).toContain(`{ seed: ${error.seed}, path: "${error.path}" }`);
      const again = (await check({ seed: error.seed, path: error.path })) as RuleBroken;
      expect(`${again.room}`).toBe(`${error.room}`);
    },
    patience,
  );

  test(
    "holds under a config that keeps it",
    async () => {
      const strict = { ...config, loopGuard: { hardLimit: 2 } };
      let mutedLines = 0;
      await checkRooms(strict, atMostTwo, {
        numRuns: 12,
        threads: [],
        seed: 12,
        onRun: ({ heard }) => {
          mutedLines += heard.filter(({ rule }) => rule === "loop-guard").length;
        },
      });
      expect(mutedLines).toBeGreaterThan(0);
    },
    patience,
  );

  test("that throws is reported as what it threw", async () => {
    const failing = () => {
      throw new TypeError("no such thing");
    };
    const error = await checkRooms(config, failing, { numRuns: 3 }).catch((one: Error) => one);
    expect(error).toMatchObject({ cause: { message: "no such thing" } });
    expect(error).not.toBeInstanceOf(RuleBroken);
  });

  test("of a config that is not fine is not even looked for", async () => {
    await expect(checkRooms({ engagment: {} }, () => [])).rejects.toThrow("engagement");
  });
});

describe("a world", () => {
  test("goes on step by step, through faults, and ends the same as one played at once", async () => {
    const world = createWorld(config, { bots: ["rex"] });
    await world.say("ann", "hello");
    await world.wait(600);
    await world.members(3);
    await world.platform({ send: "429", retryAfterMs: 1_500 });
    const [asked] = await world.say("bo", "scout?", { repliesTo: "ann" });
    expect(asked).toMatchObject({ decision: "engage", rule: "alias", key: expect.any(String) });
    await world.edit("m2", "scout!");
    await world.wait(600);
    expect(world.run().turns.at(-1)?.answers).toEqual([]);
    await world.wait(1_500);
    expect(world.run().turns.at(-1)?.answers).toMatchObject([{ status: "sent" }]);
    await world.crash("process");
    await world.sleep();
    const [credited] = await world.say("bo", "and you?");
    expect(credited).toMatchObject({ rule: "sticky", credit: "slid" });
    await world.configure({ ...config, engagement: { activation: "always" } });
    await world.crash("host");
    const [plain] = await world.say("cy", "me too");
    expect(plain?.rule).toBe("always");
    const run = world.run();
    await world.wait(90_000);
    const { room, lines } = world.run();
    await world.close();
    expect(run.lines).toEqual(lines.slice(0, run.lines.length));
    expect(printed((await simulateRoom(config, room)).lines)).toBe(printed(lines));
    expect(await run.why("m4")).toMatch(/m4: engage \(always\)/);
    await expect(world.say("ann", "anyone?")).rejects.toThrow("ended");
  });

  test("tells whoever takes a step what is wrong with the step, or with the config", async () => {
    const world = createWorld(config);
    await expect(world.platform({ send: "never" as "ok" })).rejects.toThrow("platform");
    await expect(world.edit("m1", "x")).rejects.toThrow("the room has no such message");
    await world.close();
    await expect(createWorld({ agents: 3 }).say("ann", "hello")).rejects.toThrow("agents");
  });
});
