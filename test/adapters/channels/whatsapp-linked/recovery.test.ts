/** How connections end, what a crash between decrypting and delivering leaves, and messages that come again. */
import { expect, onTestFinished, test, vi } from "vitest";
import { whatsappLinkedChannel } from "../../../../src/adapters/channels/whatsapp-linked/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { speak, startLinked } from "../../../support/whatsapp-linked/linked-world.ts";

const definition = whatsappLinkedChannel as ChannelDefinition;

async function rig() {
  const linked = await startLinked();
  const { server, device, config, folder } = linked;
  const ann = server.person("15550107001", "90007001", "Ann");
  onTestFinished(() => linked.close());
  const open = () => {
    const channel = openChannel(definition, config, undefined, folder);
    onTestFinished(() => channel.stop());
    return channel;
  };
  const say = (text: string) =>
    speak(server, device, { by: ann, in: null, message: { conversation: text } });
  return { server, device, ann, open, say };
}

test("a restart that WhatsApp asks for is no failure", async () => {
  const { server, device, open, say } = await rig();
  const channel = open();
  await channel.live();
  server.endStream(515);
  await server.until(() => device.line !== null);
  const message = await channel.message(await say("after"));
  expect(message.text).toBe("after");
  expect(channel.states.map(({ state }) => state)).not.toContain("backing-off");
});

test.each([
  [440, "another program took this device's place"],
  [401, "WhatsApp has logged this device out"],
])("the end with %i halts, and says what to do", async (code, says) => {
  const { server, open } = await rig();
  const channel = open();
  await channel.live();
  server.endStream(code);
  expect(await channel.ended()).toMatchObject({
    code: "EAR_CHANNEL_AUTH",
    message: expect.stringMatching(`${says}.*earshot channels link whatsapp-linked`),
  });
});

test.each([
  [403, /blocked this number/],
  [405, /newer baileys/],
])("a login that is refused with %i halts, and says what to do", async (code, says) => {
  const { server, open } = await rig();
  server.refuses = code;
  expect(await open().ended()).toMatchObject({ message: expect.stringMatching(says) });
});

test("what several people said while it was away comes in its order, and before what is said now", async () => {
  const { server, device, ann, open, say } = await rig();
  const first = open();
  await first.live();
  await first.message(await say("before"));
  await first.stop();
  const texts = ["one", "two", "three", "four"];
  const people = texts.map((text, n) => server.person(`1555010800${n}`, `9000800${n}`, text));
  const kitchen = server.group("kitchen", [server.owner, ann, ...people]);
  for (const [n, conversation] of texts.entries()) {
    const by = people[n] ?? ann;
    await speak(server, device, { by, in: kitchen, message: { conversation } });
  }
  const second = open();
  await server.until(() => device.line !== null);
  await second.message(await say("now"));
  expect(second.messages().map(({ text }) => text)).toEqual([...texts, "now"]);
});

test("what was acknowledged before a crash is delivered after it", async () => {
  const { server, device, open, say } = await rig();
  const first = open();
  await first.live();
  // Nothing gets into the journal any more.
  first.refuseDeliveries(1_000);
  const id = await say("said before the crash");
  await server.until(() => device.waiting.size === 0);
  expect(first.messages()).toEqual([]);
  await first.stop();
  const second = open();
  expect((await second.message(id)).text).toBe("said before the crash");
  await second.stop();
  const third = open();
  await third.live();
  expect(third.messages()).toEqual([]);
});

test("a message that comes again, because its acknowledgement was lost, is the same message", async () => {
  const { server, device, open, say } = await rig();
  const channel = open();
  await channel.live();
  const id = await say("again");
  const stanza = device.waiting.get(id);
  await channel.message(id);
  await server.until(() => device.waiting.size === 0);
  if (stanza !== undefined) device.deliver(stanza);
  await vi.waitFor(() => expect(channel.messages()).toHaveLength(2));
  expect(channel.messages()[1]).toEqual(channel.messages()[0]);
  expect(channel.logs).toEqual([]);
  expect(server.receipts.filter(({ attrs }) => attrs.type === "retry")).toEqual([]);
});

test("a lost acknowledgement of a send is repeated under the same id, and shown once", async () => {
  const { server, ann, open } = await rig();
  const channel = open();
  await channel.live();
  server.sendFaults.push("cut");
  const chat = { id: ann.number, kind: "direct" } as const;
  const route = { channel: "whatsapp-linked", account: "default", thread: null, chat };
  const request = { route, id: "t:0", text: "once", signal: new AbortController().signal };
  await expect(channel.outbound.sendText(request)).rejects.toMatchObject({ disposition: "retry" });
  await channel.live();
  const { messageIds } = await channel.outbound.sendText(request);
  expect(server.sent.map(({ id }) => id)).toEqual(messageIds);
  expect(server.sent[0]?.readers).toEqual([server.owner.number, ann.number]);
});

test("nothing of what libsignal writes to the console gets there", async () => {
  const { device, ann, open, say } = await rig();
  const written: unknown[] = [];
  const { info, warn } = console;
  console.info = console.warn = (...args: unknown[]) => void written.push(args);
  onTestFinished(() => {
    Object.assign(console, { info, warn });
  });
  const channel = open();
  await channel.live();
  await channel.message(await say("one"));
  // A new session closes the old one, of which libsignal writes all it has.
  await ann.forget(device.jid);
  await channel.message(await say("two"));
  expect(written).toEqual([]);
  console.info("heard");
  expect(written).toEqual([["heard"]]);
});
