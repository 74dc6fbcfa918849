/**
 * Laws of any room, over generated ones, through the whole runtime: every message has one decision,
 * every turn one end, the same seed gives the same bytes, and passivating or crashing changes no
 * decision.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StreamLine } from "../../src/domain/stream.ts";
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

const runs = { numRuns: rounds(3, 30) };

type Room = Parameters<typeof play>[0];
const turnOf = ({ key, turn }: { key: string; turn: number }) => `${key} ${turn}`;

/** That every message has one decision, every turn one start and one end. */
function expectEachOnce(room: Room, lines: readonly StreamLine[]): void {
  const heard = room.filter((line) => "in" in line);
  expect(decisions(lines), "one decision each").toHaveLength(heard.length);
  expect(ends(lines).map(turnOf)).toEqual(expect.arrayContaining(starts(lines).map(turnOf)));
  expect(new Set(starts(lines).map(turnOf)).size, "one start").toBe(starts(lines).length);
  expect(ends(lines), "one end").toHaveLength(starts(lines).length);
}

/** That an engaged message is in exactly one turn, or was dropped. */
function expectEngagedInOne(lines: readonly StreamLine[]): void {
  const engaged = decisions(lines).filter(({ decision }) => decision === "engage");
  const taken = starts(lines).flatMap(({ key, batch }) => batch.map((id) => `${key} ${id}`));
  const dropped = drops(lines).map(({ key, message }) => `${key} ${message}`);
  expect(new Set(taken).size, "in no two turns").toBe(taken.length);
  for (const { key, id } of engaged)
    expect([...taken, ...dropped].filter((one) => one === `${key} ${id}`)).toHaveLength(1);
}

/** That typing and reactions end when the turns have ended. */
function expectNothingLeft(lines: readonly StreamLine[]): void {
  const typing = new Map<string, boolean>();
  const reactions = new Map<string, number>();
  for (const line of lines) {
    if ("system" in line || !("out" in line)) continue;
    if (line.out === "typing") typing.set(line.chat, line.on);
    if (line.out === "react" || line.out === "unreact") {
      const mark = `${line.chat} ${line.message}`;
      reactions.set(mark, (reactions.get(mark) ?? 0) + (line.out === "react" ? 1 : -1));
    }
  }
  expect([...typing.values()], "typing").not.toContain(true);
  expect(
    [...reactions].filter(([, count]) => count !== 0),
    "reactions",
  ).toEqual([]);
}

// Each in one play of the room, as playing it is what costs.
property([rooms, fc.nat(60), fc.nat(60), fc.nat(60)], runs)(
  "in any room each message has one decision, each turn one start and one end, an engaged message is in one turn " +
    "or dropped, nothing stays typing or reacted; passivating at two points changes nothing, a lost host no decision",
  async (room, first, second, at) => {
    const lines = await play(room);
    expectEachOnce(room, lines);
    expectEngagedInOne(lines);
    expectNothingLeft(lines);
    const rested = withLine(withLine(room, first, { passivate: true }), second, {
      passivate: true,
    });
    expect(printed(await play(rested)), "invariant 14, passivated").toBe(printed(lines));
    const crashed = withLine(room, at, { crash: "host" });
    expect(verdicts(await play(crashed)), "invariant 14, a lost host").toEqual(verdicts(lines));
  },
);

property([rooms, fc.nat(60)], runs)("a killed process doubles no reply", async (room, at) => {
  const lines = await play(withLine(room, at, { crash: "process" }));
  const sent = sends(lines).filter(({ status }) => status === "sent");
  expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
  expect(decisions(lines)).toHaveLength(room.filter((line) => "in" in line).length);
  expect(ends(lines)).toHaveLength(starts(lines).length);
});

describe("invariant 15: same seed, same history", () => {
  const twice = async (lines: Parameters<typeof play>[0], seed: number) => {
    const first = printed(await play(lines, { seed, prompts: true }));
    expect(printed(await play(lines, { seed, prompts: true }))).toBe(first);
    return first;
  };

  property([manyRooms, fc.nat(1_000)], runs)("of many rooms at once", async (lines, seed) => {
    await twice(lines, seed);
  });

  const lasts = [null, "host", "process"] as const;
  property([rooms, fc.nat(1_000), fc.nat(60), fc.nat(60), fc.constantFrom(...lasts)], runs)(
    "of any room, as it is or through a passivation and a crash",
    async (room, seed, rest, crash, what) => {
      const through = () =>
        withLine(withLine(room, rest, { passivate: true }), crash, { crash: what });
      await twice(what === null ? room : through(), seed);
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
