/**
 * What the account sends: styles of each dialect, quotes, edits, files, and what comes of refusals.
 */
import { expect, onTestFinished, test } from "vitest";
import { signalChannel } from "../../../../src/adapters/channels/signal/channel.ts";
import { signalTexts } from "../../../../src/adapters/channels/signal/rendering.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { startSignalDaemon } from "../../../support/signal/signal-daemon.ts";

const { signal } = new AbortController();

async function opened() {
  const daemon = await startSignalDaemon();
  const { rooms } = daemon;
  const people = ["Ann", "Bob"].map((name) => rooms.person(name));
  const group = rooms.group("kitchen", people);
  const config = { account: rooms.account, url: daemon.url, name: "Scout" };
  const channel = openChannel(signalChannel as ChannelDefinition, config);
  onTestFinished(async () => {
    await channel.stop();
    await daemon.down();
  });
  await channel.live();
  const [ann, bob] = people as [(typeof people)[0], (typeof people)[0]];
  const place = { channel: "signal", account: "default", thread: null };
  const route = { ...place, chat: { id: group.id, kind: "group" } } as const;
  const direct = { ...place, chat: { id: ann.uuid, kind: "direct" } } as const;
  return { daemon, rooms, ann, bob, group, channel, route, direct };
}

/** Each style with the words that it lies on, as Signal's apps show it. */
const shown = (markdown: string) =>
  signalTexts(markdown).map(({ message, styles }) => ({
    message,
    styles: styles.map((style) => {
      const [start, length, name] = style.split(":");
      return [name, message.slice(Number(start), Number(start) + Number(length))];
    }),
  }));

test.each([
  [
    "**bold** and *italic*",
    "bold and italic",
    [
      ["BOLD", "bold"],
      ["ITALIC", "italic"],
    ],
  ],
  ["~~gone~~", "gone", [["STRIKETHROUGH", "gone"]]],
  ["||secret||", "secret", [["SPOILER", "secret"]]],
  ["`x = 1`", "x = 1", [["MONOSPACE", "x = 1"]]],
  ["```js\nlet a;\nlet b;\n```", "let a;\nlet b;", [["MONOSPACE", "let a;\nlet b;"]]],
  ["# Title", "Title", [["BOLD", "Title"]]],
  ["- a\n  - b", "• a\n  • b", []],
  ["[docs](https://e.test/x)", "docs (https://e.test/x)", []],
  ["<https://e.test/x>", "https://e.test/x", []],
  ["> a\n> **b**\nc", "> a\n> b\nc", [["BOLD", "b"]]],
  [
    "😀 **שלום** 👩‍👩‍👧 `e\u0301`",
    "😀 שלום 👩‍👩‍👧 e\u0301",
    [
      ["BOLD", "שלום"],
      ["MONOSPACE", "e\u0301"],
    ],
  ],
  ["|a|b|\n|-|-|\n|1|2|", "a  b\n1  2", [["MONOSPACE", "a  b\n1  2"]]],
  ["no \ufffc mention", "no  mention", []],
  ["**unclosed", "**unclosed", []],
  ["[**b**](https://e.test/) x", "b (https://e.test/) x", [["BOLD", "b"]]],
])("%j is shown as %j", (markdown, message, styles) => {
  expect(shown(markdown)).toEqual([{ message, styles }]);
});

test("a reply quotes its message, with the words that were heard", async () => {
  const { rooms, ann, group, channel, route } = await opened();
  const at = rooms.say(ann, group, { message: "a question" });
  const replyTo = `${ann.uuid}:${at}`;
  await channel.message(replyTo);
  await channel.outbound.replyText({ route, id: "t:0", text: "yes", replyTo, quote: true, signal });
  expect(rooms.sent[0]?.quote).toEqual({ author: ann.uuid, timestamp: at, text: "a question" });
  // An id of another platform is no message here: it is sent without.
  await channel.outbound.replyText({
    route,
    id: "t:1",
    text: "x",
    replyTo: "77",
    quote: true,
    signal,
  });
  expect(rooms.sent[1]?.quote).toBeNull();
});

test("a direct answer goes to the person", async () => {
  const { rooms, ann, channel, direct } = await opened();
  await channel.outbound.sendText({ route: direct, id: "t:0", text: "hi", signal });
  expect(rooms.sent).toMatchObject([{ target: ann.uuid, message: "hi" }]);
});

test("a draft is edited eight times while it grows, and once more in the end", async () => {
  const { rooms, channel, route } = await opened();
  const request = { route, id: "t:0", signal };
  const [messageId = ""] = (await channel.outbound.sendText({ ...request, text: "0" })).messageIds;
  for (let n = 1; n <= 12; n += 1)
    await channel.outbound.editText?.({ ...request, messageId, text: `${n}`, growing: true });
  await channel.outbound.editText?.({ ...request, messageId, text: "**done**" });
  await channel.outbound.editText?.({ ...request, messageId, text: "**done**" });
  expect(rooms.sent).toHaveLength(1);
  expect(rooms.sent[0]).toMatchObject({ message: "done", textStyles: ["0:4:BOLD"] });
  expect(rooms.sent[0]?.edits).toHaveLength(9);
});

test("a file goes as a data URI with a harmless name, with its caption and reply", async () => {
  const { rooms, ann, group, channel, route } = await opened();
  const at = rooms.say(ann, group, { message: "send it" });
  const file = { mime: "text/plain", name: "a;b=c, d/é.txt", data: Buffer.from("hello") };
  const receipt = await channel.outbound.sendMedia?.({
    ...file,
    route,
    id: "t:0",
    signal,
    caption: "*here*",
    replyTo: `${ann.uuid}:${at}`,
  });
  const [sent] = rooms.sent;
  expect(receipt?.messageIds).toEqual([`${rooms.account}:${sent?.timestamp}`]);
  expect(sent).toMatchObject({
    message: "here",
    textStyles: ["0:4:ITALIC"],
    quote: { timestamp: at },
  });
  expect(sent?.attachments).toEqual([
    `data:text/plain;filename=a_b_c__d_é.txt;base64,${file.data.toString("base64")}`,
  ]);
});

test("a received file is fetched from the daemon", async () => {
  const { rooms, daemon } = await opened();
  rooms.files.set("a1.png", Buffer.from("picture"));
  const config = signalChannel.accountSchema.parse({ account: rooms.account, url: daemon.url });
  const account = signalChannel.open({
    accountId: "default",
    config,
    clock: {} as never,
    random: { next: () => 0.5 },
    log: () => undefined,
    deliver: async () => undefined,
    loadCursor: async () => null,
    reportState: () => undefined,
    reportGap: () => undefined,
  });
  const stream = await account.downloadMedia?.("a1.png", signal);
  expect(await new Response(stream).text()).toBe("picture");
  await expect(account.downloadMedia?.("other", signal)).rejects.toMatchObject({
    disposition: "retry",
  });
  const route = { channel: "signal", account: "default", thread: null } as const;
  const [group] = rooms.groups;
  const chat = { id: group?.id ?? "", kind: "group" } as const;
  expect(await account.membership?.({ ...route, chat }, signal)).toEqual({
    humans: 2,
    bots: 1,
    truncated: true,
  });
  expect(await account.identify?.(signal)).toEqual({ id: rooms.account, name: rooms.account });
});

test.each([
  ["UNREGISTERED_FAILURE", "terminal", "not registered"],
  ["IDENTITY_FAILURE", "terminal", "safety number"],
  ["INVALID_PRE_KEY_FAILURE", "terminal", "encrypted"],
  ["NETWORK_FAILURE", "in-doubt", "network"],
  ["RATE_LIMIT_FAILURE", "retry", "wait 60 s"],
])("%s for everybody is %s", async (type, disposition, words) => {
  const { rooms, ann, bob, channel, route } = await opened();
  for (const { uuid } of [ann, bob]) rooms.failures.set(uuid, type);
  const sent = channel.outbound.sendText({ route, id: "t:0", text: "hi", signal });
  await expect(sent).rejects.toMatchObject({
    disposition,
    message: expect.stringContaining(words) as string,
  });
});

test("when somebody got it, it is sent, and the log says how many did not", async () => {
  const { rooms, bob, channel, route } = await opened();
  rooms.failures.set(bob.uuid, "IDENTITY_FAILURE");
  const receipt = await channel.outbound.sendText({ route, id: "t:0", text: "hi", signal });
  expect(receipt.messageIds).toHaveLength(1);
  expect(channel.logs).toContainEqual({
    level: "warn",
    event: "signal.partly-sent",
    fields: { people: 1, of: 2, why: "IDENTITY_FAILURE" },
  });
});

test.each([
  [{ kind: "refuse", status: 500 } as const, "in-doubt"],
  [{ kind: "refuse", status: 503 } as const, "retry"],
  [{ kind: "refuse", status: 401 } as const, "terminal"],
  [{ kind: "html", status: 200 } as const, "in-doubt"],
  [{ kind: "html", status: 502 } as const, "in-doubt"],
  [{ kind: "reset" } as const, "in-doubt"],
])("a send that meets %j is %s", async (fault, disposition) => {
  const { daemon, rooms, channel, route } = await opened();
  daemon.faults.add("send", fault);
  const sent = channel.outbound.sendText({ route, id: "t:0", text: "hi", signal });
  await expect(sent).rejects.toMatchObject({ disposition });
  expect(rooms.sent).toEqual([]);
});

test("parts that have arrived are not sent again", async () => {
  const { daemon, rooms, channel, route } = await opened();
  const text = Array.from({ length: 900 }, (_, n) => `word${n}`).join(" ");
  daemon.faults.add("send", { kind: "slow", ms: 1 });
  daemon.faults.add("send", { kind: "refuse", status: 429, retryAfter: 1 });
  const request = { route, id: "t:0", text, signal };
  await expect(channel.outbound.sendText(request)).rejects.toMatchObject({ retryAfterMs: 1_000 });
  const { messageIds } = await channel.outbound.sendText(request);
  expect(messageIds).toHaveLength(rooms.sent.length);
  expect(rooms.sent.map(({ message }) => message).join(" ")).toBe(text);
});
