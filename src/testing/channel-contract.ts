/**
 * What every channel must do, whatever platform is behind it. Call it from a vitest file with a
 * descriptor that can start the platform (a test server, a fake) and write as its people; it
 * declares the tests. The descriptor omits abilities that the platform does not have, and their
 * tests are not declared.
 */
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { EarshotError } from "../domain/errors.ts";
import { editSchema, inboundSchema, reactionSchema } from "../domain/message.ts";
import type { ChannelDefinition } from "../domain/ports/index.ts";
import type { ChannelWorld } from "./channel-world.ts";
import { type OpenedChannel, openChannel } from "./open-channel.ts";

export interface ChannelContract {
  readonly name: string;
  readonly definition: ChannelDefinition;
  /** Starts the platform with a group of people and a bot in it. */
  readonly world: () => Promise<ChannelWorld>;
  /** Abilities besides receiving and sending messages; a test is declared for each. */
  readonly can: readonly ChannelAbility[];
  /** How many ASCII characters a person can write in one message; absent: the platform has no such limit. */
  readonly longest?: number;
}

/** One character, right to left, combining marks, and emoji of several code points. */
const unusualTexts = ["k", "שלום עולם — مرحبا", "Z͑ͫaͣlg͔o e\u0301", "👩‍👩‍👧 🇩🇪 👍🏽"];

/** Needs the functions of `ChannelWorld` of the same name; `line`: disconnect and reconnect. */
export type ChannelAbility =
  | "split"
  | "echo"
  | "edit"
  | "react"
  | "pings"
  | "reactions"
  | "limitNext"
  | "refuseNext"
  | "loseAnswer"
  | "line"
  | "redeliver"
  | "garbage"
  | "revoke";

interface Rig {
  readonly world: ChannelWorld;
  readonly channel: OpenedChannel;
}

const never = new AbortController().signal;

async function rig(contract: ChannelContract): Promise<Rig> {
  const world = await contract.world();
  const channel = openChannel(contract.definition, world.config, undefined, world.folder);
  onTestFinished(async () => {
    await channel.stop();
    await world.close();
    const sinks = inspect([channel.logs, channel.states, channel.errors], { depth: 20 });
    for (const secret of world.secrets) expect(sinks).not.toContain(secret);
  });
  world.connect?.(channel);
  await channel.live();
  return { world, channel };
}

/** The error of a send that must fail. */
async function failureOf(channel: OpenedChannel, work: Promise<unknown>): Promise<EarshotError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  channel.errors.push(error);
  expect(error).toBeInstanceOf(EarshotError);
  return error as EarshotError;
}

/** A function that the descriptor promised with `can`. */
function need<Ability>(ability: Ability | undefined): Ability {
  if (ability === undefined) throw new Error("the descriptor's `can` names what its world lacks");
  return ability;
}

/** Declares a test where the channel has the ability. */
const ableOf =
  ({ can }: ChannelContract) =>
  (ability: ChannelAbility, name: string, run: () => Promise<void>): void => {
    if (can.includes(ability)) test(name, run);
  };

/** Declares the contract tests for one channel. */
export function channelContract(contract: ChannelContract): void {
  describe(`channel contract: ${contract.name}`, () => {
    inboundTests(contract);
    outboundTests(contract);
    sendFaultTests(contract);
    lineFaultTests(contract);
  });
}

function inboundTests(contract: ChannelContract): void {
  const { definition } = contract;
  const able = ableOf(contract);

  test("a message arrives once, in the one normalised form", async () => {
    const { world, channel } = await rig(contract);
    const id = await world.say({ text: "hello there" });
    const message = await channel.message(id);
    expect(inboundSchema.parse(message)).toEqual(message);
    expect(message).toMatchObject({ channel: definition.id, text: "hello there", replyTo: null });
    expect(message.author).toMatchObject({ isBot: false, isSelf: false });
    expect(channel.messages()).toHaveLength(1);
  });

  test("mentions and replies are those that the platform reports, never guessed", async () => {
    const { world, channel } = await rig(contract);
    for (const [what, expected] of world.classified) {
      const message = await channel.message(await world.say(what));
      expect(message, JSON.stringify(what)).toMatchObject(expected);
    }
  });

  test("one character, right to left, combining marks and emoji arrive as written", async () => {
    const { world, channel } = await rig(contract);
    for (const text of unusualTexts)
      expect(await channel.message(await world.say({ text }))).toMatchObject({ text });
  });

  if (contract.longest !== undefined) {
    const text = "soup "
      .repeat(contract.longest / 5)
      .trimEnd()
      .padEnd(contract.longest, "!");
    test("the longest message that a person can write arrives whole", async () => {
      const { world, channel } = await rig(contract);
      expect((await channel.message(await world.say({ text }))).text).toBe(text);
    });
  }

  test("messages of one chat keep their order", async () => {
    const { world, channel } = await rig(contract);
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await world.say({ text: `line ${n}` }));
    await channel.message(ids.at(-1) as string);
    expect(channel.messages().map(({ id }) => id)).toEqual(ids);
  });

  test("it stops within 2 s, also in the middle of waiting", async () => {
    const { channel } = await rig(contract);
    const began = performance.now();
    await channel.stop();
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  able("echo", "what comes back from ourselves is marked as ours", async () => {
    const { world, channel } = await rig(contract);
    const message = await channel.message(await need(world.echo)("said by the bot"));
    expect(message.author.isSelf).toBe(true);
  });

  able("edit", "an edit is an edit of the same message, with the new text", async () => {
    const { world, channel } = await rig(contract);
    const id = await world.say({ text: "befor" });
    await channel.message(id);
    await need(world.edit)(id, "before");
    const edit = await channel.edit(id);
    expect(editSchema.parse(edit)).toEqual(edit);
    expect(edit.text).toBe("before");
    expect(channel.messages()).toHaveLength(1);
  });

  able(
    "react",
    "a person's reaction to a message of ours names both, added and removed",
    async () => {
      const { world, channel } = await rig(contract);
      const send = { route: world.route(), id: "t:0", text: "look", signal: never };
      const [id = ""] = (await channel.outbound.sendText(send)).messageIds;
      await need(world.react)(id, "👍", true);
      const put = await channel.reaction(id);
      expect(reactionSchema.parse(put)).toEqual(put);
      expect(put).toMatchObject({ id, added: ["👍"], removed: [], author: { isSelf: false } });
      await need(world.react)(id, "👍", false);
      expect(await channel.reaction(id, 2)).toMatchObject({ id, added: [], removed: ["👍"] });
      // Where our own come back, the message reacted to does.
      expect(channel.messages().filter(({ author }) => !author.isSelf)).toEqual([]);
    },
  );
}

function outboundTests(contract: ChannelContract): void {
  const { definition } = contract;
  const able = ableOf(contract);

  test("a send and a reply arrive where they were aimed", async () => {
    const { world, channel } = await rig(contract);
    const route = world.route();
    const asked = await world.say({ text: "a question" });
    const send = { route, signal: never };
    const first = await channel.outbound.sendText({ ...send, id: "t:0", text: "plain" });
    const second = await channel.outbound.replyText({
      ...send,
      id: "t:1",
      text: "an answer",
      replyTo: asked,
      quote: false,
    });
    const shown = await world.shown(2);
    expect(shown.map(({ id }) => id)).toEqual([...first.messageIds, ...second.messageIds]);
    expect(shown.map(({ text }) => text)).toEqual(["plain", "an answer"]);
    if (definition.capabilities.replyAuthor) expect(shown[1]?.replyTo).toBe(asked);
  });

  test("one character, right to left, combining marks and emoji are shown as sent", async () => {
    const { world, channel } = await rig(contract);
    for (const [index, text] of unusualTexts.entries())
      await channel.outbound.sendText({
        route: world.route(),
        id: `t:${index}`,
        text,
        signal: never,
      });
    const shown = await world.shown(unusualTexts.length);
    expect(shown.map(({ text }) => text)).toEqual(unusualTexts);
  });

  able(
    "split",
    "a text over the limit arrives whole in pieces that the platform takes",
    async () => {
      const { world, channel } = await rig(contract);
      const tokens = Array.from({ length: definition.textLimit / 4 }, (_, n) => `w${n}`);
      const request = { route: world.route(), id: "t:0", text: tokens.join(" "), signal: never };
      const { messageIds } = await channel.outbound.sendText(request);
      const shown = await world.shown(messageIds.length);
      for (const { text } of shown) expect(text.length).toBeLessThanOrEqual(definition.textLimit);
      expect(shown.flatMap(({ text }) => text.split(/\s+/))).toEqual(tokens);
    },
  );

  able("pings", "nobody is pinged by what the agent writes", async () => {
    const { world, channel } = await rig(contract);
    const text = "@everyone <!channel> [you](tg://user?id=7001) <@7001> [x](javascript:alert(1))";
    await channel.outbound.sendText({ route: world.route(), id: "t:0", text, signal: never });
    await world.shown(1);
    expect(need(world.pings)()).toBe(0);
  });

  able("reactions", "reactions, typing and edits show, and reactions go away again", async () => {
    const { world, channel } = await rig(contract);
    const { addReaction, removeReaction, sendTyping, editText } = channel.outbound;
    const route = world.route();
    const id = await world.say({ text: "look at this" });
    await need(addReaction)(route, id, "👀", never);
    expect(need(world.reactions)(id)).toEqual(["👀"]);
    await need(removeReaction)(route, id, "👀", never);
    expect(need(world.reactions)(id)).toEqual([]);
    await sendTyping?.(route, true, never);
    await sendTyping?.(route, false, never);
    if (world.typings !== undefined) expect(world.typings()).toBe(1);
    if (editText === undefined) return;
    const request = { route, id: "t:0", signal: never };
    const { messageIds } = await channel.outbound.sendText({ ...request, text: "draft" });
    const messageId = messageIds[0] as string;
    await editText({ ...request, text: "final", messageId });
    await editText({ ...request, text: "final", messageId });
    expect((await world.shown(1))[0]).toMatchObject({ id: messageId, text: "final" });
  });
}

function sendFaultTests(contract: ChannelContract): void {
  const able = ableOf(contract);
  const send = ({ world, channel }: Rig) =>
    channel.outbound.sendText({ route: world.route(), id: "t:0", text: "hi", signal: never });

  able("limitNext", "a rate limit is a retry with the time the platform asked for", async () => {
    const both = await rig(contract);
    need(both.world.limitNext)(3);
    const error = await failureOf(both.channel, send(both));
    const retryAfterMs = (both.world.waitSeconds ?? 3) * 1_000;
    expect(error).toMatchObject({ disposition: "retry", retryAfterMs });
    expect(await both.world.shown(0)).toEqual([]);
    await send(both);
    expect(await both.world.shown(1)).toHaveLength(1);
  });

  able("refuseNext", "a refusal is terminal", async () => {
    const both = await rig(contract);
    need(both.world.refuseNext)();
    expect((await failureOf(both.channel, send(both))).disposition).toBe("terminal");
  });

  able("loseAnswer", "a send whose answer is lost is in doubt", async () => {
    const both = await rig(contract);
    need(both.world.loseAnswer)();
    expect((await failureOf(both.channel, send(both))).disposition).toBe("in-doubt");
    expect(await both.world.shown(1)).toHaveLength(1);
  });

  able("line", "a send to a platform that is away may be tried again", async () => {
    const both = await rig(contract);
    await need(both.world.disconnect)();
    expect((await failureOf(both.channel, send(both))).disposition).toBe("retry");
  });
}

function lineFaultTests(contract: ChannelContract): void {
  const able = ableOf(contract);

  able("line", "messages sent during a disconnect arrive once, after the reconnect", async () => {
    const { world, channel } = await rig(contract);
    const before = await world.say({ text: "before" });
    await channel.message(before);
    await need(world.disconnect)();
    const during = await world.say({ text: "during" });
    await channel.state("backing-off");
    await need(world.reconnect)();
    await channel.live();
    const after = await world.say({ text: "after" });
    await channel.message(after);
    expect(channel.identities()).toEqual([before, during, after]);
  });

  able("line", "a new run takes up behind the last durable cursor", async () => {
    const first = await rig(contract);
    const before = await first.world.say({ text: "before" });
    await first.channel.message(before);
    await first.channel.stop();
    const between = await first.world.say({ text: "between" });
    const second = openChannel(
      contract.definition,
      first.world.config,
      first.channel.cursors,
      first.world.folder,
    );
    first.world.connect?.(second);
    onTestFinished(() => second.stop());
    await second.message(between);
    expect(
      second
        .messages()
        .map(({ id }) => id)
        .filter((id) => id !== before),
    ).toEqual([between]);
  });

  able("line", "nothing is lost while the store refuses", async () => {
    const { world, channel } = await rig(contract);
    channel.refuseDeliveries(2);
    const id = await world.say({ text: "wait for it" });
    await channel.message(id);
    expect(channel.identities()).toEqual([id]);
  });

  able("redeliver", "a redelivered message has the same identity", async () => {
    const { world, channel } = await rig(contract);
    need(world.redeliver)();
    const id = await world.say({ text: "again and again" });
    await channel.message(id);
    await expect.poll(() => channel.messages().length).toBe(2);
    const [first, second] = channel.messages();
    expect(second).toEqual(first);
  });

  able("garbage", "garbage is passed over, logged, and does not block the line", async () => {
    const { world, channel } = await rig(contract);
    need(world.garbage)();
    const id = await world.say({ text: "still here" });
    await channel.message(id);
    expect(channel.identities()).toEqual([id]);
    expect(channel.logs.some(({ level }) => level === "warn")).toBe(true);
  });

  able("revoke", "a refused login ends with one terminal error", async () => {
    const { world, channel } = await rig(contract);
    need(world.revoke)();
    const error = await channel.ended();
    expect(error).toMatchObject({ disposition: "terminal" });
  });
}
