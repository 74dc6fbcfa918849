/**
 * An agent requests a permission: an owner is asked in the turn's room and answers with /approve;
 * silence, the turn's end and a crash grant nothing.
 */
import { describe, expect, test } from "vitest";
import type { PermissionRequest } from "../../../src/domain/permission.ts";
import type { AgentTurn } from "../../../src/domain/ports/index.ts";
import { saying, untilStopped } from "../../support/agents/recording-agent.ts";
import { type SessionWorld, sessionWorld } from "../../support/runtime/session-world.ts";

const owner = {
  commands: {
    ownerAllowFrom: ["telegram:ann"],
    allowFrom: { "*": ["telegram:ann", "telegram:bob"] },
  },
};
const bob = { id: "bob", name: "Bob" };
const wish: PermissionRequest = { kind: "execute", title: "rm `-rf`\nbuild" };

/** Turns that ask their owner and say what he answered. */
async function asking(request = wish, config: object = {}): Promise<SessionWorld> {
  const world = await sessionWorld({ ...owner, ...config });
  world.answers.push((turn) => requesting(turn, request));
  return world;
}
async function* requesting(turn: AgentTurn, request: PermissionRequest) {
  yield* saying(`reported: ${await turn.askOwner?.(request)}`);
}
const texts = (world: SessionWorld) => world.sent.map(({ text }) => text);
const idIn = (world: SessionWorld) => /\/approve (\w+) once/.exec(texts(world).join("\n"))?.[1];

describe("a permission that is left to an owner", () => {
  test.each(["once", "always", "deny"])("is answered with %s", async (word) => {
    const world = await asking();
    await world.talk("clean up", { direct: true });
    expect(texts(world)).toEqual([
      expect.stringMatching(/^The agent asks an owner.*\n`execute: rm '-rf' build`\n`\/approve/),
    ]);
    await world.talk(`/approve ${idIn(world)?.toLowerCase()} ${word}`, { direct: true });
    expect(texts(world).slice(1).sort()).toEqual([
      expect.stringMatching(/^(?:Allowed once|Allowed, and from now on|Refused): `execute: rm/),
      `reported: ${word}`,
    ]);
    await world.talk(`/approve ${idIn(world)} once`, { direct: true });
    expect(texts(world).at(-1)).toMatch(/^Nothing of that id waits/);
    await world.runtime.stop();
  });

  test("is asked with buttons where there are any, whose labels are the commands", async () => {
    const world = await asking();
    world.takesExtras = true;
    await world.talk("clean up", { direct: true });
    const labels = /^<(\/approve (\w{4}) once)\|\/approve \2 always\|\/approve \2 deny>$/;
    const [, once = ""] = labels.exec(texts(world)[0] ?? "") ?? [];
    expect(world.extras).toMatchObject([
      {
        text: expect.stringContaining("always"),
        choices: { text: expect.stringMatching(/^The agent asks an owner.*\n`execute: .*`$/) },
      },
    ]);
    await world.talk(once, { direct: true });
    expect(texts(world)).toContain("reported: once");
    await world.runtime.stop();
  });

  test("may be answered from another room, and is listed where it was asked", async () => {
    const world = await asking();
    await world.talk("earshot, clean up");
    await world.talk("/approve", {});
    expect(texts(world).at(-1)).toMatch(/^\w{4}: `execute: rm '-rf' build`$/);
    await world.talk("/approve", { direct: true });
    expect(texts(world).at(-1)).toMatch(/^No agent is waiting/);
    await world.talk(`/approve ${idIn(world)}`, { direct: true });
    expect(texts(world)).toContain("reported: once");
    await world.runtime.stop();
  });

  test("is no business of somebody who is no owner", async () => {
    const world = await asking();
    await world.talk("clean up", { direct: true });
    const [outcome] = await world.say(`/approve ${idIn(world)} always`, { author: bob });
    await world.pass(3_000);
    expect(outcome?.receivers[0]?.verdict?.decision).not.toBe("command");
    expect(texts(world).filter((text) => text.startsWith("reported"))).toEqual([]);
    await world.talk(`/approve ${idIn(world)}`, { direct: true });
    expect(texts(world)).toContain("reported: once");
    await world.runtime.stop();
  });

  test("is refused when the turn is stopped, and answers nothing afterwards", async () => {
    const world = await asking();
    await world.talk("clean up", { direct: true });
    await world.talk("/stop", { direct: true });
    expect(world.events("agent_end")).toMatchObject([{ outcome: "cancelled" }]);
    await world.talk(`/approve ${idIn(world)} once`, { direct: true });
    expect(texts(world).at(-1)).toMatch(/^Nothing of that id waits/);
    await world.runtime.stop();
  });

  test("is waited for longer than an idle agent, but not longer than a turn", async () => {
    const times = { turn: { idleMs: 10_000, maxMs: 60_000 } };
    const answers: string[] = [];
    const world = await sessionWorld({ ...owner, ...times });
    world.answers.push(async function* (turn, signal) {
      answers.push((await turn.askOwner?.(wish)) ?? "none");
      yield* untilStopped(signal);
    });
    await world.talk("clean up", { direct: true });
    await world.pass(40_000);
    expect(world.events("agent_end")).toEqual([]);
    await world.pass(30_000);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "failed" }]);
    expect(answers).toEqual(["deny"]);
    await world.runtime.stop();
  });

  test("is forgotten with the process; the turn asks again", async () => {
    const world = await asking();
    await world.talk("clean up", { direct: true });
    const first = idIn(world);
    world.answers.push((turn) => requesting(turn, wish));
    await world.restart();
    await world.pass(5_000);
    await world.talk(`/approve ${first}`, { direct: true });
    expect(texts(world).at(-1)).toMatch(/^Nothing of that id waits/);
    const again = /\/approve (\w+) once/.exec(texts(world).slice(1).join("\n"))?.[1];
    expect(again).toMatch(/^\w{4}$/);
    await world.talk(`/approve ${again}`, { direct: true });
    expect(texts(world)).toContain("reported: once");
    await world.runtime.stop();
  });

  test("is refused once a turn asks too many at a time", async () => {
    const world = await sessionWorld(owner);
    const answers: string[] = [];
    world.answers.push(async function* (turn) {
      const all = Array.from({ length: 22 }, async () => turn.askOwner?.(wish));
      for (const answer of all.slice(20)) answers.push((await answer) ?? "none");
      yield* saying("enough");
    });
    await world.talk("clean up", { direct: true });
    expect(answers).toEqual(["deny", "deny"]);
    expect(texts(world).filter((text) => text.startsWith("The agent asks"))).toHaveLength(20);
    await world.runtime.stop();
  });
});

describe("what a turn may do", () => {
  const said = async (orders: readonly string[], text: string) => {
    const world = await sessionWorld(owner);
    for (const one of [...orders, text]) await world.talk(one, { direct: true });
    await world.runtime.stop();
    return world.turns.at(-1)?.permissions;
  };

  test("is as the session says, and for one message as the message says", async () => {
    expect(await said([], "hello")).toEqual({ exec: {}, elevated: "off", owned: true });
    expect(await said(["/exec security=full", "/elevated ask"], "hello")).toMatchObject({
      exec: { security: "full" },
      elevated: "ask",
    });
    expect(await said(["/exec security=full"], "/exec ask=always hello")).toMatchObject({
      exec: { security: "full", ask: "always" },
    });
    expect(await said(["/exec security=full", "/exec default"], "hello")).toMatchObject({
      exec: {},
    });
  });

  test("is an owner's only where nobody else is answered", async () => {
    const world = await sessionWorld(owner);
    await world.talk("earshot, hello");
    await world.talk("earshot, hello", { author: bob });
    world.answers.push(async function* () {
      await world.released;
      yield* saying("done");
    });
    await world.talk("earshot, wait");
    await world.say("earshot, one");
    await world.talk("earshot, two", { author: bob });
    world.open();
    await world.pass(5_000);
    expect(world.turns.at(-1)?.said).toBe("earshot, one\nearshot, two");
    const owned = world.turns.map(({ permissions }) => permissions?.owned);
    expect(owned).toEqual([true, false, true, false]);
    await world.runtime.stop();
  });
});
