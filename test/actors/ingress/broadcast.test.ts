/**
 * Several agents in one room, through the whole runtime: which are called, which comes first, which
 * sees which answers, and that one of them failing, hanging or dying does not stop the others.
 */
import { describe, expect, test } from "vitest";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { roommate } from "../../support/agents/roommate-agent.ts";
import { World, type WorldOptions } from "../../support/runtime/world.ts";

type Doing = "answer" | "fail" | "hang" | "nothing";
interface Mate {
  readonly id: string;
  readonly does?: Doing;
  readonly afterMs?: number;
  readonly words?: string;
}
const scout: Mate = { id: "scout", afterMs: 3_000 };
const rover: Mate = { id: "rover" };
const medic: Mate = { id: "medic", afterMs: 2_000 };

const configOf = (mates: readonly Mate[], strategy: string, more: object = {}) => ({
  agents: {
    list: mates.map(({ id, ...driver }) => ({
      id,
      name: `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
      driver: { kind: "roommate", ...driver },
    })),
  },
  broadcast: { strategy, "telegram:room": mates.map(({ id }) => id) },
  engagement: { activation: "always" },
  ...more,
});

const open = (mates: readonly Mate[], strategy = "sequential", options: WorldOptions = {}) =>
  new World({
    drivers: [roommate as AgentDriver],
    prompts: true,
    ...options,
    config: { ...configOf(mates, strategy), ...options.config },
  }).start();

const said = (world: World) => world.sent.map(({ text }) => text);
const who = (key: string | null) => (key ?? "").split(":")[1] ?? "";
const verdicts = (world: World, id: string) =>
  Object.fromEntries(
    world
      .decisions()
      .filter((line) => line.id === id)
      .map(({ key, rule }) => [who(String(key)), rule]),
  );
interface OutputLine {
  readonly event?: string;
  readonly key: string;
  readonly batch: readonly string[];
  readonly outcome: string;
  readonly turn: number;
  readonly text: string;
}
const reported = (world: World) => world.lines as unknown as readonly OutputLine[];
/** Turns as they began and ended: `+scout 1`, `-scout replied`. */
const turnsOf = (world: World) =>
  reported(world).flatMap((line) => {
    if (line.event === "agent_start") return [`+${who(line.key)} ${line.batch.join("+")}`];
    return line.event === "agent_end" ? [`-${who(line.key)} ${line.outcome}`] : [];
  });
const prompt = (world: World, agentId: string, turn = 1) =>
  reported(world).find(
    (line) => line.event === "prompt" && who(line.key) === agentId && line.turn === turn,
  )?.text ?? "";
const minutes = 60_000;

describe("one after the other", () => {
  test("each begins when the one before has been heard in the room, and knows its words", async () => {
    const world = await open([scout, rover, medic]);
    await world.say("what now?", { id: "1" });
    await world.pass(minutes);
    expect(turnsOf(world)).toEqual([
      ...["+scout 1", "-scout replied", "+rover 1", "-rover replied"],
      ...["+medic 1", "-medic replied"],
    ]);
    expect(said(world)).toEqual(["Scout: what now?", "Rover: what now?", "Medic: what now?"]);
    expect(prompt(world, "scout")).not.toContain("Rover: what now?");
    expect(prompt(world, "rover")).toContain("Scout: what now?");
    expect(prompt(world, "medic")).toContain("Scout: what now?");
    expect(prompt(world, "medic")).toContain("Rover: what now?");
  });

  test("in parallel nobody waits for the slow one", async () => {
    const world = await open([scout, rover, medic], "parallel");
    await world.say("what now?", { id: "1" });
    await world.pass(minutes);
    expect(said(world)).toEqual(["Rover: what now?", "Medic: what now?", "Scout: what now?"]);
  });

  test("typing is shown until the last of them has answered", async () => {
    const config = { typing: { mode: "instant" } };
    const world = await open([rover, scout], "parallel", { config });
    await world.say("what now?", { id: "1" });
    await world.pass(minutes);
    const [first, last] = world.sent;
    const offs = world.typed.flatMap(({ on, at }) => (on ? [] : [at]));
    expect(first?.at).toBeLessThan(last?.at ?? 0);
    expect(offs).toEqual([last?.at]);
  });

  test.each([
    ["fail", "failed"],
    ["hang", "failed"],
    ["nothing", "silent"],
  ] as const)("one that would %s keeps the next only until its turn is over", async (does, end) => {
    const turn = { idleMs: 20_000, maxMs: 30_000 };
    const world = await open([{ ...scout, does }, rover], "sequential", { config: { turn } });
    await world.say("what now?", { id: "1" });
    await world.pass(2 * minutes);
    expect(turnsOf(world)).toEqual(["+scout 1", `-scout ${end}`, "+rover 1", "-rover replied"]);
    expect(said(world).at(-1)).toBe("Rover: what now?");
  });

  test("one that is stopped lets the next begin at once", async () => {
    const world = await open([{ ...scout, does: "hang" }, rover]);
    await world.say("what now?", { id: "1" });
    await world.pass(2_000);
    await world.runtime.abortTurn("agent:scout:telegram:group:room", "test");
    await world.pass(5_000);
    expect(turnsOf(world)).toEqual(["+scout 1", "-scout cancelled", "+rover 1", "-rover replied"]);
  });

  test("a second question is asked of the first agent while others answer the first one", async () => {
    const world = await open([scout, rover]);
    await world.say("first", { id: "1" });
    await world.pass(2_000);
    await world.say("second", { id: "2", author: { id: "bob" } });
    await world.pass(minutes);
    const starts = turnsOf(world).filter((one) => one.startsWith("+"));
    expect(starts.indexOf("+scout 1")).toBeLessThan(starts.indexOf("+rover 1"));
    expect(starts.indexOf("+scout 2")).toBeLessThan(starts.indexOf("+rover 2"));
    expect(said(world).toSorted()).toEqual(
      ["Scout: first", "Rover: first", "Scout: second", "Rover: second"].toSorted(),
    );
  });

  test("what the first agent only observes holds nobody up", async () => {
    const world = await open([scout, rover]);
    await world.runtime.updateSession("agent:scout:telegram:group:room", {
      override: { activation: "mention" },
    });
    await world.say("hm", { id: "1" });
    await world.pass(minutes);
    expect(verdicts(world, "1")).toEqual({ scout: "default", rover: "always" });
    expect(said(world)).toEqual(["Rover: hm"]);
  });

  test("a question that is taken back while its turn waits is asked of nobody else", async () => {
    const world = await open([{ ...scout, afterMs: 30_000 }, rover]);
    await world.say("first", { id: "1" });
    await world.pass(2_000);
    const deletion = {
      channel: "telegram",
      account: "default",
      thread: null,
      id: "1",
      chat: { id: "room", kind: "group" },
    } as const;
    await world.runtime.ingest("telegram", "default", [{ type: "delete", deletion }]);
    await world.say("second", { id: "2" });
    await world.pass(2 * minutes);
    expect(said(world)).toEqual(["Scout: first", "Scout: second", "Rover: second"]);
  });

  test("one that is stuck keeps nobody past the moment at which an answer is too late", async () => {
    const config = { turn: { replyAgeMsMax: 20_000, idleMs: 600_000, maxMs: 600_000 } };
    const world = await open([{ ...scout, does: "hang" }, rover], "sequential", { config });
    await world.say("what now?", { id: "1" });
    await world.pass(minutes);
    expect(turnsOf(world)).toEqual(["+scout 1", "+rover 1", "-rover replied"]);
  });
});

describe("who is called by name", () => {
  test("answers; the others listen, and why says so", async () => {
    const world = await open([scout, rover, medic], "parallel");
    await world.say("Scout, what now?", { id: "1" });
    await world.pass(minutes);
    expect(verdicts(world, "1")).toEqual({
      scout: "alias",
      rover: "addressed-elsewhere",
      medic: "addressed-elsewhere",
    });
    expect(said(world)).toEqual(["Scout: Scout, what now?"]);
    const why = await world.runtime.why("1");
    const facts = why.map(({ key, explanation }) => [
      who(key),
      explanation?.rungs.find(({ rule }) => rule === "addressed-elsewhere")?.fact,
    ]);
    expect(Object.fromEntries(facts)).toMatchObject({
      rover: "names Scout only",
      medic: "names Scout only",
    });
    await world.say("and now all of you", { id: "2" });
    await world.pass(minutes);
    expect(prompt(world, "rover")).toContain("Scout, what now?");
    expect(said(world)).toHaveLength(4);
  });

  test("two of three answer in the order of the list", async () => {
    const world = await open([scout, rover, medic]);
    await world.say("medic and scout: what now?", { id: "1" });
    await world.pass(minutes);
    expect(turnsOf(world).filter((one) => one.startsWith("+"))).toEqual(["+scout 1", "+medic 1"]);
    expect(verdicts(world, "1").rover).toBe("addressed-elsewhere");
  });

  test("a mention of the account that they share calls all of them, whatever it is called", async () => {
    const world = await open([scout, rover], "parallel");
    const self = { id: "bot", name: "The Scouts", isSelf: true };
    await world.say("@scout_bot what now?", { id: "1", mentions: [self] });
    await world.say("@scout_bot rover, you!", { id: "2", mentions: [self], author: { id: "b" } });
    await world.pass(minutes);
    expect(verdicts(world, "1")).toEqual({ scout: "mention", rover: "mention" });
    expect(verdicts(world, "2")).toEqual({ scout: "addressed-elsewhere", rover: "mention" });
  });

  test("a reply to one of them is a reply to that one", async () => {
    const world = await open([scout, rover], "parallel", {
      config: { engagement: { activation: "ladder" } },
    });
    await world.say("Scout, what now?", { id: "1" });
    await world.pass(minutes);
    expect(said(world)).toEqual(["Scout: Scout, what now?"]);
    await world.say("thanks", {
      id: "2",
      author: { id: "bob" },
      replyTo: { id: "p1", authorIsSelf: true },
    });
    await world.pass(minutes);
    expect(verdicts(world, "2")).toEqual({ scout: "reply", rover: "reply-to-other" });
  });
});

describe("commands in a room of several", () => {
  const owned = { commands: { ownerAllowFrom: ["telegram:ann"] } };
  const models = async (world: World) =>
    Promise.all(
      ["scout", "rover"].map(
        async (id) => (await world.runtime.session(`agent:${id}:telegram:group:room`))?.settings,
      ),
    );

  test("a name in front orders it of that agent alone, which answers under its name", async () => {
    const world = await open([scout, rover], "parallel", { config: owned });
    await world.say("Rover, /think high", { id: "1" });
    await world.pass(minutes);
    expect(said(world)).toEqual(["Rover: Thinking: high."]);
    expect((await models(world)).map((one) => one?.thinking)).toEqual([undefined, "high"]);
    expect(world.decisions().map(({ decision }) => decision)).toEqual(["command"]);
  });

  test("without a name it is for all, and each answers for itself", async () => {
    const world = await open([scout, rover], "parallel", { config: owned });
    await world.say("/think low", { id: "1" });
    await world.pass(minutes);
    expect(said(world).toSorted()).toEqual(["Rover: Thinking: low.", "Scout: Thinking: low."]);
    expect((await models(world)).map((one) => one?.thinking)).toEqual(["low", "low"]);
  });

  test("what concerns no session is answered once", async () => {
    const world = await open([scout, rover], "parallel", { config: owned });
    await world.say("/whoami", { id: "1" });
    await world.pass(minutes);
    expect(said(world)).toHaveLength(1);
  });

  test("a directive beside a message is for those whom the message calls", async () => {
    const world = await open([scout, rover], "parallel", { config: owned });
    await world.say("/queue collect cap:3 rover, what now?", { id: "1" });
    await world.pass(minutes);
    expect(said(world)).toEqual(["Rover: rover, what now?"]);
    const queues = (await models(world)).map((one) => one?.override.queue?.cap);
    expect(queues).toEqual([undefined, 3]);
  });

  test("a name in front stops that agent alone", async () => {
    const mates = [scout, rover].map((mate) => ({ ...mate, afterMs: 20_000 }));
    const world = await open(mates, "parallel", { config: owned });
    await world.say("what now?", { id: "1" });
    await world.pass(5_000);
    await world.say("scout stop", { id: "2" });
    await world.pass(minutes);
    const ends = turnsOf(world).filter((one) => one.startsWith("-"));
    expect(ends.toSorted()).toEqual(["-rover replied", "-scout cancelled"]);
  });

  test("from somebody who may not give commands it is a line for the agent it calls", async () => {
    const world = await open([scout, rover], "parallel", { config: owned });
    await world.say("Rover, /think high", { id: "1", author: { id: "eve", name: "Eve" } });
    await world.pass(minutes);
    expect(said(world)).toEqual(["Rover: Rover, /think high"]);
    expect((await models(world)).map((one) => one?.thinking)).not.toContain("high");
  });
});
