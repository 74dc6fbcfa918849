/** The local channels keep the channel contract; what is theirs alone is shown below it. */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTerminal } from "../../../src/adapters/channels/terminal/channel.ts";
import { createWebhook } from "../../../src/adapters/channels/webhook/channel.ts";
import type { Route } from "../../../src/domain/message.ts";
import type { ChannelDefinition } from "../../../src/domain/ports/index.ts";
import { channelContract } from "../../../src/testing/channel-contract.ts";
import { openChannel } from "../../../src/testing/open-channel.ts";
import { terminalContract, webhookContract } from "../../support/daemon/local-channels.ts";

channelContract(terminalContract());
channelContract(webhookContract());

const signal = new AbortController().signal;
const place = (channel: string): Route => ({
  channel,
  account: "default",
  chat: { id: "room", kind: "group" },
  thread: null,
});

describe("terminal", () => {
  test("what was sent while nobody looked is shown to the next console", async () => {
    const terminal = createTerminal();
    const channel = openChannel(terminal.definition as ChannelDefinition, {});
    onTestFinished(() => channel.stop());
    const send = { route: place("terminal"), signal };
    await channel.outbound.sendText({ ...send, id: "t:0", text: "while you were away" });
    const seen: string[] = [];
    const typing: boolean[] = [];
    terminal.attach({ write: ({ text }) => seen.push(text), typing: (on) => typing.push(on) });
    await channel.outbound.sendText({ ...send, id: "t:1", text: "now" });
    await channel.outbound.sendTyping?.(place("terminal"), true, signal);
    expect(seen).toEqual(["while you were away", "now"]);
    expect(typing).toEqual([true]);
  });

  test("an edit reaches every console, one that cannot edit as a message, and what waits", async () => {
    const terminal = createTerminal();
    const channel = openChannel(terminal.definition as ChannelDefinition, {});
    onTestFinished(() => channel.stop());
    const send = { route: place("terminal"), signal, id: "t:0" };
    const { messageIds } = await channel.outbound.sendText({ ...send, text: "On" });
    const messageId = messageIds[0] as string;
    await channel.outbound.editText?.({ ...send, messageId, text: "Once" });
    const seen: string[] = [];
    const edited: string[] = [];
    terminal.attach({ write: ({ text }) => seen.push(text) });
    terminal.attach({ write: () => {}, edit: ({ id, text }) => edited.push(`${id} ${text}`) });
    await channel.outbound.editText?.({ ...send, messageId, text: "Once u", growing: true });
    await channel.outbound.editText?.({ ...send, messageId, text: "Once upon" });
    expect(seen).toEqual(["Once", "Once upon"]);
    expect(edited).toEqual([`${messageId} Once u`, `${messageId} Once upon`]);
  });

  test("a console cannot attach to a channel that is not open", () => {
    expect(() => createTerminal().attach({ write: () => {} })).toThrow(/is not open/);
  });
});

describe("webhook", () => {
  const secret = "a-secret-of-sixteen-or-more";

  async function receiver(
    status: number,
    headers: Record<string, string> = {},
    also: readonly string[] = [],
  ) {
    const got: { body: string; time: string; signature: string }[] = [];
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        got.push({
          body: Buffer.concat(parts).toString(),
          time: String(request.headers["earshot-timestamp"]),
          signature: String(request.headers["earshot-signature"]),
        });
        response.writeHead(status, headers).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/answers`;
    const webhook = createWebhook();
    const channel = openChannel(webhook.definition as ChannelDefinition, { url, secret, also });
    onTestFinished(() => channel.stop());
    const sending = () =>
      channel.outbound.replyText({
        route: place("webhook"),
        id: "t:0",
        text: "done",
        signal,
        replyTo: "m1",
        quote: false,
      });
    return { got, webhook, sending, outbound: channel.outbound };
  }

  test("an answer is posted with a signature over its time and bytes", async () => {
    const { got, webhook, sending } = await receiver(200);
    await sending();
    const [post] = got;
    expect(JSON.parse(post?.body ?? "")).toMatchObject({ id: "t:0", text: "done", replyTo: "m1" });
    const mac = createHmac("sha256", secret).update(`${post?.time}.${post?.body}`).digest("hex");
    expect(post?.signature).toBe(`sha256=${mac}`);
    expect(webhook.sent("default")).toHaveLength(1);
    expect(webhook.sent("other")).toEqual([]);
  });

  test("an edit is kept in place, and only the last one is posted, with what it replaces", async () => {
    const { got, webhook, sending, outbound } = await receiver(200);
    await sending();
    const { editText } = outbound;
    const edit = { route: place("webhook"), messageId: "t:0", signal };
    await editText?.({ ...edit, id: "t:0", text: "done and", growing: true });
    expect(got).toHaveLength(1);
    expect(webhook.sent()[0]?.text).toBe("done and");
    await editText?.({ ...edit, id: "t:1", text: "done and dusted" });
    expect(JSON.parse(got[1]?.body ?? "")).toMatchObject({
      id: "t:1",
      edits: "t:0",
      text: "done and dusted",
      replyTo: "m1",
    });
    expect(webhook.sent()).toMatchObject([{ id: "t:0", text: "done and dusted" }]);
  });

  test.each([
    [429, { disposition: "retry", retryAfterMs: 7_000 }],
    [503, { disposition: "retry" }],
    [410, { disposition: "terminal" }],
  ])("a receiver that says %i is answered in kind", async (status, expected) => {
    const { webhook, sending } = await receiver(status, { "retry-after": "7" });
    await expect(sending()).rejects.toMatchObject(expected);
    expect(webhook.sent()).toEqual([]);
  });

  test("a file is posted with its bytes, listed without them, and refused like a text", async () => {
    const { got, webhook, outbound } = await receiver(200, {}, ["files"]);
    const data = new TextEncoder().encode("two soups");
    const about = { kind: "file", name: "menu.txt", mime: "text/plain" } as const;
    const file = { route: place("webhook"), id: "t:0", signal, ...about, data };
    const address = { url: "https://example.com/menu.txt", replyTo: "m1" };
    await outbound.sendMedia?.({ ...file, caption: "the **menu**", ...address });
    await outbound.sendMedia?.({ ...file, id: "t:1:speech", mime: "audio/ogg", name: "a.ogg" });
    const [post, spoken] = got.map(({ body }) => JSON.parse(body));
    const media = { ...about, bytes: 9, url: address.url };
    expect(post).toMatchObject({ id: "t:0", text: "the **menu**", replyTo: "m1", media });
    expect(Buffer.from(post.media.data, "base64").toString()).toBe("two soups");
    expect(spoken).toMatchObject({ text: "", replyTo: null, media: { mime: "audio/ogg" } });
    expect(webhook.sent()[0]?.media).toEqual(media);
    const refusing = await receiver(413, {}, ["files"]);
    await expect(refusing.outbound.sendMedia?.(file)).rejects.toMatchObject({
      disposition: "terminal",
    });
  });

  test("choices are posted as such; files and choices that nobody asked for are texts", async () => {
    const { got, outbound } = await receiver(200, {}, ["choices"]);
    expect(outbound.sendMedia).toBeUndefined();
    const choices = { text: "Which?", options: ["tea", "coffee"] };
    const text = "Which?\n1. tea\n2. coffee";
    await outbound.sendChoices?.({ route: place("webhook"), id: "t:0", text, signal, choices });
    expect(JSON.parse(got[0]?.body ?? "")).toMatchObject({ id: "t:0", text: "Which?", choices });
    const plain = await receiver(200);
    expect(plain.outbound.sendChoices).toBeUndefined();
  });

  test("a url without a secret is refused by the schema", () => {
    const { accountSchema } = createWebhook().definition;
    expect(accountSchema.safeParse({ url: "https://example.com" }).success).toBe(false);
  });

  test("the list of what was sent is bounded", async () => {
    const webhook = createWebhook();
    const channel = openChannel(webhook.definition as ChannelDefinition, {});
    onTestFinished(() => channel.stop());
    for (let n = 0; n < 1_100; n += 1)
      await channel.outbound.sendText({ route: place("webhook"), id: `t:${n}`, text: "x", signal });
    expect(webhook.sent()).toHaveLength(1_000);
    expect(webhook.sent()[0]?.id).toBe("t:100");
  });
});
