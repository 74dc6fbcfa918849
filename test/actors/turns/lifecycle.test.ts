/**
 * The life of three messages
 * ==========================
 * The documented example of flushes and turns: A and B in quick succession, C while their turn
 * runs. Every line of it is a claim here, with its time.
 */
import { expect, test } from "vitest";
import { World } from "../../support/runtime/world.ts";

/** The lines of the runtime, in order, as `ms what`. */
function reported(world: World, since: number): string[] {
  return world.lines.flatMap((line) => {
    const at = line.t - since;
    if ("decision" in line) return [`${at} heard ${line.id}`];
    if ("event" in line && line.event === "agent_start")
      return [`${at} agent_start ${(line.batch as string[]).join("+")} on ${String(line.replyTo)}`];
    if ("event" in line && line.event === "agent_end") return [`${at} agent_end`];
    if (!("out" in line)) return [];
    if (line.out === "react") return [`${at} 👀 on ${line.message}`];
    if (line.out === "unreact") return [`${at} 👀 off ${line.message}`];
    if (line.out === "typing") return [`${at} typing ${line.on ? "on" : "off"}`];
    return line.out === "send" ? [`${at} reply "${line.text}" to ${String(line.replyTo)}`] : [];
  });
}

const config = {
  // Every flush is a turn of its own, as in the example.
  messages: { queue: { mode: "queue" }, replyTo: "first" },
  stream: { mode: "block", break: "message_end", coalesceIdleMs: 0 },
};

test("A and B are one turn that answers B; C keeps its eye and the typing until its own", async () => {
  const world = await new World({ config, prompts: true }).start();
  const since = world.clock.now();
  // Two messages in the first turn: the agent's message ends twice, its run ends once.
  const first = [{ text: "first" }, { messageEnd: true as const }, { waitMs: 2_000 }];
  world.runs.push({ afterMs: 1_000, steps: [...first, { text: "second" }] });
  world.runs.push({ afterMs: 1_000, steps: [{ text: "third" }] });
  await world.say("a", { id: "A", direct: true });
  await world.pass(50);
  await world.say("b", { id: "B", direct: true });
  await world.pass(950);
  await world.say("c", { id: "C", direct: true });
  await world.pass(20_000);
  expect(reported(world, since)).toEqual([
    "0 heard A",
    "0 👀 on A",
    "0 typing on",
    "50 heard B",
    "50 👀 on B",
    "550 agent_start A+B on B",
    "1000 heard C",
    "1000 👀 on C",
    '1550 reply "first" to B',
    '3550 reply "second" to null',
    "3550 agent_end",
    "3550 👀 off A",
    "3550 👀 off B",
    "3550 agent_start C on C",
    '4550 reply "third" to C',
    "4550 typing off",
    "4550 agent_end",
    "4550 👀 off C",
  ]);
  const prompts = world.events("prompt").map((line) => ("text" in line ? String(line.text) : ""));
  expect(prompts[0]).toMatch(/Ann:\n {2}a\n(.*\n)*.*Ann:\n {2}b\n/);
  expect(prompts[1]).toMatch(/Ann:\n {2}c\n/);
  expect(prompts[1]).not.toMatch(/\n {2}a\n/);
});

test("the platform saw the same: an eye each, typing without a gap, and an end", async () => {
  const world = await new World({ config }).start();
  const since = world.clock.now();
  for (let n = 0; n < 2; n += 1) world.runs.push({ afterMs: 9_000, steps: [{ text: "done" }] });
  await world.say("a", { id: "A", direct: true });
  await world.pass(50);
  await world.say("b", { id: "B", direct: true });
  await world.pass(950);
  await world.say("c", { id: "C", direct: true });
  await world.pass(60_000);
  expect(world.reactions).toEqual(["+👀 A", "+👀 B", "+👀 C", "-👀 A", "-👀 B", "-👀 C"]);
  const typed = world.typed.map(({ on, at }) => `${at - since} ${on ? "on" : "off"}`);
  expect(typed).toEqual(["0 on", "5000 on", "10000 on", "15000 on", "18550 off"]);
});

test("a reply keeps its address while C comes from elsewhere in the same session", async () => {
  const world = await new World({ config: { ...config, session: { dmScope: "main" } } }).start();
  world.runs.push({ afterMs: 2_000, steps: [{ text: "for ann" }] });
  world.runs.push({ afterMs: 0, steps: [{ text: "for bob" }] });
  await world.say("a", { id: "A", direct: true });
  await world.pass(1_000);
  await world.say("c", {
    id: "C",
    chat: { id: "bob", kind: "direct" },
    author: { id: "bob", name: "Bob" },
  });
  await world.pass(20_000);
  expect(world.sent.map(({ chat, text, replyTo }) => `${chat}: ${text} to ${replyTo}`)).toEqual([
    "ann: for ann to A",
    "bob: for bob to C",
  ]);
});
