/** Linking an account by a code and by a picture, with another number's phone, and what is seen of the secrets. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { whatsappLinkedChannel } from "../../../../src/adapters/channels/whatsapp-linked/channel.ts";
import { loadBaileys } from "../../../../src/adapters/channels/whatsapp-linked/library.ts";
import { LinkedStore } from "../../../../src/adapters/channels/whatsapp-linked/store.ts";
import { createSystemClock } from "../../../../src/adapters/system/clock.ts";
import type {
  ChannelDefinition,
  LinkRequest,
  LinkSecret,
} from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { configOf, speak, startLinked } from "../../../support/whatsapp-linked/linked-world.ts";
import { Person } from "../../../support/whatsapp-linked/person.ts";
import { WebServer } from "../../../support/whatsapp-linked/web-server.ts";

const definition = whatsappLinkedChannel as ChannelDefinition;

/** A server to which nothing is linked, and an account of its owner's. */
async function unlinked(config: object = {}) {
  const server = new WebServer(new Person("15550100000", "90000000", "Scout"));
  await server.up();
  const folder = mkdtempSync(join(tmpdir(), "earshot-link-"));
  onTestFinished(async () => {
    await server.down();
    rmSync(folder, { recursive: true, force: true });
  });
  const account = definition.open({
    accountId: "default",
    config: definition.accountSchema.parse({ ...configOf(server), ...config }),
    folder,
    clock: createSystemClock(),
    random: { next: () => 0.5 },
    log: () => expect.unreachable("linking writes no log"),
    deliver: async () => undefined,
    loadCursor: async () => null,
    reportState: () => undefined,
    reportGap: () => undefined,
  });
  const never = new AbortController().signal;
  const link = (way: LinkSecret["kind"], show: (secret: LinkSecret) => void, more = {}) =>
    account.link?.({ way, show, again: false, signal: never, ...more } satisfies LinkRequest);
  return { server, folder, account, link };
}

test("what is kept of an account is in its one file once it is closed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "earshot-linked-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = new LinkedStore(folder, await loadBaileys());
  store.rememberSent("m1", Buffer.from("hello"));
  expect(store.sent("m1")?.toString()).toBe("hello");
  store.close();
  const log = join(folder, "linked-device.sqlite-wal");
  expect(statSync(log, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
});

const open = (server: WebServer, folder: string) => {
  const channel = openChannel(definition, configOf(server), undefined, folder);
  onTestFinished(() => channel.stop());
  return channel;
};

/** Ann writes to the account; its device hears it. */
async function heardFromAnn(server: WebServer, channel: ReturnType<typeof open>) {
  const ann = server.person("15550107001", "90007001", "Ann");
  const device = server.devices[0];
  if (device === undefined) throw new Error("no device is linked");
  const message = { conversation: "hello" };
  return channel.message(await speak(server, device, { by: ann, in: null, message }));
}

test("a code that is typed on the phone links the account, and messages arrive", async () => {
  const { server, folder, account, link } = await unlinked();
  expect((await account.identify?.(new AbortController().signal))?.notes).toHaveLength(1);
  const found = await link("code", ({ kind, text }) => {
    expect(kind).toBe("code");
    expect(text).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
    void server.enter(server.owner.number, text.replace("-", ""));
  });
  expect(found?.id).toBe(server.owner.number);
  expect(await account.identify?.(new AbortController().signal)).not.toHaveProperty("notes");
  const channel = open(server, folder);
  await channel.live();
  expect(await heardFromAnn(server, channel)).toMatchObject({ text: "hello" });
  const path = join(folder, "linked-device.sqlite");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a picture that is scanned links the account; a gateway that waited for it connects by itself", async () => {
  const { server, folder, link } = await unlinked();
  const channel = open(server, folder);
  await channel.state("backing-off");
  expect(channel.states.at(-1)?.detail).toContain("earshot channels link whatsapp-linked");
  await link("picture", ({ kind, text }) => {
    expect(kind).toBe("picture");
    server.scan(text);
  });
  await channel.live();
  expect(await heardFromAnn(server, channel)).toMatchObject({ text: "hello" });
});

test("the phone of another number is refused, and its device is given up", async () => {
  const { server, folder, link } = await unlinked({ number: "+1 555 010 4242" });
  const linking = link("picture", ({ text }) => void server.scan(text));
  await expect(linking).rejects.toMatchObject({
    code: "EAR_CHANNEL_AUTH",
    message: expect.stringContaining("linked to +15550100000, and the config says +15550104242"),
  });
  expect(server.devices).toEqual([]);
  const channel = open(server, folder);
  await channel.state("backing-off");
});

test("an account whose config names another number later halts", async () => {
  const { server, folder, config, close } = await startLinked();
  const other = { ...config, number: "15550104242" };
  const channel = openChannel(definition, other, undefined, folder);
  expect(await channel.ended()).toMatchObject({
    disposition: "terminal",
    message: expect.stringContaining("linked to +15550100000"),
  });
  expect(server.devices[0]?.line).toBeNull();
  await close();
});

test("a linked account is not linked again by mistake", async () => {
  const { server, link } = await unlinked();
  const enter = ({ text }: LinkSecret) =>
    void server.enter(server.owner.number, text.replace("-", ""));
  await link("code", enter);
  await expect(link("code", enter)).rejects.toMatchObject({ code: "EAR_USAGE" });
});

test("a server that is away is not a phone that nobody has confirmed", async () => {
  const { server, link } = await unlinked();
  await server.down();
  await expect(link("code", () => undefined)).rejects.toMatchObject({
    code: "EAR_CHANNEL_UNAVAILABLE",
    message: expect.stringContaining("WhatsApp cannot be reached"),
  });
});

test("a wait for the phone can be cancelled", async () => {
  const { link } = await unlinked();
  const stop = new AbortController();
  const linking = link("code", () => stop.abort(), { signal: stop.signal });
  await expect(linking).rejects.toMatchObject({ code: "EAR_USAGE" });
});
