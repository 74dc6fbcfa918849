/**
 * A Mac as the channel contract sees it: Ann and Bob in a group with the account, behind imsg or behind
 * BlueBubbles.
 */
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import { lookUntilTrue } from "../../../src/testing/look-until.ts";
import type { OpenedChannel } from "../../../src/testing/open-channel.ts";
import { BlueBubblesServer, serverPassword } from "./bluebubbles-server.ts";
import { ImsgServer } from "./imsg-server.ts";
import { Mac } from "./mac.ts";

export const ann = "+4930111111";
export const bob = "bob@icloud.test";
export const webhookSecret = "canary-webhook";

/** People, chats, and what both programs have in common. */
export function macWorld() {
  const mac = new Mac();
  const group = mac.chat("iMessage;+;chat100", "kitchen", [ann, bob]);
  const direct = mac.chat(`iMessage;-;${ann}`, "", [ann]);
  mac.write(group, bob, "long before");
  let ours = "";
  const say = async ({ text, by, mentions, repliesTo, in: where }: SpokenMessage) => {
    const first = mac.rows[0]?.guid ?? "";
    const parent = repliesTo === undefined ? undefined : repliesTo === "us" ? ours : first;
    const chat = where === "direct" ? direct : group;
    const prefix = mentions === undefined ? "" : mentions === "us" ? "@Scout " : "@Bob ";
    const row = mac.write(chat, by === "bot" ? "+4930999999" : ann, prefix + text, {
      ...(parent !== undefined && { replyTo: parent }),
      ...(mentions === "other" && { mentions: [{ handle: bob, start: 0, length: 4 }] }),
    });
    return row.guid;
  };
  const world = {
    secrets: [serverPassword, webhookSecret, "canary"],
    classified: [
      [{ text: "hi", in: "direct" }, { chat: { kind: "direct", id: direct.guid } }],
      [{ text: "hi" }, { chat: { kind: "group", title: "kitchen" }, thread: null, mentions: [] }],
      [
        { text: "hi", mentions: "us" },
        { text: "@Scout hi", mentions: [] },
      ],
      [{ text: "hi", by: "bot" }, { author: { isBot: false, isSelf: false } }],
      [{ text: "hi", repliesTo: "other" }, { replyTo: { id: mac.rows[0]?.guid } }],
    ] as [SpokenMessage, object][],
    say,
    route: () => ({
      channel: "imessage",
      account: "default",
      thread: null,
      chat: { id: group.guid, kind: "group" as const },
    }),
    async shown(count: number) {
      await lookUntilTrue(
        () => mac.sent.length >= count,
        () => `${count} messages`,
      );
      return mac.sent.map(({ guid, text, replyTo }) => ({
        id: guid,
        text,
        replyTo: replyTo ?? null,
      }));
    },
    async echo(text: string) {
      ours = mac.write(group, null, text).guid;
      return ours;
    },
    async react(target: string, _emoji: string, on: boolean) {
      mac.write(group, ann, "", { tapback: { target, type: "like", remove: !on } });
    },
    reactions: (guid: string) => mac.tapbacks(guid),
    pings: () => 0,
  };
  return { mac, group, direct, world };
}

export async function imsgWorld(): Promise<ChannelWorld> {
  const { mac, world } = macWorld();
  const server = new ImsgServer(mac);
  await server.up();
  let channel: OpenedChannel | null = null;
  return {
    ...world,
    config: { backend: "imsg", ...server.program, privateApi: true },
    refuseNext: () => server.faults.add("send", { kind: "refuse", status: 400 }),
    loseAnswer: () => server.faults.add("send", { kind: "reset", done: true }),
    connect(opened) {
      channel = opened;
    },
    async disconnect() {
      await server.down();
      // Until its end is noticed, what is written to the program may have been read.
      await channel?.state("backing-off");
    },
    reconnect: () => server.up(),
    redeliver: () => server.repeatNext(),
    garbage() {
      server.raw("not JSON");
      server.raw("7");
      server.raw(JSON.stringify({ jsonrpc: "2.0", method: "message", params: { message: 7 } }));
      server.raw(JSON.stringify({ jsonrpc: "2.0", method: "something.new", params: {} }));
    },
    revoke() {
      server.isReadable = false;
      server.cut();
    },
    close: () => server.down(),
  };
}

export async function blueBubblesWorld(): Promise<ChannelWorld> {
  const { mac, world } = macWorld();
  const server = new BlueBubblesServer(mac);
  await server.up();
  let channel: OpenedChannel | null = null;
  const authorization = `Basic ${Buffer.from(`earshot:${webhookSecret}`).toString("base64")}`;
  return {
    ...world,
    config: {
      backend: "bluebubbles",
      url: server.url,
      password: serverPassword,
      webhookSecret,
      pollMs: 100,
      privateApi: true,
    },
    connect(opened) {
      channel = opened;
    },
    async edit(id, text) {
      const row = mac.find(id);
      if (row === undefined || channel?.hook == null) throw new Error("no such message");
      mac.change(row, { text, editedAt: Date.now() });
      const request = { headers: { authorization }, now: Date.now() };
      if (channel.hook.inspectHeaders(request).kind !== "proven") throw new Error("refused");
      await channel.hook.receive(Buffer.from(JSON.stringify(server.posted(row))), request);
    },
    limitNext: (seconds) =>
      server.faults.add("message/text", { kind: "refuse", status: 429, retryAfter: seconds }),
    refuseNext: () => server.faults.add("message/text", { kind: "refuse", status: 400 }),
    loseAnswer: () => server.faults.add("message/text", { kind: "reset", done: true }),
    disconnect: () => server.down(),
    reconnect: () => server.up(),
    garbage() {
      server.garbage = [7, null, { originalROWID: "x" }, { originalROWID: 3, guid: "" }];
    },
    revoke() {
      server.password = "another";
    },
    close: () => server.down(),
  };
}
