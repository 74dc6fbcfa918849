/**
 * Agents of one earshot see each other's answers in their room and never trigger each other: each
 * answer is in the next prompt of the others, once, also after crashes; in random rooms of two to
 * sixteen agents that call each other's names all the time.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { roommate } from "../../support/agents/roommate-agent.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

const names = ["Scout", "Rover", "Medic", "Cook", "Guard", "Pilot", "Smith", "Clerk"];
const nameOf = (place: number) => `${names[place % names.length]}${place < names.length ? "" : 2}`;
const idOf = (place: number) => nameOf(place).toLowerCase();
const key = (place: number) => `agent:${idOf(place)}:telegram:group:room`;
const minute = 60_000;

const configOf = (count: number, strategy = "parallel", words?: string) => ({
  agents: {
    list: Array.from({ length: count }, (_, place) => ({
      id: idOf(place),
      name: nameOf(place),
      driver: { kind: "roommate", ...(words === undefined ? {} : { words }) },
    })),
  },
  broadcast: {
    strategy,
    "telegram:room": Array.from({ length: count }, (_, place) => idOf(place)),
  },
  engagement: { activation: "always" },
});
const open = (config: Record<string, unknown>) =>
  new World({ drivers: [roommate as AgentDriver], prompts: true, config }).start();

const prompts = (world: World, agentId: string) =>
  world.lines.flatMap((line) =>
    "event" in line && line.event === "prompt" && String(line.key).startsWith(`agent:${agentId}:`)
      ? [String(line.text)]
      : [],
  );
const starts = (world: World) => world.events("agent_start").length;
const times = (text: string, part: string) => text.split(part).length - 1;

describe("what a fellow says", () => {
  test("is shown to the next turn of the others once, with its name, and to no later one", async () => {
    const world = await open(configOf(2));
    await world.say("scout, hello", { id: "1" });
    await world.pass(minute);
    expect(world.sent.map(({ text }) => text)).toEqual(["Scout: scout, hello"]);
    await world.say("rover, and you?", { id: "2" });
    await world.pass(minute);
    await world.say("rover, sure?", { id: "3" });
    await world.pass(minute);
    const shown = prompts(world, "rover").map((text) => times(text, "Scout: scout, hello"));
    expect(shown).toEqual([1, 0]);
    expect(prompts(world, "rover")[0]).toMatch(/\[?Scout/u);
  });

  test("is no decision, no participant, no peer bot and no head in the room", async () => {
    const world = await open(configOf(2, "parallel", "rover rover rover"));
    for (let n = 1; n <= 12; n += 1) {
      await world.say("scout, again", { id: `${n}` });
      await world.pass(minute);
    }
    expect(starts(world)).toBe(12);
    expect(world.decisions()).toHaveLength(24);
    await world.say("rover?", { id: "last" });
    await world.pass(minute);
    const [why] = (await world.runtime.why("last")).filter((one) => one.key === key(1));
    expect(why?.guard).toEqual({ state: "clear", consecutive: 0 });
    expect(why?.participants.map(({ name }) => name)).toEqual(["Ann"]);
  });

  test("is told of a draft when it is whole, and of a command's answer never", async () => {
    const config = { ...configOf(2), stream: { mode: "draft" } };
    const world = await open({ ...config, commands: { ownerAllowFrom: ["telegram:ann"] } });
    await world.say("scout, hello there", { id: "1" });
    await world.pass(minute);
    await world.say("/whoami", { id: "2" });
    await world.pass(minute);
    await world.say("rover?", { id: "3" });
    await world.pass(minute);
    const [shown = ""] = prompts(world, "rover");
    expect(times(shown, "Scout: scout, hello there")).toBe(1);
    expect(world.sent.some(({ text }) => text.startsWith("Scout: You are"))).toBe(true);
    expect(shown).not.toContain("You are `");
  });

  test("never reached the room: nobody is told", async () => {
    const world = await open(configOf(2));
    world.fates.push("refuse");
    await world.say("scout, hello", { id: "1" });
    await world.pass(minute);
    await world.say("rover?", { id: "2" });
    await world.pass(minute);
    expect(prompts(world, "rover")[0]).not.toContain("Scout: scout, hello");
  });

  test("comes once although the process died after the send, and before it was marked", async () => {
    for (const point of ["after-send", "before-mark"] as const) {
      let armed = true;
      const world = new World({
        drivers: [roommate as AgentDriver],
        prompts: true,
        config: configOf(2),
        onPoint: (at) => {
          if (at !== point || !armed) return;
          armed = false;
          throw new Error("killed");
        },
      });
      await world.start();
      await world.say("scout, hello", { id: "1" });
      await world.pass(minute);
      await world.restart();
      await world.pass(minute);
      await world.say("rover?", { id: "2" });
      await world.pass(minute);
      const sent = world.sent.filter(({ text }) => text === "Scout: scout, hello").length;
      const [shown = ""] = prompts(world, "rover");
      expect(sent).toBeGreaterThan(0);
      expect(times(shown, "Scout: scout, hello")).toBeLessThanOrEqual(1);
    }
  });
});

describe("agents with accounts of their own", () => {
  test("a fellow's line that the platform shows is heard once and decides nothing", async () => {
    const config = {
      agents: configOf(2).agents,
      bindings: [
        { match: { channel: "telegram", accountId: "one" }, agentId: "scout" },
        { match: { channel: "telegram", accountId: "two" }, agentId: "rover" },
      ],
      engagement: { activation: "always" },
    };
    const world = new World({ drivers: [roommate as AgentDriver], prompts: true, config });
    world.ours.add("bot-one");
    await world.start();
    const sibling = { author: { id: "bot-one", name: "Scout", isBot: true } };
    for (let n = 0; n < 3; n += 1)
      await world.say("rover, come here", { id: "f1", account: "two", ...sibling });
    await world.pass(minute);
    expect(starts(world)).toBe(0);
    expect(world.decisions()).toEqual([]);
    await world.say("rover?", { id: "2", account: "two" });
    await world.pass(minute);
    expect(times(prompts(world, "rover")[0] ?? "", "rover, come here")).toBe(1);
    // A stranger's bot under the same name is a peer bot like any other.
    await world.say("rover, come here", {
      id: "3",
      account: "two",
      author: { id: "x", name: "Scout", isBot: true },
    });
    await world.pass(minute);
    expect(starts(world)).toBe(2);
  });
});

type Talk = readonly { readonly author: string; readonly text: string; readonly gapMs: number }[];
const talks: fc.Arbitrary<Talk> = fc.array(
  fc.record({
    author: fc.constantFrom("ann", "bob", "eve"),
    text: fc.constantFrom("hello", "scout!", "rover and medic", "all of you", "cook, scout?", "ok"),
    gapMs: fc.constantFrom(0, 100, 500, 1_500, 6_000),
  }),
  { minLength: 1, maxLength: 6 },
);

const rooms = { count: fc.integer({ min: 2, max: 16 }), talk: talks, restart: fc.boolean() };
const strategies = fc.constantFrom("parallel", "sequential");

property([rooms.count, rooms.talk, rooms.restart, strategies], { numRuns: rounds(5, 40) })(
  "in no room does an agent engage because of another's words, and all that was asked is answered",
  async (count, talk, restart, strategy) => {
    const config = configOf(count, strategy, names.join(" and "));
    const world = await open(config);
    for (const [index, { author, text, gapMs }] of talk.entries()) {
      await world.say(text, { id: `m${index}`, author: { id: author, name: author } });
      await world.pass(gapMs);
      if (restart && index === Math.floor(talk.length / 2)) await world.restart();
    }
    await world.pass(30 * minute);
    const asked = new Set(talk.map((_, index) => `m${index}`));
    const answered = world
      .events("agent_start")
      .flatMap((line) => ("batch" in line ? [line.batch as readonly string[]] : []).flat());
    expect(answered.every((id) => asked.has(id))).toBe(true);
    expect(world.decisions().every(({ id }) => asked.has(String(id)))).toBe(true);
    const engaged = world.decisions().filter(({ decision }) => decision === "engage");
    expect(new Set(engaged.map(({ key, id }) => `${key} ${id}`)).size).toBe(engaged.length);
    // Every engaged message is answered, and nobody is left waiting.
    expect(answered.length).toBeGreaterThanOrEqual(engaged.length);
    expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
  },
);
