/** What can go wrong between an account and its BlueBubbles server. */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { imessageChannel } from "../../../../src/adapters/channels/imessage/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { selfSigned } from "../../../support/daemon/self-signed.ts";
import { BlueBubblesServer, serverPassword } from "../../../support/imessage/bluebubbles-server.ts";
import { Mac } from "../../../support/imessage/mac.ts";

const never = new AbortController().signal;
const ann = "+4930111111";
const webhookSecret = "canary-webhook";

async function rig(url?: string) {
  const mac = new Mac();
  const group = mac.chat("iMessage;+;chat100", "kitchen", [ann]);
  const server = new BlueBubblesServer(mac);
  await server.up();
  const config = {
    backend: "bluebubbles",
    url: url ?? server.url,
    password: serverPassword,
    webhookSecret,
    pollMs: 100,
  };
  const channel = openChannel(imessageChannel as ChannelDefinition, config);
  onTestFinished(async () => {
    await channel.stop();
    await server.down();
  });
  const route = {
    channel: "imessage",
    account: "default",
    thread: null,
    chat: { id: group.guid, kind: "group" as const },
  };
  return { mac, server, channel, route, group };
}

const picture = { mime: "image/png", name: "soup.png", data: new Uint8Array([1, 2, 3]) };

test("a caption whose call fails is said by the retry, and the file is there once", async () => {
  const { mac, server, channel, route } = await rig();
  server.faults.add("message/text", { kind: "refuse", status: 429, retryAfter: 3 });
  const request = { route, id: "t:0", signal: never, caption: "the soup", ...picture };
  const send = () => channel.outbound.sendMedia?.(request);
  await expect(send()).rejects.toMatchObject({ disposition: "retry", retryAfterMs: 3_000 });
  const receipt = await send();
  expect(mac.sent.map(({ text }) => text)).toEqual(["", "the soup"]);
  expect(server.uploads).toHaveLength(1);
  expect(receipt?.messageIds).toEqual(mac.sent.map(({ guid }) => guid));
});

test("a caption whose answer is lost leaves the send in doubt", async () => {
  const { mac, server, channel, route } = await rig();
  server.faults.add("message/text", { kind: "reset", done: true });
  const request = { route, id: "t:0", signal: never, caption: "the soup", ...picture };
  const sent = channel.outbound.sendMedia?.(request);
  await expect(sent).rejects.toMatchObject({ disposition: "in-doubt" });
  expect(mac.sent.map(({ text }) => text)).toEqual(["", "the soup"]);
});

const photo = { guid: "at_0_1", name: "soup.jpeg", mime: "image/jpeg", path: "" };

test("a file that the Mac writes after its message belongs to it, and nothing overtakes it", async () => {
  const { mac, server, channel, group } = await rig();
  await channel.live();
  const asked = () => server.asked.filter((path) => path === "message/query").length;
  // Messages has a letter in the place of each file.
  const first = mac.write(group, ann, "\ufffcthe soup");
  const second = mac.write(group, ann, "is ready");
  const before = asked();
  // It is asked as often on a machine where each answer takes longer than the pause between two questions.
  server.faults.add("message/query", { kind: "slow", ms: 200 }, 4);
  Object.defineProperty(first, "files", { get: () => (asked() > before + 3 ? [photo] : []) });
  await channel.message(second.guid);
  expect(channel.identities()).toEqual([first.guid, second.guid]);
  expect(channel.messages()[0]).toMatchObject({
    text: "the soup",
    attachments: [{ id: "at_0_1", kind: "image", name: "soup.jpeg" }],
  });
});

test("a file that never comes holds nothing up for long", async () => {
  const { mac, channel, group } = await rig();
  await channel.live();
  const first = mac.write(group, ann, "\ufffcthe soup");
  const second = mac.write(group, ann, "is ready");
  await channel.message(second.guid);
  expect(channel.identities()).toEqual([first.guid, second.guid]);
});

test("a change that nobody can read is named in the log, without its words", async () => {
  const { channel } = await rig();
  const authorization = `Basic ${Buffer.from(`earshot:${webhookSecret}`).toString("base64")}`;
  const body = JSON.stringify({ type: "updated-message", data: { text: "secret", guid: 7 } });
  const request = { headers: { authorization }, now: Date.now() };
  expect(channel.hook?.inspectHeaders(request)).toEqual({ kind: "proven" });
  await channel.hook?.receive(Buffer.from(body), request);
  expect(channel.logs).toMatchObject([
    { level: "warn", event: "imessage.row-unreadable", fields: { at: "originalROWID" } },
  ]);
  expect(JSON.stringify(channel.logs)).not.toContain("secret");
});

test.each([
  ["itself", "localhost"],
  ["nobody we know", "Acme Root"],
])(
  "a server whose certificate is signed by %s got nothing: a send may be tried again",
  async (_, issuer) => {
    const { key, cert } = selfSigned("localhost", ["localhost"], issuer);
    const untrusted = createServer({ key, cert }, () => undefined);
    untrusted.listen(0, "127.0.0.1");
    await once(untrusted, "listening");
    onTestFinished(() => void untrusted.close());
    const { port } = untrusted.address() as AddressInfo;
    const { channel, route } = await rig(`https://localhost:${port}`);
    const sent = channel.outbound.sendText({ route, id: "t:0", text: "hi", signal: never });
    await expect(sent).rejects.toMatchObject({ disposition: "retry" });
  },
);
