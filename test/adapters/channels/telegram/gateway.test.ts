/**
 * The poll loop against a Bot API server that misbehaves: what it survives, what it says, what ends
 * it.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { telegramChannel } from "../../../../src/adapters/channels/telegram/channel.ts";
import type { Route } from "../../../../src/domain/message.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { sampleToken, startTelegramServer } from "../../../support/servers/telegram.ts";

const definition = telegramChannel as ChannelDefinition;
const never = new AbortController().signal;

async function start(cursors?: Map<string, string>) {
  const server = await startTelegramServer();
  const ann = server.world.user("Ann");
  const group = server.world.group("Kitchen", [ann]);
  const config = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 20 };
  const open = () => openChannel(definition, config, cursors);
  onTestFinished(() => server.close());
  const run = () => {
    const channel = open();
    onTestFinished(() => channel.stop());
    return channel;
  };
  const say = (text: string) => String(server.world.say(group, ann, text).message_id);
  const route: Route = {
    channel: "telegram",
    account: "default",
    chat: { id: String(group.chat.id), kind: "group" },
    thread: null,
  };
  return { server, world: server.world, ann, group, run, say, route };
}

describe("telegram poll loop", () => {
  test("an update is confirmed only after it is durable", async () => {
    const { server, world, run, say } = await start();
    const channel = run();
    await channel.live();
    channel.refuseDeliveries(2);
    const id = say("keep me");
    await server.until(
      () => channel.logs.some(({ event }) => event === "telegram.intake-closed"),
      "refusal",
    );
    expect(world.queue).toHaveLength(1);
    await channel.message(id);
    await server.until(() => world.queue.length === 0, "confirmation");
  });

  test("the first poll of a new run starts at the stored cursor of this very bot", async () => {
    const cursors = new Map([
      ["4242", `1001@${Date.now()}`],
      ["999", `5000@${Date.now()}`],
    ]);
    const { server, run, say } = await start(cursors);
    const old = say("already handled");
    const fresh = say("not yet");
    const channel = run();
    await channel.message(fresh);
    expect(channel.identities()).toEqual([fresh]);
    expect(channel.identities()).not.toContain(old);
    expect(server.calls("getUpdates")[0]).toMatchObject({ offset: 1001 });
  });

  test("after more than a day away, a number that was skipped is a gap, reported once", async () => {
    const at = Date.now() - 3 * 86_400_000;
    const { world, run, say } = await start(new Map([["4242", `1000@${at}`]]));
    const old = say("Telegram keeps this for a day");
    const fresh = say("and this it still has");
    world.queue.shift();
    const channel = run();
    await channel.message(fresh);
    expect(channel.identities()).not.toContain(old);
    await channel.message(say("and goes on"));
    expect(channel.gaps).toEqual([
      { from: at, to: expect.closeTo(Date.now() - 86_400_000, -5), rooms: [], lost: "messages" },
    ]);
  });

  test.each([
    ["longer, and nothing was said", 1_000, 3 * 86_400_000],
    ["shorter than that", 990, 12 * 3_600_000],
  ])("a time away that is %s is no gap", async (_name, offset, ms) => {
    const { run, say } = await start(new Map([["4242", `${offset}@${Date.now() - ms}`]]));
    const channel = run();
    await channel.live();
    await channel.message(say("the next one"));
    expect(channel.gaps).toEqual([]);
  });

  test("an offset of a week ago is not used: Telegram may have begun to count anew", async () => {
    const cursors = new Map([["4242", `900000@${Date.now() - 7 * 86_400_000}`]]);
    const { server, run, say } = await start(cursors);
    const id = say("after a long silence");
    await run().message(id);
    expect(server.calls("getUpdates")[0]).not.toHaveProperty("offset");
  });

  test.each([
    ["an error of the server", { kind: "refuse", status: 500 }],
    ["a web page instead of JSON", { kind: "html", status: 502 }],
    ["a cut connection", { kind: "reset" }],
    ["a rate limit", { kind: "refuse", status: 429, retryAfter: 1 }],
    ["an answer lost on the way", { kind: "reset", done: true }],
  ] as const)("%s is backed off from and nothing is lost", async (_what, fault) => {
    const { server, run, say } = await start();
    const channel = run();
    await channel.live();
    const first = say("first");
    await channel.message(first);
    server.faults.add("getUpdates", fault);
    const second = say("second");
    await channel.message(second);
    const third = say("third");
    await channel.message(third);
    expect(channel.identities()).toEqual([first, second, third]);
    expect(channel.states.map(({ state }) => state)).toContain("backing-off");
    await channel.live();
  });

  test("a rate limit is waited out as told", async () => {
    const { server, run } = await start();
    server.faults.add("getMe", { kind: "refuse", status: 429, retryAfter: 1 });
    const channel = run();
    const began = performance.now();
    await channel.live();
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    expect(server.calls("getMe")).toHaveLength(2);
  });

  test("another poller on the same token is told about and does not end us", async () => {
    const { server, world, run, say } = await start();
    const channel = run();
    await channel.live();
    await server.until(() => server.calls("getUpdates").length >= 2, "a long poll");
    const steal = await fetch(`${server.apiRoot}/bot${sampleToken}/getUpdates`, { method: "POST" });
    expect(steal.ok).toBe(true);
    await channel.state("backing-off");
    expect(channel.states.at(-1)?.detail).toContain("another program receives");
    await channel.live();
    const id = say("still mine");
    await channel.message(id);
    expect(world.queue.length).toBeLessThanOrEqual(1);
  });

  test.each([401, 403, 404])("%i at login halts with one clear error", async (status) => {
    const { server, run } = await start();
    server.faults.add("getMe", { kind: "refuse", status }, 5);
    const channel = run();
    const error = await channel.ended();
    expect(error).toMatchObject({ code: "EAR_CHANNEL_AUTH", disposition: "terminal" });
    expect(server.calls("getMe")).toHaveLength(1);
    expect(String(error)).not.toContain(sampleToken);
  });

  test("updates out of order are delivered as they came and confirmed by the highest", async () => {
    const { server, world, run, say } = await start();
    server.faults.add("getUpdates", { kind: "reorder" });
    const ids = [say("one"), say("two")];
    const channel = run();
    await channel.message(ids[0] as string);
    expect(channel.identities()).toEqual(ids.toReversed());
    await server.until(() => world.queue.length === 0, "confirmation");
  });

  test("a burst larger than one answer arrives whole and in order", async () => {
    const { run, say } = await start();
    const ids = Array.from({ length: 250 }, (_, n) => say(`line ${n}`));
    const channel = run();
    await channel.message(ids.at(-1) as string);
    expect(channel.identities()).toEqual(ids);
  });

  test("unreadable updates are named in the log without their words", async () => {
    const { world, run, say } = await start();
    world.post({ message: { message_id: 1, text: "private words", chat: { id: "x" } } });
    const channel = run();
    await channel.message(say("readable"));
    expect(channel.logs).toContainEqual({
      level: "warn",
      event: "telegram.update-unreadable",
      fields: { update: 1000, at: "message.date" },
    });
    expect(JSON.stringify(channel.logs)).not.toContain("private words");
  });

  test("a kind of update that says nothing here is named in the log once", async () => {
    const { world, run, say } = await start();
    const business_message = { message_id: 1, date: 1, text: "private words", chat: { id: 5 } };
    world.post({ business_message });
    world.post({ business_message });
    const channel = run();
    await channel.message(say("for us"));
    const ignored = channel.logs.filter(({ event }) => event === "telegram.update-ignored");
    expect(ignored).toEqual([
      { level: "warn", event: "telegram.update-ignored", fields: { kind: "business_message" } },
    ]);
    expect(JSON.stringify(channel.logs)).not.toContain("private words");
  });
});

describe("telegram sends", () => {
  const send = { id: "t:0", text: "hi", signal: never };

  test("a topic's answer goes into the topic", async () => {
    const { world, ann, group, run, route } = await start();
    const topic = world.topic(group, ann, "Plans");
    const channel = run();
    const there = { ...route, thread: { id: String(topic), kind: "topic" as const } };
    await channel.outbound.sendText({ ...send, route: there });
    await channel.outbound.sendTyping?.(there, true, never);
    expect(world.answers(group)).toMatchObject([{ message_thread_id: topic, text: "hi" }]);
    expect(world.calls.find(({ method }) => method === "sendChatAction")?.payload).toEqual({
      chat_id: group.chat.id,
      message_thread_id: topic,
      action: "typing",
    });
  });

  test("a reply to a message that is gone is sent as a plain message", async () => {
    const { world, group, run, route } = await start();
    const outbound = run().outbound;
    await outbound.replyText({ ...send, route, replyTo: "99999", quote: false });
    expect(world.answers(group)).toMatchObject([{ text: "hi" }]);
    expect(world.answers(group)[0]).not.toHaveProperty("reply_to_message");
  });

  test("a retried long answer goes on where it was cut off", async () => {
    const { server, world, group, run, route } = await start();
    const outbound = run().outbound;
    const text = `${"a".repeat(4_000)}\n\n${"b".repeat(4_000)}\n\n${"c".repeat(4_000)}`;
    server.faults.add("sendMessage", { kind: "slow", ms: 0 });
    server.faults.add("sendMessage", { kind: "refuse", status: 429, retryAfter: 1 });
    await expect(outbound.sendText({ ...send, route, text })).rejects.toMatchObject({
      code: "EAR_CHANNEL_RATE",
    });
    const { messageIds } = await outbound.sendText({ ...send, route, text });
    const shown = world.answers(group);
    expect(shown.map((message) => message.text?.[0])).toEqual(["a", "b", "c"]);
    expect(messageIds).toEqual(shown.map(({ message_id }) => String(message_id)));
  });

  test("a send that is cancelled while it hangs is in doubt", async () => {
    const { server, run, route } = await start();
    const outbound = run().outbound;
    server.faults.add("sendMessage", { kind: "hang", done: true });
    const stop = new AbortController();
    const sending = outbound.sendText({ ...send, route, signal: stop.signal });
    await server.until(() => server.calls("sendMessage").length === 1, "the send");
    stop.abort();
    await expect(sending).rejects.toMatchObject({ code: "EAR_SEND_IN_DOUBT" });
  });

  test("a send that never left is not in doubt", async () => {
    const { server, run, route } = await start();
    const outbound = run().outbound;
    const cancelled = outbound.sendText({ ...send, route, signal: AbortSignal.abort() });
    await expect(cancelled).rejects.toMatchObject({ disposition: "retry" });
    await server.down();
    await expect(outbound.sendText({ ...send, route })).rejects.toMatchObject({
      code: "EAR_CHANNEL_UNAVAILABLE",
    });
  });

  test.each([
    ["chat not found", { chat: { id: "-100999", kind: "group" as const } }],
    ["a @name for a chat id", { chat: { id: "@everyone", kind: "group" as const } }],
  ])("%s is refused for good", async (_what, over) => {
    const { run, route } = await start();
    const sending = run().outbound.sendText({ ...send, route: { ...route, ...over } });
    await expect(sending).rejects.toMatchObject({ code: "EAR_CHANNEL_REJECTED" });
  });

  test("a chat that blocked the bot is refused for good", async () => {
    const { group, run, route } = await start();
    group.blocked = true;
    await expect(run().outbound.sendText({ ...send, route })).rejects.toMatchObject({
      disposition: "terminal",
    });
  });

  test("nothing but blanks sends nothing", async () => {
    const { server, run, route } = await start();
    const sent = await run().outbound.sendText({ ...send, route, text: " \n\u0000\n" });
    expect(sent).toEqual({ messageIds: [] });
    expect(server.calls("sendMessage")).toEqual([]);
  });

  test("members are counted, and called incomplete as soon as a bot may be among them", async () => {
    const { server, world, ann, group, route } = await start();
    const account = definition.open({
      accountId: "default",
      config: definition.accountSchema.parse({ botToken: sampleToken, apiRoot: server.apiRoot }),
      clock: {
        now: () => 0,
        monotonic: () => 0,
        setTimer: () => ({ at: 0 }),
        setLimit: () => ({ at: 0 }),
        clearTimer: () => {},
      },
      random: { next: () => 0 },
      log: () => {},
      deliver: async () => {},
      loadCursor: async () => null,
      reportState: () => {},
      reportGap: () => {},
    });
    const read = () => account.membership?.(route, never);
    expect(await read()).toEqual({ humans: 1, bots: 1, truncated: false });
    group.members.add(world.user("Bob").id).add(ann.id);
    expect(await read()).toEqual({ humans: 2, bots: 1, truncated: true });
    world.files.set("f1", Buffer.from("picture"));
    const body = await account.downloadMedia?.("f1", never);
    expect(await new Response(body as never).text()).toBe("picture");
    expect(await account.identify?.(never)).toEqual({ id: "4242", name: "@scout_bot" });
  });
});
