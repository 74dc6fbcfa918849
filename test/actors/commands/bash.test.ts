/** `/bash`, with a shell that the test answers for. */
import { expect, test } from "vitest";
import type { DaemonControl, ShellEnd } from "../../../src/domain/ports/index.ts";
import { type SessionWorld, sessionWorld } from "../../support/runtime/session-world.ts";

const ended: ShellEnd = { why: "ended", code: 0, problem: null, output: "a\n", isCut: false };

async function open(bash = true) {
  const ran: string[] = [];
  let answer: (signal: AbortSignal) => Promise<ShellEnd> = async () => ended;
  const control: DaemonControl = {
    layers: { overrides: () => [], set: () => Promise.reject(), unset: async () => [] },
    file: { set: () => Promise.reject(), unset: async () => null, undo: async () => null },
    restart: null,
    shell: ({ command, workspace, signal }) => {
      ran.push(`${workspace}: ${command}`);
      return answer(signal);
    },
  };
  const commands = {
    ownerAllowFrom: ["telegram:ann", "telegram:cid"],
    allowFrom: { "*": ["telegram:ann", "telegram:bob"] },
    bash,
  };
  const world = await sessionWorld({ commands }, { control });
  return {
    world,
    ran,
    answers: (next: typeof answer) => {
      answer = next;
    },
  };
}
const last = (world: SessionWorld) => world.sent.at(-1)?.text;
const bob = { id: "bob", name: "Bob" };
const cid = { id: "cid", name: "Cid" };
const untilStopped = (signal: AbortSignal) =>
  new Promise<ShellEnd>((resolve) => {
    const stopped = { ...ended, why: "stopped", code: null, output: "" } as const;
    signal.addEventListener("abort", () => resolve(stopped));
  });

test("an owner's command line runs once, as it was written, and its output is the answer", async () => {
  const { world, ran } = await open();
  await world.talk("/bash ls -l  | head\n  # and so on");
  expect(ran).toEqual(["<state>/agents/main: ls -l  | head\n  # and so on"]);
  expect(last(world)).toBe("```\na\n```");
  for (let n = 0; n < 3; n += 1) {
    await world.restart();
    await world.pass(1_000);
  }
  expect(ran).toHaveLength(1);
  expect(world.turns).toEqual([]);
});

test("it is off unless the config file says otherwise, and for owners only", async () => {
  const off = await open(false);
  await off.world.talk("/bash ls");
  expect(last(off.world)).toContain("commands.bash");
  const on = await open();
  const [outcome] = await on.world.say("/bash ls", { author: bob });
  await on.world.pass(5_000);
  expect(outcome?.receivers[0]?.verdict?.decision).not.toBe("command");
  expect([...off.ran, ...on.ran]).toEqual([]);
});

test.each<[string, Partial<ShellEnd>, string]>([
  ["nothing", { output: "\n" }, "Done. It printed nothing."],
  ["a failure", { code: 2, problem: "exited with code 2" }, "```\na\n```\nIt exited with code 2."],
  [
    "the limit of time",
    { why: "time", code: null },
    "```\na\n```\nIt was stopped: it took longer than 60 s.",
  ],
  ["long output", { isCut: true }, "```\na\n```\nOnly the end of its output is shown."],
  ["fences", { output: "```\nx\n````\n" }, "`````\n```\nx\n````\n`````"],
])("%s is told as it is", async (_what, over, text) => {
  const { world, answers } = await open();
  answers(async () => ({ ...ended, ...over }));
  await world.talk("/bash x");
  expect(last(world)).toBe(text);
});

test("one runs at a time in a conversation, and can be stopped", async () => {
  const { world, ran, answers } = await open();
  answers(untilStopped);
  await world.talk("/bash sleep 100");
  await world.talk("/bash ls");
  expect(last(world)).toBe("One command is running here: `/bash stop` ends it.");
  await world.talk("/bash stop");
  expect(world.sent.slice(-2).map(({ text }) => text)).toEqual(["Stopping it.", "It was stopped."]);
  await world.talk("/bash stop");
  expect(last(world)).toBe("Nothing is running here.");
  expect(ran).toEqual(["<state>/agents/main: sleep 100"]);
});

test.each([
  ["/stop of the same person", "/stop", {}],
  ["a stop word", "please stop!", {}],
  ["/stop of another owner", "/stop", { author: cid }],
])("%s ends it", async (_what, text, by) => {
  const { world, answers } = await open();
  answers(untilStopped);
  await world.talk("/bash sleep 100");
  await world.say(text, by);
  await world.pass(5_000);
  expect(world.sent.slice(-2).map((sent) => sent.text)).toEqual(["Stopped.", "It was stopped."]);
  await world.talk("/bash stop");
  expect(last(world)).toBe("Nothing is running here.");
});

test("/stop of somebody else who is no owner does not end it", async () => {
  const { world, answers } = await open();
  answers(untilStopped);
  await world.talk("/bash sleep 100");
  await world.say("/stop", { author: bob });
  await world.pass(5_000);
  expect(last(world)).toBe("Nothing of yours is running.");
  await world.talk("/bash ls");
  expect(last(world)).toBe("One command is running here: `/bash stop` ends it.");
});

test("one that was not durable, or that a crash ended, is not run again", async () => {
  const { world, ran, answers } = await open();
  answers(() => new Promise(() => undefined));
  await world.talk("/bash sleep 100");
  await world.kill();
  await world.pass(5_000);
  expect(ran).toHaveLength(1);
});
