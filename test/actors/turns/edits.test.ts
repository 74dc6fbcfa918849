/**
 * Edits of messages that a turn has read: steered into the turn that answers them, if the mode steers and
 * its agent listens; else the next turn is shown both texts. They start no turn and decide nothing.
 */
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { editSchema } from "../../../src/domain/message.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { steered } from "../../support/agents/steered-agent.ts";
import { property } from "../../support/property.ts";
import { ends, play, prompts } from "../../support/replay/replay.ts";
import { Rig } from "../../support/runtime/conversation-rig.ts";
import { World } from "../../support/runtime/world.ts";

const steering = { driver: { kind: "steered", steps: 3, stepMs: 1_000 } };

async function started(config: Record<string, unknown> = {}): Promise<World> {
  const drivers = [steered as AgentDriver];
  const world = await new World({ prompts: true, config, drivers }).start();
  onTestFinished(() => world.runtime.stop());
  return world;
}

const say = (world: World, id: string, text: string) => world.say(text, { id, direct: true });

const edit = (world: World, id: string, text: string) => {
  const place = { channel: "telegram", chat: { id: "ann", kind: "direct" } };
  const edited = editSchema.parse({ ...place, id, text, author: { id: "ann", name: "Ann" } });
  return world.runtime.ingest("telegram", "default", [{ type: "edit", edit: edited }]);
};

/** The newest prompt without its fences and the first of each line's moments. */
const newest = (world: World) =>
  (prompts(world.lines).at(-1)?.text ?? "").replaceAll(/^\[id (\S+), [^\]]*\]/gm, "[$1]");

const changed = (id: string, before: string, after: string) =>
  `[${id}] Ann changed this message to:\n  ${after}\n  [Earlier text] “${before}” [/Earlier text]`;

describe("an edit of an answered message", () => {
  test("starts no turn; the next one is shown both texts, and the one after it nothing", async () => {
    const world = await started();
    await say(world, "m1", "lunch at noon?");
    await world.pass(10_000);
    await edit(world, "m1", "lunch at one?");
    await world.pass(60_000);
    expect(world.events("agent_start")).toHaveLength(1);
    expect(world.decisions()).toHaveLength(1);
    await say(world, "m2", "so?");
    await world.pass(10_000);
    expect(newest(world)).toContain(changed("m1", "lunch at noon?", "lunch at one?"));
    await say(world, "m3", "and then?");
    await world.pass(10_000);
    expect(newest(world)).not.toContain("changed this message");
  });

  test("is kept over a kill and a restart, and the last of several counts", async () => {
    const world = await started();
    await say(world, "m1", "lunch at noon?");
    await world.pass(10_000);
    await edit(world, "m1", "lunch at one?");
    await world.kill();
    await edit(world, "m1", "lunch at two?");
    await world.restart();
    await say(world, "m2", "so?");
    await world.pass(10_000);
    expect(newest(world)).toContain(changed("m1", "lunch at noon?", "lunch at two?"));
    expect(newest(world)).not.toContain("at one?");
    await edit(world, "m1", "lunch at three?");
    await say(world, "m3", "so?");
    await world.pass(10_000);
    expect(newest(world)).toContain(changed("m1", "lunch at two?", "lunch at three?"));
  });

  test("that changes no text, is undone, or is of a deleted message is shown to nobody", async () => {
    const world = await started();
    for (const id of ["m1", "m2", "m3"]) await say(world, id, `text of ${id}`);
    await world.pass(10_000);
    await edit(world, "m1", "text of m1");
    await edit(world, "m2", "something else");
    await edit(world, "m2", "text of m2");
    await edit(world, "m3", "gone soon");
    const chat = { id: "ann", kind: "direct" } as const;
    const place = { channel: "telegram", account: "default", chat, thread: null } as const;
    const deletion = { ...place, id: "m3" };
    await world.runtime.ingest("telegram", "default", [{ type: "delete", deletion }]);
    await say(world, "m4", "so?");
    await world.pass(10_000);
    expect(newest(world)).not.toMatch(/changed this message|omitted|gone soon/);
  });

  test("is in a replay, whose clock waits for no search of the journal", async () => {
    const here = { channel: "irc", chat: { id: "g1", kind: "group" } };
    const line = (t: number, id: string) => {
      return { t, in: { ...here, id, author: { id: "ann" }, text: "hello" } };
    };
    const changed = { t: 30_000, edit: { channel: "irc", chat: "g1", id: "m0", text: "goodbye" } };
    const room = [line(0, "m0"), changed, line(30_000, "m1"), line(60_000, "m2")];
    const lines = await play(room, { prompts: true });
    expect(ends(lines).map(({ t, outcome }) => `${t} ${outcome}`)).toEqual([
      "500 replied",
      "30500 replied",
      "60500 replied",
    ]);
    const shown = prompts(lines).map(({ text }) => text.includes("[Earlier text] “hello”"));
    expect(shown).toEqual([false, true, false]);
  });

  test("belongs to its session: after /new it is shown to nobody", async () => {
    const world = await started({ commands: { ownerAllowFrom: ["telegram:ann"] } });
    await say(world, "m1", "lunch at noon?");
    await world.pass(10_000);
    await edit(world, "m1", "lunch at one?");
    await say(world, "m2", "/new");
    await world.pass(10_000);
    await edit(world, "m1", "lunch at two?");
    await say(world, "m3", "hello");
    await world.pass(10_000);
    expect(newest(world)).toContain("hello");
    expect(newest(world)).not.toContain("lunch");
  });

  test("of more than twenty messages: the newest are shown, the others counted", async () => {
    const world = await started();
    const ids = Array.from({ length: 25 }, (_, n) => `m${n}x`);
    for (const id of ids) await say(world, id, `text of ${id}`);
    await world.pass(10_000);
    for (const id of ids) await edit(world, id, `better text of ${id}`);
    await say(world, "last", "so?");
    await world.pass(10_000);
    expect(newest(world).match(/changed this message/g)).toHaveLength(20);
    expect(newest(world)).toContain("… 5 older messages omitted");
    expect(newest(world)).toContain("better text of m24x");
  });
});

test("an edit puts no words into a message with the same id in another chat of the session", async () => {
  const world = await started({ session: { scope: "global" } });
  const attic = { channel: "telegram", chat: { id: "attic", kind: "group" }, id: "m1" } as const;
  const bob = { id: "bob", name: "Bob" };
  await world.say("soup for all", { id: "m1" });
  await world.say("bread", { ...attic, author: bob });
  const edited = editSchema.parse({ ...attic, text: "no bread", author: bob });
  await world.runtime.ingest("telegram", "default", [{ type: "edit", edit: edited }]);
  await world.say("so?", { id: "m2", mentions: [{ id: "bot", isSelf: true }] });
  await world.pass(10_000);
  expect(newest(world)).toContain("[m1] Ann:\n  soup for all");
  expect(newest(world)).toContain("[m1] Bob:\n  no bread");
});

describe("an edit of a message under way", () => {
  test("is steered into its turn, whose transcript has it, and is not shown again", async () => {
    const queue = { mode: "steer" };
    const world = await started({ agents: { defaults: steering }, messages: { queue } });
    await say(world, "m1", "lunch at noon?");
    await world.pass(1_000);
    await edit(world, "m1", "lunch at one?");
    await world.pass(10_000);
    expect(world.sent.map(({ text }) => text)).toEqual([
      "lunch at noon? + Ann changed this message to: lunch at one?\n  " +
        "[Earlier text] “lunch at noon?” [/Earlier text]",
    ]);
    await say(world, "m2", "so?");
    await world.pass(10_000);
    expect(newest(world)).not.toContain("changed this message");
    const [session] = await world.store.sessions({ limit: 1 });
    const sessionId = session?.sessionId ?? "";
    const lines = await world.store.transcript({ sessionId, limit: 20 });
    expect(lines.filter(({ role }) => role === "user").map(({ text }) => text)).toEqual([
      "lunch at noon?",
      "[changed “lunch at noon?” to]\nlunch at one?",
      "so?",
    ]);
  });

  test.each([
    ["queue", steering],
    ["steer", { driver: { kind: "steered", steps: 1, stepMs: 3_000 } }],
  ])(
    "in mode %s, where it is not taken, the next turn is shown it, also after a kill",
    async (mode, agent) => {
      const queue = { mode };
      const config = { agents: { defaults: agent }, messages: { queue } };
      for (const kills of [false, true]) {
        const world = await started(config);
        await say(world, "m1", "lunch at noon?");
        await world.pass(2_000);
        await edit(world, "m1", "lunch at one?");
        if (kills) {
          await world.runtime.stop();
          await world.start(config);
        }
        await world.pass(20_000);
        await say(world, "m2", "so?");
        await world.pass(20_000);
        const all = prompts(world.lines).map(({ text }) => text);
        expect(all.some((text) => text.includes("lunch at one?"))).toBe(true);
      }
    },
  );

  test("that comes while the agent is being told of the message is told to it as well", () => {
    const rig = new Rig({ settings: { queue: { mode: "steer" } } });
    rig.say("ann", "lunch?", { id: "m1", to: "us" });
    rig.wait(1_000);
    const { turnId = "" } = rig.of("turn.run").at(-1) ?? {};
    rig.say("ann", "at noon", { id: "m2", to: "us" });
    rig.wait(1_000);
    const message = rig.of("turn.steer").at(-1)?.batch[0];
    const seq = rig.edit("m2", "at one");
    const read = message?.seq ?? 0;
    rig.step({ type: "agent.steered", at: rig.now, turnId, messages: [read], edits: [] });
    expect(rig.of("turn.steer").at(-1)?.batch).toEqual([{ seq, id: "m2", was: { seq: read } }]);
    rig.step({ type: "agent.steered", at: rig.now, turnId, messages: [seq], edits: [] });
    expect(rig.conversation.context.notes).toEqual([]);
  });

  test("whose host is lost before it said anything: the turn reads the new text", () => {
    const rig = new Rig();
    rig.say("ann", "lunch at noon?", { id: "m1", to: "us" });
    rig.wait(1_000);
    const seq = rig.edit("m1", "lunch at one?");
    expect(rig.conversation.context.notes).toHaveLength(1);
    rig.step({ type: "host.recovered", at: rig.now });
    expect(rig.of("turn.run").at(-1)?.batch).toMatchObject([{ id: "m1", editSeq: seq }]);
    expect(rig.conversation.context.notes).toEqual([]);
  });
});

const stories = fc.array(
  fc.record({
    who: fc.constantFrom("ann", "bob"),
    to: fc.constantFrom<"us" | "other" | undefined>("us", "other", undefined),
    edits: fc.nat(30),
    waits: fc.constantFrom(10, 700, 1_000_000),
    replies: fc.boolean(),
    forwards: fc.boolean(),
    inTopic: fc.boolean(),
  }),
  { minLength: 1, maxLength: 20 },
);

property([stories, fc.constantFrom("collect", "steer", "steer-backlog", "interrupt")])(
  "edits, reactions, origins, quotes and names of topics change no decision, in any mode",
  (story, mode) => {
    const origin = { authorName: "Scout", chat: { title: "we" }, messageId: "m0" };
    const decided = (isFull: boolean) => {
      const rig = new Rig({ settings: { queue: { mode } } });
      return story.map(({ who, to, edits, waits, replies, forwards, inTopic }, place) => {
        const rule = rig.say(who, "hm", {
          id: `m${place}`,
          ...(to === undefined ? {} : { to }),
          ...(forwards ? { forwarded: isFull ? origin : true } : {}),
          ...(inTopic ? { thread: { id: "t", ...(isFull ? { title: "Scout" } : {}) } } : {}),
          ...(isFull ? { quote: { text: "scout?", from: origin } } : {}),
        });
        rig.wait(waits);
        if (isFull) rig.edit(`m${edits}`, "scout, yes");
        if (isFull) rig.react(edits % 2 === 0 ? `m${edits}` : `T${edits % 5}-0`);
        if (replies && rig.conversation.busy) rig.reply();
        return `${rule} ${JSON.stringify(rig.conversation.view().credits)}`;
      });
    };
    expect(decided(true)).toEqual(decided(false));
  },
);
