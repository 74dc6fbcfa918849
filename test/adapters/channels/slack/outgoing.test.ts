/**
 * What the account sends: threads, files, buttons, edits, and what becomes of a send whose answer is lost.
 */
import { describe, expect, test } from "vitest";
import { never, routeTo, slack, slackRig } from "../../../support/slack/slack-rig.ts";
import { appToken, botToken } from "../../../support/slack/slack-server.ts";

async function rig(account = {}) {
  const all = await slackRig();
  const channel = all.open(account);
  await channel.live();
  const ours = (room = all.kitchen) =>
    [...room.messages.values()].filter(({ user }) => user === all.workspace.bot.id);
  return { ...all, channel, ours };
}

const request = (over: object = {}) => ({ id: "t:0", text: "hello", signal: never, ...over });

const errorOf = async (work: Promise<unknown>): Promise<{ message: string; disposition: string }> =>
  (await work.then(
    () => ({ message: "it worked", disposition: "none" }),
    (error: unknown) => error,
  )) as { message: string; disposition: string };

describe("threads", () => {
  test("an answer in a thread goes there, however old its first message is", async () => {
    const { workspace, ann, kitchen, channel, ours } = await rig();
    const ts = workspace.ts(Date.now() - 86_400_000 * 400);
    const root = workspace.store(kitchen, ann, "a year ago", { ts });
    const { messageIds } = await channel.outbound.replyText({
      ...request({ route: routeTo(kitchen, root.ts) }),
      route: routeTo(kitchen, root.ts),
      replyTo: root.ts,
      quote: false,
    });
    expect(ours()).toMatchObject([{ thread_ts: root.ts, ts: messageIds[0] }]);
    workspace.react(kitchen, messageIds[0] as string, ann, "+1", true);
    expect((await channel.reaction(messageIds[0] as string)).thread).toMatchObject({ id: root.ts });
  });

  test("a reply in a channel stays in it; with replyInThread it opens a thread, or goes to the message's own", async () => {
    const plain = await rig();
    const asked = plain.workspace.say(plain.kitchen, plain.ann, "well?");
    const reply = (room: typeof plain.kitchen, replyTo: string) =>
      request({ route: routeTo(room), replyTo, quote: false }) as never;
    await plain.channel.outbound.replyText(reply(plain.kitchen, asked.ts));
    expect(plain.ours()[0]).not.toHaveProperty("thread_ts");
    const inThread = await rig({ replyInThread: true });
    const root = inThread.workspace.say(inThread.kitchen, inThread.ann, "well?");
    await inThread.channel.outbound.replyText(reply(inThread.kitchen, root.ts));
    const inner = inThread.workspace.say(inThread.kitchen, inThread.bob, "hm", {
      thread_ts: root.ts,
    });
    await inThread.channel.message(inner.ts);
    await inThread.channel.outbound.replyText(reply(inThread.kitchen, inner.ts));
    await inThread.channel.outbound.replyText(reply(inThread.kitchen, "slash:1.2.abc"));
    expect(inThread.ours().map(({ thread_ts }) => thread_ts)).toEqual([
      root.ts,
      root.ts,
      undefined,
    ]);
    const alone = inThread.workspace.say(inThread.direct, inThread.ann, "psst");
    await inThread.channel.outbound.replyText(reply(inThread.direct, alone.ts));
    expect(inThread.ours(inThread.direct)[0]).not.toHaveProperty("thread_ts");
  });
});

describe("a lost answer", () => {
  test.each([
    ["a reset", { kind: "reset", done: true } as const],
    ["a proxy's page", { kind: "html", status: 200 } as const],
    ["a failing server", { kind: "refuse", status: 500 } as const],
  ])(
    "after %s the message is looked for: if it is there, it has been sent",
    async (_what, fault) => {
      const { server, kitchen, channel, ours } = await rig();
      server.faults.add("chat.postMessage", fault);
      const route = routeTo(kitchen);
      const sending = channel.outbound.sendText({ ...request(), route });
      if ("done" in fault) {
        const { messageIds } = await sending;
        expect(ours().map(({ ts }) => ts)).toEqual(messageIds);
        return;
      }
      // Nothing is there, and it may still arrive.
      expect((await errorOf(sending)).disposition).toBe("in-doubt");
      expect(server.called("chat.postMessage")).toHaveLength(1);
    },
  );

  test("in a thread, too; and another send's message is not taken for this one's", async () => {
    const { server, workspace, ann, kitchen, channel, ours } = await rig();
    const root = workspace.say(kitchen, ann, "root");
    const route = routeTo(kitchen, root.ts);
    await channel.outbound.sendText({ ...request({ id: "t:0" }), route });
    server.faults.add("chat.postMessage", { kind: "reset" });
    expect(
      (await errorOf(channel.outbound.sendText({ ...request({ id: "t:1" }), route }))).disposition,
    ).toBe("in-doubt");
    server.faults.add("chat.postMessage", { kind: "reset", done: true });
    const { messageIds } = await channel.outbound.sendText({ ...request({ id: "t:2" }), route });
    expect(ours().map(({ ts }) => ts)).toContain(messageIds[0]);
    expect(ours()).toHaveLength(2);
  });

  test("a long answer goes on after the last part that arrived", async () => {
    const { server, kitchen, channel, ours } = await rig();
    const text = Array.from({ length: 2_000 }, (_, n) => `w${n}`).join(" ");
    const send = () => channel.outbound.sendText({ ...request({ text }), route: routeTo(kitchen) });
    server.faults.add("chat.postMessage", { kind: "slow", ms: 1 });
    server.faults.add("chat.postMessage", { kind: "refuse", status: 429, retryAfter: 2 });
    expect(await errorOf(send())).toMatchObject({ disposition: "retry", retryAfterMs: 2_000 });
    const { messageIds } = await send();
    expect(ours().map(({ ts }) => ts)).toEqual(messageIds);
    expect(messageIds.length).toBeGreaterThan(2);
  });
});

test("refusals name what is wrong: a missing scope, a channel without the bot, a message that is gone", async () => {
  const { server, workspace, ann, kitchen, channel } = await rig();
  const route = routeTo(kitchen);
  server.missing.set("reactions.add", "reactions:write");
  const { ts } = workspace.say(kitchen, ann, "look");
  const reaction = await errorOf(
    channel.outbound.addReaction?.(route, ts, "👀", never) ?? Promise.resolve(),
  );
  expect(reaction).toMatchObject({ disposition: "terminal" });
  expect(reaction.message).toContain("the scope reactions:write is missing");
  const away = workspace.room("channel", "away", [ann], false);
  const outside = await errorOf(channel.outbound.sendText({ ...request(), route: routeTo(away) }));
  expect(outside).toMatchObject({ disposition: "terminal" });
  expect(outside.message).toContain("not_in_channel");
  const gone = { ...request(), route, messageId: "1.000001" };
  expect((await errorOf(channel.outbound.editText?.(gone) ?? Promise.resolve())).message).toContain(
    "message_not_found",
  );
  const unnamed = channel.outbound.addReaction?.(route, ts, "🦤", never) ?? Promise.resolve();
  expect((await errorOf(unnamed)).disposition).toBe("terminal");
});

test("a text that grows is changed in place; the rest of a long one follows when it is complete", async () => {
  const { kitchen, channel, ours, server, workspace, ann } = await rig();
  const route = routeTo(kitchen);
  const { messageIds } = await channel.outbound.sendText({ ...request({ text: "a" }), route });
  const [messageId = ""] = messageIds;
  const long = Array.from({ length: 1_200 }, (_, n) => `&${n}`).join(" ");
  const edit = { ...request({ text: long }), route, messageId };
  await channel.outbound.editText?.({ ...edit, growing: true });
  expect(ours()).toHaveLength(1);
  await channel.outbound.editText?.(edit);
  expect(ours()).toHaveLength(2);
  expect(server.called("chat.update")).toHaveLength(2);
  // Its own edits come back as events, too.
  await channel.message(workspace.say(kitchen, ann, "after").ts);
  expect(channel.events()).toHaveLength(1);
});

describe("files", () => {
  const file = { name: "soup.png", mime: "image/png", data: Buffer.from("not really a picture") };

  test("are uploaded and shown in the thread, with a caption that mentions nobody", async () => {
    const { server, workspace, ann, kitchen, channel, ours } = await rig();
    const root = workspace.say(kitchen, ann, "root");
    const sent = await channel.outbound.sendMedia?.({
      ...file,
      id: "t:0",
      signal: never,
      route: routeTo(kitchen, root.ts),
      caption: "**soup** <!here>",
    });
    const [message] = ours();
    expect(message).toMatchObject({ thread_ts: root.ts, files: [{ name: "soup.png" }] });
    expect(sent?.messageIds).toEqual([message?.ts]);
    expect(JSON.stringify(message?.blocks)).not.toContain("broadcast");
    expect([...workspace.files.values()][0]?.data.toString()).toBe("not really a picture");
    expect(server.called("files.getUploadURLExternal")[0]).toMatchObject({ length: "20" });
  });

  test("of a room are fetched with the token; without the scope Slack shows a page, which is no file", async () => {
    const { server, workspace } = await rig();
    workspace.files.set("F0SOUP", {
      id: "F0SOUP",
      name: "soup.png",
      mimetype: "image/png",
      share: null,
      data: Buffer.from("soup"),
    });
    const download = () => open(server.apiRoot).downloadMedia?.("F0SOUP", never);
    expect(await new Response((await download()) ?? null).text()).toBe("soup");
    server.scopes = server.scopes.filter((scope) => scope !== "files:read");
    expect((await errorOf(download() ?? Promise.resolve())).message).toContain("files:read");
  });
});

/** An account that only asks. */
const open = (apiRoot: string, more = {}) =>
  slack.open({
    accountId: "default",
    config: slack.accountSchema.parse({ botToken, appToken, apiRoot, ...more }),
  } as never);

describe("buttons and slash commands", () => {
  test("choices are buttons; a press is what the person says, and comes in its thread", async () => {
    const { workspace, ann, bob, kitchen, channel } = await rig();
    const root = workspace.say(kitchen, bob, "root");
    const choices = { text: "**Soup** or tea?", options: ["Soup", "Tea & cake"] };
    const sent = await channel.outbound.sendChoices?.({
      ...request({ text: "Soup or tea?\n1. Soup\n2. Tea & cake" }),
      route: routeTo(kitchen, root.ts),
      choices,
    });
    const [question = ""] = sent?.messageIds ?? [];
    workspace.press(kitchen, question, ann, "Tea & cake");
    await expect.poll(() => channel.messages().length).toBe(2);
    expect(channel.messages()[1]).toMatchObject({
      text: "Tea & cake",
      author: { id: ann.id, name: "Ann", isSelf: false, isBot: false },
      thread: { id: root.ts },
      replyTo: { id: question, authorIsSelf: true, text: "Soup or tea?" },
    });
    expect(channel.messages()[1]?.id).toMatch(/^\d+\.\d+#/);
  });

  test("a poll is a numbered list, and foreign buttons say nothing", async () => {
    const { workspace, ann, kitchen, channel, ours } = await rig();
    const text = "Soup?\n1. Yes\n2. No";
    const choices = { text: "Soup?", options: ["Yes", "No"], poll: true as const };
    const route = routeTo(kitchen);
    await channel.outbound.sendChoices?.({ ...request({ text }), route, choices });
    expect(ours()[0]?.text).toBe(text);
    const blocks = [
      {
        type: "actions",
        elements: [{ type: "button", action_id: "x", text: { type: "plain_text", text: "Go" } }],
      },
    ];
    const foreign = workspace.store(kitchen, workspace.bot, "other", { blocks });
    workspace.press(kitchen, foreign.ts, ann, "Go");
    await channel.message(workspace.say(kitchen, ann, "after").ts);
    expect(channel.messages()).toHaveLength(1);
  });

  test("a slash command is said to the bot by its author", async () => {
    const { workspace, ann, kitchen, direct, channel } = await rig();
    workspace.command(kitchen, ann, "/scout", "what is &lt;this&gt;?");
    workspace.command(direct, ann, "/scout", "");
    workspace.command(direct, ann, "/scout", "hello");
    await expect.poll(() => channel.messages().length).toBe(2);
    expect(channel.messages().find(({ chat }) => chat.id === kitchen.id)).toMatchObject({
      text: "what is <this>?",
      author: { id: ann.id, name: "Ann" },
      mentions: [{ id: workspace.bot.id, isSelf: true }],
      id: expect.stringMatching(/^slash:/),
    });
  });
});

describe("what can be asked", () => {
  test("who is in a room, as far as it is known", async () => {
    const { server, workspace, ann, bob, kitchen, direct } = await rig();
    const account = open(server.apiRoot);
    kitchen.members.add(workspace.user("Robot", { is_bot: true }).id);
    expect(await account.membership?.(routeTo(kitchen), never)).toEqual({
      humans: 2,
      bots: 2,
      truncated: false,
    });
    expect(await account.membership?.(routeTo(direct), never)).toMatchObject({
      humans: 1,
      bots: 1,
    });
    const many = Array.from({ length: 60 }, (_, n) => workspace.user(`P${n}`));
    const crowd = workspace.room("channel", "crowd", [ann, bob, ...many]);
    expect(await account.membership?.(routeTo(crowd), never)).toMatchObject({
      truncated: true,
    });
  });

  test("what was said last, in a room and in a thread, oldest first", async () => {
    const { server, workspace, ann, bob, kitchen } = await rig();
    const root = workspace.say(kitchen, ann, "one");
    workspace.say(kitchen, bob, "two");
    workspace.say(kitchen, bob, "inside", { thread_ts: root.ts });
    workspace.say(kitchen, bob, "inside again", { thread_ts: root.ts });
    const account = open(server.apiRoot);
    const read = async (thread: string | null, limit: number) =>
      (await account.history?.(routeTo(kitchen, thread), limit, never))?.map(({ text }) => text);
    expect(await read(null, 10)).toEqual(["one", "two"]);
    expect(await read(null, 1)).toEqual(["two"]);
    expect(await read(root.ts, 2)).toEqual(["inside", "inside again"]);
  });

  test("who the bot is, which scopes it lacks, and whether both tokens are good", async () => {
    const { server, workspace } = await rig();
    const identify = (more = {}) => open(server.apiRoot, more).identify?.(never);
    expect(await identify()).toEqual({ id: workspace.bot.id, name: "@scout" });
    server.scopes = server.scopes.filter((scope) => scope !== "groups:history");
    const identity = await identify();
    expect(identity?.notes).toHaveLength(1);
    expect(identity?.notes?.[0]).toContain("groups:history is missing: it does not hear private");
    server.missing.set("apps.connections.open", "connections:write");
    const refused = await errorOf(identify() ?? Promise.resolve());
    expect(refused).toMatchObject({ disposition: "terminal" });
    expect(refused.message).toContain("connections:write");
    expect(await identify({ appToken: undefined, signingSecret: "eight-letters" })).toBeDefined();
  });
});

test("an account needs one of the two ways to hear", () => {
  const only = (fields: object) => slack.accountSchema.safeParse({ botToken, ...fields }).success;
  expect(only({})).toBe(false);
  expect(only({ appToken })).toBe(true);
  expect(only({ signingSecret: "0123456789abcdef" })).toBe(true);
  expect(only({ appToken, botToken: "x y" })).toBe(false);
});
