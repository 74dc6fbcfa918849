/** What a Matrix account sends, read back from the homeserver as other clients would. */
import { expect, onTestFinished, test } from "vitest";
import { matrixChannel } from "../../../../src/adapters/channels/matrix/channel.ts";
import { matrixParts } from "../../../../src/adapters/channels/matrix/rendering.ts";
import { UnsentError } from "../../../../src/adapters/channels/shared/unsent.ts";
import { createSystemClock } from "../../../../src/adapters/system/clock.ts";
import type { EarshotError } from "../../../../src/domain/errors.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { startBot } from "../../../support/matrix/matrix-world.ts";

const signal = new AbortController().signal;

async function rig(more: object = {}) {
  const { server, rooms, scout, config } = await startBot();
  const ann = rooms.person("ann", "Ann");
  const kitchen = rooms.room("kitchen", [ann, scout]);
  const channel = openChannel(matrixChannel as ChannelDefinition, { ...config, ...more });
  onTestFinished(async () => {
    await channel.stop();
    await server.down();
  });
  await channel.live();
  const route = {
    channel: "matrix",
    account: "default",
    chat: { id: kitchen, kind: "group" as const },
    thread: null,
  };
  /** The contents of our messages. */
  const sent = () =>
    rooms
      .events(kitchen)
      .filter(({ type, sender }) => type === "m.room.message" && sender === scout)
      .map(({ content }) => content);
  const text = (id: string, words: string, on: object = {}) =>
    channel.outbound.sendText({ route: { ...route, ...on }, id, text: words, signal });
  return { server, rooms, scout, ann, kitchen, channel, route, sent, text };
}

const failureOf = (work: Promise<unknown>): Promise<EarshotError> =>
  work.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: EarshotError) => error,
  );

test("a send whose answer is lost is repeated with the same transaction id and shows once", async () => {
  const { server, text, sent } = await rig();
  server.faults.add("send", { kind: "reset", done: true });
  expect(await failureOf(text("t:0", "once"))).toMatchObject({ disposition: "retry" });
  const { messageIds } = await text("t:0", "once");
  expect(messageIds).toHaveLength(1);
  expect(sent()).toHaveLength(1);
  await text("t:1", "once");
  expect(sent()).toHaveLength(2);
});

test("many sends at once are all there, and Node warns of nothing", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const { channel, route, sent } = await rig();
  const send = (n: number) => {
    const own = new AbortController().signal;
    const request = { route, id: `t:${n}`, text: `number ${n}`, signal: own };
    return channel.outbound.sendText(request);
  };
  await Promise.all(Array.from({ length: 40 }, (_, n) => send(n)));
  expect(sent()).toHaveLength(40);
  expect(warnings).toEqual([]);
});

test("a homeserver that is not there is named by the system's code, and such a send was never one", async () => {
  const { server, text } = await rig();
  await server.down();
  const error = await failureOf(text("t:0", "hi"));
  expect(error).toBeInstanceOf(UnsentError);
  expect(error.message).toContain("ECONNREFUSED");
  await server.up();
});

test("of a text in parts, those that arrived are not sent again", async () => {
  const { server, text, sent } = await rig();
  const long = Array.from({ length: 4_000 }, (_, n) => `word${n}`).join(" ");
  server.faults.add("send", { kind: "slow", ms: 1 });
  server.faults.add("send", { kind: "refuse", status: 502 });
  expect((await failureOf(text("t:0", long))).disposition).toBe("retry");
  const before = sent().length;
  const { messageIds } = await text("t:0", long);
  expect(before).toBe(1);
  expect(sent()).toHaveLength(messageIds.length);
  expect(
    sent()
      .map(({ body }) => body)
      .join(" "),
  ).toBe(long);
});

test("an unanswered send is in doubt when homeservers may have forgotten its transaction", async () => {
  const { server, scout, config } = await startBot();
  const kitchen = server.rooms.room("kitchen", [scout]);
  const clock = { ...createSystemClock(), now: Date.now };
  let monotonic = 0;
  clock.monotonic = () => monotonic;
  const account = matrixChannel.open({
    accountId: "default",
    config: matrixChannel.accountSchema.parse(config),
    clock,
    random: { next: () => 0.5 },
    log: () => undefined,
    deliver: async () => undefined,
    loadCursor: async () => null,
    reportState: () => undefined,
    reportGap: () => undefined,
  });
  const stop = new AbortController();
  const running = account.start(stop.signal);
  await server.until(() => server.requests.filter((name) => name === "sync").length > 1, "a sync");
  const route = {
    channel: "matrix",
    account: "default",
    chat: { id: kitchen, kind: "group" as const },
    thread: null,
  };
  const send = () => account.outbound.sendText({ route, id: "t:0", text: "hi", signal });
  server.faults.add("send", { kind: "reset", done: false });
  expect((await failureOf(send())).disposition).toBe("retry");
  monotonic = 21 * 60_000;
  expect((await failureOf(send())).disposition).toBe("in-doubt");
  stop.abort();
  await running;
  await server.down();
});

test("replies and threads have the relations that clients show", async () => {
  const { channel, route, ann, rooms, kitchen, sent, text } = await rig();
  const say = (body: string) =>
    rooms.send(kitchen, ann, "m.room.message", { msgtype: "m.text", body });
  const [root, asked] = [say("a thread"), say("a question")];
  const thread = { thread: { id: root, kind: "thread" as const } };
  await text("t:0", "in the thread", thread);
  const reply = { id: "t:1", text: "so", replyTo: asked, quote: false, signal };
  await channel.outbound.replyText({ ...reply, route: { ...route, ...thread } });
  await channel.outbound.replyText({ ...reply, id: "t:2", route });
  expect(sent().map((content) => content["m.relates_to"])).toEqual([
    {
      rel_type: "m.thread",
      event_id: root,
      is_falling_back: true,
      "m.in_reply_to": { event_id: root },
    },
    {
      rel_type: "m.thread",
      event_id: root,
      is_falling_back: false,
      "m.in_reply_to": { event_id: asked },
    },
    { "m.in_reply_to": { event_id: asked } },
  ]);
});

test("messages are marked as automatic, or as a person's where the config says so", async () => {
  const first = await rig();
  await first.text("t:0", "hi");
  expect(first.sent()[0]).toEqual({ msgtype: "m.notice", body: "hi", "m.mentions": {} });
  const second = await rig({ sendAs: "text" });
  await second.text("t:0", "hi");
  expect(second.sent()[0]).toMatchObject({ msgtype: "m.text" });
});

test("a link to a person, and the word for everybody, notify nobody", async () => {
  const { text, sent } = await rig();
  await text("t:0", "@room [you](https://matrix.to/#/@ann:hs.test)");
  expect(sent()[0]).toMatchObject({ "m.mentions": {} });
});

test("nothing is sent to an encrypted room, and it says why", async () => {
  const { rooms, scout, ann, route, channel, sent } = await rig();
  const secret = rooms.room("secret", [ann, scout]);
  const algorithm = "m.megolm.v1.aes-sha2";
  rooms.state(secret, ann, "m.room.encryption", "", { algorithm });
  const id = rooms.send(secret, ann, "m.room.encrypted", { algorithm, ciphertext: "AwgA" });
  expect(id).not.toBe("");
  await expect.poll(() => channel.states.at(-1)?.detail).toMatch(/encrypted.*secret/);
  const there = { ...route, chat: { id: secret, kind: "group" as const } };
  const error = await failureOf(
    channel.outbound.sendText({ route: there, id: "t:0", text: "x", signal }),
  );
  expect(error).toMatchObject({
    disposition: "terminal",
    message: expect.stringMatching(/encrypted/),
  });
  expect(sent()).toEqual([]);
  expect(channel.logs.map(({ event }) => event)).toContain("matrix.encrypted");
});

test("a file goes up and its message names it; a person's file comes back byte for byte", async () => {
  const { server, channel, route, rooms, ann, kitchen, sent } = await rig();
  const data = new Uint8Array([0, 255, 10, 13, 128]);
  await channel.outbound.sendMedia?.({
    route,
    id: "t:0",
    mime: "image/png",
    name: "hat.png",
    data,
    caption: "a **hat**",
    signal,
  });
  expect(sent()[0]).toMatchObject({
    msgtype: "m.image",
    body: "a hat",
    formatted_body: "a <strong>hat</strong>",
    filename: "hat.png",
    url: "mxc://hs.test/file1",
    info: { mimetype: "image/png", size: 5 },
  });
  expect(server.files.get("file1")).toEqual({ type: "image/png", bytes: Buffer.from(data) });
  const url = "mxc://hs.test/file1";
  const content = { msgtype: "m.image", body: "hat.png", url, info: { mimetype: "image/png" } };
  const message = await channel.message(rooms.send(kitchen, ann, "m.room.message", content));
  expect(message.attachments).toEqual([
    { id: url, kind: "image", mime: "image/png", name: "hat.png" },
  ]);
  const account = matrixChannel.open({
    config: matrixChannel.accountSchema.parse({
      homeserver: server.url,
      accessToken: "syt_canary_matrix_token",
    }),
  } as never);
  const stream = await account.downloadMedia?.(url, signal);
  expect(new Uint8Array(await new Response(stream).arrayBuffer())).toEqual(data);
});

test("a reaction of an earlier run is found and taken back", async () => {
  const { channel, route, rooms, scout, ann, kitchen } = await rig();
  const id = rooms.send(kitchen, ann, "m.room.message", { msgtype: "m.text", body: "look" });
  const relation = { rel_type: "m.annotation", event_id: id, key: "👀" };
  rooms.send(kitchen, scout, "m.reaction", { "m.relates_to": relation });
  // It is there already, which is what was wanted.
  await channel.outbound.addReaction?.(route, id, "👀", signal);
  await channel.outbound.removeReaction?.(route, id, "👀", signal);
  const left = rooms
    .events(kitchen)
    .filter(({ type, content }) => type === "m.reaction" && content["m.relates_to"]);
  expect(left).toEqual([]);
});

const html = (markdown: string) =>
  matrixParts(markdown).map(({ formatted_body }) => formatted_body);

test.each([
  ["plain", "hello", undefined],
  ["bold, italic in it", "**a *b* c**", "<strong>a <em>b</em> c</strong>"],
  ["struck out", "~~no~~ yes", "<del>no</del> yes"],
  ["what would be HTML", '**<b>** & "x"', "<strong>&lt;b&gt;</strong> &amp; &quot;x&quot;"],
  ["code", "`a <b> *c*`", "<code>a &lt;b&gt; *c*</code>"],
  [
    "a block",
    "see\n```js\nlet a = 1 < 2;\nb\n```\nok",
    'see<pre><code class="language-js">let a = 1 &lt; 2;\nb</code></pre>ok',
  ],
  [
    "a quote",
    "> said **so**\n> twice\n\nyes",
    "<blockquote>said <strong>so</strong><br>twice</blockquote><br>yes",
  ],
  [
    "a link",
    "[docs](https://example.org/a?b=c&d)",
    '<a href="https://example.org/a?b=c&amp;d">docs</a>',
  ],
  ["a spoiler", "||secret||", "<span data-mx-spoiler>secret</span>"],
])("%s", (_name, markdown, expected) => {
  expect(html(markdown)).toEqual([expected]);
});

test("the plain text says all of it, too: addresses behind links, marks before quotes", () => {
  const [part] = matrixParts("[docs](https://example.org/x)\n\n> said");
  expect(part?.body).toBe("docs (https://example.org/x)\n\n> said");
});

test("right to left, marks and emoji stay whole where a text is split", () => {
  const words = "שלום 👩‍👩‍👧 é ".repeat(2_000);
  const parts = matrixParts(words);
  expect(parts.length).toBeGreaterThan(1);
  expect(
    parts
      .map(({ body }) => body)
      .join(" ")
      .replace(/\s+/g, " ")
      .trim(),
  ).toBe(words.replace(/\s+/g, " ").trim());
});
