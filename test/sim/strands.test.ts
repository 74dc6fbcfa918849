/**
 * Rooms run apart and laid together again print what one run prints, byte for byte; and where that
 * cannot be, the strands end before the first line that would be another.
 */
import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { safeJson } from "../../src/daemon/events/safe-json.ts";
import { play } from "../support/replay/replay.ts";
import { type House, houses } from "./houses.ts";
import { playInStrands } from "./strands.ts";

const runs = { numRuns: Number(process.env.EARSHOT_RUNS ?? 24) };

describe("a house in strands", () => {
  let whole = 0;
  test.prop([houses, fc.constantFrom(2, 3), fc.nat(100)], runs)(
    "prints what one thread prints, as far as the strands go",
    async (house: House, strands, seed) => {
      const options = { seed, prompts: true };
      const alone = await printedAlone(house, options);
      const { lines, why } = await playInStrands(house, strands, options);
      if (why === null) whole += 1;
      expect(lines).toEqual(alone.slice(0, lines.length));
      if (why === null) expect(lines).toHaveLength(alone.length);
    },
    240_000,
  );

  test("which is mostly to the end", () => {
    expect(whole).toBeGreaterThan(runs.numRuns / 4);
  });
});

const printedAlone = async (house: House, options = {}) =>
  (await play(house, options)).map((line) => safeJson(line));

const call = (t: number, chat: string, id: string, text = "scout?") => ({
  t,
  in: {
    channel: "irc",
    chat: { id: chat, kind: "group" },
    id,
    text,
    author: { id: "ann" },
    mentions: [{ id: "self", isSelf: true }],
  },
});
const slowly = (chat: string) => ({
  t: 0,
  agent: {
    key: `agent:main:irc:group:${chat}`,
    runs: [{ steps: [{ waitMs: 60_000 }, { text: "there" }] }],
  },
});
const header = (config: object) => ({ earshot: 1, config });

describe("many rooms at one moment", () => {
  const rooms = Array.from({ length: 12 }, (_, n) => `g${n}`);

  test("come out in the order of the file, and so do their timers", async () => {
    const house = [
      header({ turn: { maxConcurrentTurns: 100 }, agents: { defaults: { maxConcurrent: 100 } } }),
      ...rooms.map((room) => call(0, room, `first ${room}`)),
      ...rooms.map((room) => call(500, room, `second ${room}`)),
    ];
    const { lines, why } = await playInStrands(house, 3, { prompts: true });
    expect(why).toBeNull();
    expect(lines).toEqual(await printedAlone(house, { prompts: true }));
    expect(lines.filter((line) => line.includes("agent_start")).length).toBeGreaterThan(11);
  });

  test("end the strands as soon as one would have waited for a slot of another", async () => {
    const house = [
      header({ turn: { maxConcurrentTurns: 3 } }),
      ...rooms.map(slowly),
      ...rooms.slice(0, 3).map((room) => call(0, room, `m ${room}`)),
      call(30_000, "g4", "one too many"),
    ];
    const { lines, why } = await playInStrands(house, 4);
    expect(why).toBe("turns that wait for others");
    const alone = await printedAlone(house);
    expect(lines).toEqual(alone.slice(0, lines.length));
    expect(lines.some((line) => line.includes('"id":"one too many"'))).toBe(true);
    expect(lines.filter((line) => line.includes("agent_start"))).toHaveLength(3);
    // With one more slot nobody waits.
    const roomy = [header({ turn: { maxConcurrentTurns: 4 } }), ...house.slice(1)];
    const whole = await playInStrands(roomy, 4);
    expect(whole.why).toBeNull();
    expect(whole.lines).toEqual(await printedAlone(roomy));
  });

  test("end them at a command whose answer is about the whole house, and at no other", async () => {
    const config = { commands: { allowFrom: { irc: ["ann"] } } };
    const before = [header(config), ...rooms.map((room) => call(0, room, `m ${room}`, "/model"))];
    const local = await playInStrands(before, 2);
    expect(local.why).toBeNull();
    expect(local.lines).toEqual(await printedAlone(before));
    const house = [...before, call(9_000, "g3", "asks", "/usage"), call(9_001, "g1", "late")];
    const { lines, why } = await playInStrands(house, 2);
    expect(why).toBe("a command about all rooms");
    expect(lines).toEqual(local.lines);
  });
});

describe("strands are not begun", () => {
  const house = [header({}), call(0, "g1", "m1"), call(0, "g2", "m2")];
  test.each<[string, object, RegExp]>([
    ["runs for whoever comes first", { agent: { runs: [{ steps: [] }] } }, /comes first/],
    ["a channel that is slow", { platform: { channel: "irc", send: "hang" } }, /all of its rooms/],
    ["a chat that makes its account wait", slow("429"), /all of its rooms/],
    ["somebody let in", { approve: { sender: "ann" } }, /by a code/],
    ["a crash", { crash: "process" }, /crashes/],
  ])("with %s", async (_what, line, reason) => {
    const { why, refused } = await playInStrands([...house, { t: 0, ...line }], 2);
    expect(refused).toBe(true);
    expect(why).toMatch(reason);
  });

  test("where one room has nearly all lines", async () => {
    const busy = Array.from({ length: 20 }, (_, n) => call(n, "g1", `b${n}`));
    expect((await playInStrands([...house, ...busy], 2)).why).toMatch(/in one place/);
  });

  test("and all direct chats are one place", async () => {
    const direct = ["ann", "bo", "cy"].map((id, n) => ({
      t: n,
      in: { channel: "irc", chat: { id, kind: "direct" }, id: `d${n}`, text: "", author: { id } },
    }));
    expect((await playInStrands([header({}), ...direct], 2)).why).toMatch(/in one place/);
  });
});

function slow(send: string): object {
  return { platform: { channel: "irc", chat: "g1", send } };
}
