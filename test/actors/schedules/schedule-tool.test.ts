/** What an agent schedules for itself: in its own conversation, as prompts, few and rarely. */
import { expect, test } from "vitest";
import { useScheduleTool } from "../../../src/actors/schedules/schedule-tool.ts";
import { limits } from "../../../src/domain/limits.ts";
import { World } from "../../support/runtime/world.ts";

const hour = 3_600_000;
const later = { afterMs: 0, steps: [{ text: "Did you call the bank?" }] };
const create = (input: object) => ({
  tool: "schedule",
  input: { action: "create", name: "bank", prompt: "Ask about the bank.", ...input },
});

/** The tool as a turn of the group's conversation uses it. */
function toolIn(world: World, room = "room") {
  const schedules = world.runtime.schedules();
  const route = {
    channel: "telegram",
    account: "default",
    chat: { id: room, kind: "group" },
    thread: null,
  } as const;
  const key = `agent:main:telegram:group:${room}`;
  const turn = { turnId: "t", conv: 1, key, route, since: 0, refs: [] };
  const ports = { schedules, wall: () => world.clock.now(), agentOf: () => "main" };
  return (input: Parameters<typeof useScheduleTool>[2]) => useScheduleTool(ports, turn, input);
}

test("a turn sets a prompt, which becomes a turn of the same room, once, over a crash", async () => {
  const world = await new World({ prompts: true }).start();
  const at = new Date(world.clock.now() + hour).toISOString();
  world.runs.push({ afterMs: 0, steps: [create({ at }), { text: "I will ask." }] }, later);
  await world.say("remind me of the bank", { mentions: [{ id: "self", isSelf: true }] });
  await world.pass(30_000);
  const [entry] = world.runtime.schedules().list();
  expect(entry).toMatchObject({
    origin: "agent",
    owner: "agent:main:telegram:group:room",
    spec: { name: "bank", agent: "main", to: { chat: { id: "room" } } },
  });
  await world.kill();
  await world.pass(hour);
  await world.kill();
  await world.pass(hour);
  expect(world.sent.map(({ text, chat }) => [chat, text])).toEqual([
    ["room", "I will ask."],
    ["room", "Did you call the bank?"],
  ]);
  expect(JSON.stringify(world.lines)).toContain("a note that you left yourself: bank");
  expect(world.runtime.schedules().list()).toEqual([]);
});

test("another conversation neither sees nor removes it, and may use the name", async () => {
  const world = await new World().start();
  const here = toolIn(world);
  const there = toolIn(world, "other");
  const daily = { action: "create", name: "tea", prompt: "Tea?", cron: "0 16 * * *" } as const;
  expect(await here(daily)).toBe("Scheduled: tea, next 2023-11-15T16:00:00.000Z.");
  expect(await here(daily)).toContain("there is an entry with this name");
  expect(await there({ action: "list" })).toBe("Nothing is scheduled here.");
  expect(await there({ action: "remove", name: "tea" })).toContain("no entry of yours");
  expect(await there(daily)).toContain("Scheduled: tea");
  expect(await here({ action: "list" })).toBe(
    "tea: next 2023-11-15T16:00:00.000Z (0 16 * * * UTC): Tea?",
  );
  expect(await here({ action: "remove", name: "tea" })).toBe("Removed: tea.");
  expect(world.runtime.schedules().list()).toHaveLength(1);
});

test("what is too often, too many, over or no schedule is refused with its reason", async () => {
  const world = await new World().start();
  const tool = toolIn(world);
  const one = { action: "create", name: "x", prompt: "p" } as const;
  expect(await tool({ ...one, cron: "*/5 * * * *" })).toContain("at most every 15 minutes");
  expect(await tool({ ...one, cron: "0,1 9 * * *" })).toContain("at most every 15 minutes");
  expect(await tool({ ...one, cron: "nine" })).toContain("five fields");
  expect(await tool({ ...one, at: "2001-01-01T00:00:00Z" })).toContain("over");
  expect(await tool({ ...one, at: "tomorrow" })).toContain("expected a time");
  expect(await tool({ action: "create", prompt: "p" })).toContain("a name is expected");
  for (let count = 0; count < limits.schedulesOwnMax; count += 1)
    expect(await tool({ ...one, name: `n${count}`, cron: "0 9 * * *" })).toContain("Scheduled");
  expect(await tool({ ...one, cron: "0 9 * * *" })).toContain("at most 20 entries");
});
