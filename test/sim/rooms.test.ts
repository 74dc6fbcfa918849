/**
 * Laws of any room, over generated ones, through the whole runtime: every message has one decision,
 * every turn one end, the same seed gives the same bytes, and passivating or crashing changes no
 * decision.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { property } from "../support/property.ts";
import {
  decisions,
  drops,
  ends,
  play,
  printed,
  sends,
  starts,
  verdicts,
} from "../support/replay/replay.ts";
import { rounds } from "../support/rounds.ts";
import { rooms, withLine } from "./generated.ts";
import { manyRooms } from "./many-rooms.ts";

const runs = { numRuns: rounds(12, 30) };

describe("any room", () => {
  property([rooms], runs)(
    "every message has one decision, every turn one start and one end",
    async (room) => {
      const lines = await play(room);
      const heard = room.filter((line) => "in" in line);
      expect(decisions(lines)).toHaveLength(heard.length);
      const turn = ({ key, turn }: { key: string; turn: number }) => `${key} ${turn}`;
      expect(ends(lines).map(turn)).toEqual(expect.arrayContaining(starts(lines).map(turn)));
      expect(new Set(starts(lines).map(turn)).size).toBe(starts(lines).length);
      expect(ends(lines)).toHaveLength(starts(lines).length);
    },
  );

  property([rooms], runs)(
    "an engaged message is in exactly one turn, or was dropped",
    async (room) => {
      const lines = await play(room);
      const engaged = decisions(lines).filter(({ decision }) => decision === "engage");
      const taken = starts(lines).flatMap(({ key, batch }) => batch.map((id) => `${key} ${id}`));
      const dropped = drops(lines).map(({ key, message }) => `${key} ${message}`);
      expect(new Set(taken).size).toBe(taken.length);
      for (const { key, id } of engaged)
        expect([...taken, ...dropped].filter((one) => one === `${key} ${id}`)).toHaveLength(1);
    },
  );

  property([rooms], runs)("typing and reactions end when the turns have ended", async (room) => {
    const typing = new Map<string, boolean>();
    const reactions = new Map<string, number>();
    for (const line of await play(room)) {
      if ("system" in line || !("out" in line)) continue;
      if (line.out === "typing") typing.set(line.chat, line.on);
      if (line.out === "react" || line.out === "unreact") {
        const mark = `${line.chat} ${line.message}`;
        reactions.set(mark, (reactions.get(mark) ?? 0) + (line.out === "react" ? 1 : -1));
      }
    }
    expect([...typing.values()]).not.toContain(true);
    expect([...reactions].filter(([, count]) => count !== 0)).toEqual([]);
  });
});

describe("invariant 14: passivating and restoring change nothing", () => {
  property([rooms, fc.nat(60), fc.nat(60)], runs)(
    "at any point, twice",
    async (room, first, second) => {
      const rested = withLine(withLine(room, first, { passivate: true }), second, {
        passivate: true,
      });
      expect(printed(await play(rested))).toBe(printed(await play(room)));
    },
  );

  property([rooms, fc.nat(60)], runs)("a lost host changes no decision", async (room, at) => {
    const crashed = withLine(room, at, { crash: "host" });
    expect(verdicts(await play(crashed))).toEqual(verdicts(await play(room)));
  });

  property([rooms, fc.nat(60)], runs)("a killed process doubles no reply", async (room, at) => {
    const lines = await play(withLine(room, at, { crash: "process" }));
    const sent = sends(lines).filter(({ status }) => status === "sent");
    expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
    expect(decisions(lines)).toHaveLength(room.filter((line) => "in" in line).length);
    expect(ends(lines)).toHaveLength(starts(lines).length);
  });
});

describe("invariant 15: same seed, same history", () => {
  const twice = async (lines: Parameters<typeof play>[0], seed: number) => {
    const first = printed(await play(lines, { seed, prompts: true }));
    expect(printed(await play(lines, { seed, prompts: true }))).toBe(first);
    return first;
  };

  property([rooms, fc.nat(1_000)], runs)("of any room", async (room, seed) => {
    await twice(room, seed);
  });

  property([manyRooms, fc.nat(1_000)], runs)("of many rooms at once", async (lines, seed) => {
    await twice(lines, seed);
  });

  property([rooms, fc.nat(60), fc.nat(60), fc.constantFrom("host", "process")], runs)(
    "through a passivation and a crash",
    async (room, rest, crash, what) => {
      await twice(withLine(withLine(room, rest, { passivate: true }), crash, { crash: what }), 7);
    },
  );

  test("and another seed gives another one", async () => {
    const [room] = fc.sample(rooms, { numRuns: 1, seed: 11 });
    const lines = await play(room ?? []);
    expect(starts(lines).length).toBeGreaterThan(3);
    expect(printed(await play(room ?? [], { seed: 2 }))).not.toBe(printed(lines));
  });

  test("where much happens at one moment, in the order of the file", async () => {
    const names = Array.from({ length: 12 }, (_, n) => `g${n}`);
    const call = (t: number, chat: string, id: string) => ({
      t,
      in: {
        channel: "irc",
        chat: { id: chat, kind: "group" },
        id,
        text: "scout?",
        author: { id: "ann" },
        mentions: [{ id: "self", isSelf: true }],
      },
    });
    const config = {
      turn: { maxConcurrentTurns: 100 },
      agents: { defaults: { maxConcurrent: 100 } },
    };
    const lines = await play([
      { earshot: 1, config },
      ...names.map((name) => call(0, name, `first ${name}`)),
      ...names.map((name) => call(500, name, `second ${name}`)),
    ]);
    const order = [
      ...names.map((name) => `first ${name}`),
      ...names.map((name) => `second ${name}`),
    ];
    expect(decisions(lines).map(({ id }) => id)).toEqual(order);
    // Their windows, too, end in the order in which they began.
    expect(
      starts(lines)
        .slice(0, 12)
        .map(({ batch }) => batch[0]),
    ).toEqual(order.slice(0, 12));
  });
});
