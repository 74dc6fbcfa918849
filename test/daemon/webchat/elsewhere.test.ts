/**
 * What pages show of a turn that runs on another node, when lines of it come late, twice, or never: on a
 * simulated clock, over a copy whose rows come when the test says so.
 */
import { expect, test } from "vitest";
import { conversationOf } from "../../../src/actors/protocol/event-codec.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import type { ServerFrame } from "../../../src/adapters/channels/webchat/protocol.ts";
import { createFollower } from "../../../src/daemon/webchat/follower.ts";
import type { WebchatHistory } from "../../../src/daemon/webchat/history.ts";
import { createPages } from "../../../src/daemon/webchat/pages.ts";
import type { RunRow } from "../../../src/domain/ports/index.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";

const key = "agent:main:main";
const { conv } = conversationOf(key);
const start = (turnId: string): StreamLine => ({
  t: 0,
  key,
  event: "agent_start",
  turn: 1,
  batch: ["m1"],
  replyTo: "m1",
  guard: false,
  nudge: false,
  turnId,
});
const grew = (turnId: string, text: string): StreamLine => ({
  t: 0,
  key,
  event: "delta",
  turnId,
  text,
});
const end: StreamLine = { t: 0, key, event: "agent_end", turn: 1, outcome: "replied" };

function openHub() {
  const clock = new SimulatedClock();
  /** Messages and turns that are in the copy. */
  const held = new Set<string>();
  const runs = new Set<string>();
  const chat: WebchatHistory = {
    refresh: async () => undefined,
    after: () => [],
    find: () => null,
    taken: () => [],
    shows: () => true,
    holds: (message) => held.has(message),
    decided: () => undefined,
    attached: () => undefined,
    readTo: () => 0,
  };
  const pages = createPages({ clock, chat });
  const failed: unknown[] = [];
  const follower = createFollower({
    clock,
    log: (...entry) => void failed.push(entry),
    keys: () => [key],
    store: {
      outboxRow: async () => null,
      outboxByTurn: async () => [],
      runs: async () =>
        [...runs].map((turnId): RunRow => {
          return { conv, key, agentId: "main", turnId, state: "running", since: 0 };
        }),
    },
    isCopy: true,
    isHere: () => false,
    chat,
    pages,
  });
  const shown: string[] = [];
  const open = () =>
    pages.open({
      send: (frame) => void shown.push(said(frame)),
      close: () => undefined,
      sentTo: 0,
    });
  open();
  /** Lets what is under way end, then time pass. */
  async function pass(ms = 0) {
    for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
    for (const until = clock.now() + ms; clock.now() < until; ) {
      clock.advanceTo(Math.min(until, clock.now() + 1_000));
      for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
    }
    expect(failed).toEqual([]);
  }
  return { clock, held, runs, pages, follower, shown, open, pass };
}

function said(frame: ServerFrame): string {
  if (frame.type === "turn") return `${frame.state} ${frame.turnId} ${frame.outcome ?? ""}`.trim();
  if (frame.type === "delta") return `${frame.turnId}: ${frame.text}`;
  if (frame.type === "typing") return `typing ${frame.on ? "on" : "off"}`;
  return frame.type === "ack" ? `${frame.emoji} on ${frame.message}` : frame.type;
}

test("a turn starts on the page once, when the message that it answers is there, and grows then", async () => {
  const { follower, held, runs, shown, pass } = openHub();
  follower.line(start("t1"));
  follower.line(grew("t1", "Once"));
  await pass();
  expect(shown).toEqual([]);
  held.add("m1");
  runs.add("t1");
  follower.changed(conv);
  follower.changed(conv);
  follower.line(grew("t1", "Once there"));
  await pass();
  expect(shown).toEqual(["start t1", "t1: Once there"]);
});

test("a turn ends on the page when the copy has its end; a text after that changes nothing", async () => {
  const { follower, held, runs, shown, pass } = openHub();
  held.add("m1");
  runs.add("t1");
  follower.line(start("t1"));
  follower.line(end);
  await pass(200);
  expect(shown).toEqual(["start t1"]);
  runs.delete("t1");
  follower.line(grew("t1", "Once"));
  await pass(10_000);
  expect(shown).toEqual(["start t1", "end t1 replied"]);
  await pass(60_000);
  expect(shown).toHaveLength(2);
});

test("of a turn that was over before its start was read, both are shown", async () => {
  const { follower, held, shown, pass } = openHub();
  follower.line(start("t1"));
  follower.line(end);
  await pass();
  held.add("m1");
  await pass(1_000);
  expect(shown).toEqual(["start t1", "end t1 replied"]);
});

test("a turn whose end nobody said, as its node died, goes on while it runs in the copy, and ends when it does not", async () => {
  const { follower, held, runs, shown, pass } = openHub();
  held.add("m1");
  runs.add("t1");
  follower.line(start("t1"));
  await pass(300_000);
  expect(shown).toEqual(["start t1"]);
  runs.delete("t1");
  await pass(30_000);
  expect(shown).toEqual(["start t1", "end t1"]);
});

test("typing goes on while it is renewed, and ends when its node has been silent for 20 s", async () => {
  const { follower, shown, open, pass } = openHub();
  for (let times = 0; times < 10; times += 1) {
    follower.heard({ type: "typing", on: true });
    await pass(6_000);
  }
  expect(new Set(shown)).toEqual(new Set(["typing on"]));
  // A page that is opened now sees it.
  open();
  expect(shown).toHaveLength(11);
  await pass(20_000);
  expect(shown.at(-1)).toBe("typing off");
  const { length } = shown;
  open();
  await pass(60_000);
  expect(shown).toHaveLength(length);
});

test("acks are shown; what is no frame, or one of a version that sends more, is not", async () => {
  const { follower, shown, pass } = openHub();
  follower.heard({ type: "ack", message: "m1", emoji: "👀", on: true });
  for (const frame of [null, "typing", { type: "dance" }, { type: "typing" }, { type: "said" }])
    follower.heard(frame);
  await pass();
  expect(shown).toEqual(["👀 on m1"]);
});
