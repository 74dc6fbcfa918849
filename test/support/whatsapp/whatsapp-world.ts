/**
 * The Cloud API as the channel contract sees it: Ann and Bob in a group, behind the real hook route.
 */
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import type { OpenedChannel } from "../../../src/testing/open-channel.ts";
import { startSmallServer } from "../daemon/small-server.ts";
import {
  accessToken,
  appSecret,
  ownNumber,
  phoneNumberId,
  startWhatsAppServer,
  verifyToken,
} from "./whatsapp-server.ts";

export const group = "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD";
export const ann = { wa_id: "16505551234", profile: { name: "Ann" } };
const bob = "16505559876";
const never = new AbortController().signal;

export async function whatsappWorld(): Promise<ChannelWorld> {
  const server = await startWhatsAppServer();
  const daemon = await startSmallServer();
  server.callback = `${daemon.base}/hooks/whatsapp/default`;
  let opened: OpenedChannel | null = null;
  const now = () => String(Math.floor(Date.now() / 1_000));
  const personal = (fields: object) => {
    const id = server.wamid();
    const message = { from: ann.wa_id, id, timestamp: now(), ...fields };
    server.post({ contacts: [ann], messages: [message] });
    return id;
  };
  const say = async (what: SpokenMessage) => {
    const mentioned = { us: `@${ownNumber} `, other: `@${bob} ` };
    const body = (what.mentions === undefined ? "" : mentioned[what.mentions]) + what.text;
    const from = what.repliesTo === "us" ? ownNumber : bob;
    return personal({
      type: "text",
      text: { body },
      ...(what.in !== "direct" && { group_id: group }),
      ...(what.repliesTo !== undefined && { context: { from, id: "wamid.earlier" } }),
    });
  };
  const route = () => ({
    channel: "whatsapp",
    account: "default",
    thread: null,
    chat: { id: group, kind: "group" as const },
  });
  /** The account notices a change at its next call. */
  const notice = async () =>
    opened?.outbound.sendText({ route: route(), id: "notice", text: "?", signal: never }).then(
      () => undefined,
      () => undefined,
    );
  const ours = () => server.sent.filter(({ body }) => body.type === "text");
  return {
    config: { phoneNumberId, accessToken, appSecret, verifyToken, apiRoot: server.apiRoot },
    secrets: [accessToken, appSecret, verifyToken],
    classified: [
      [{ text: "hi", in: "direct" }, { chat: { kind: "direct", id: ann.wa_id, title: "Ann" } }],
      [
        { text: "hi" },
        { chat: { kind: "group", id: group }, mentions: [], author: { name: "Ann" } },
      ],
      [{ text: "hi", mentions: "us" }, { mentions: [{ id: ownNumber, isSelf: true }] }],
      [{ text: "hi", mentions: "other" }, { mentions: [{ id: bob, isSelf: false }] }],
      [{ text: "hi", repliesTo: "us" }, { replyTo: { authorId: ownNumber, authorIsSelf: true } }],
      [{ text: "hi", repliesTo: "other" }, { replyTo: { authorId: bob, authorIsSelf: false } }],
    ],
    connect(channel) {
      opened = channel;
      if (channel.hook !== null) daemon.hooks.set("whatsapp/default", channel.hook);
    },
    say,
    route,
    async shown() {
      return ours().map(({ id, body }) => ({
        id,
        text: (body.text as { body: string }).body,
        replyTo: (body.context as { message_id: string } | undefined)?.message_id ?? null,
      }));
    },
    async edit(id, body) {
      const message = { type: "text", text: { body } };
      personal({ type: "edit", group_id: group, edit: { original_message_id: id, message } });
    },
    async react(id, emoji, on) {
      const reaction = { message_id: id, ...(on && { emoji }) };
      personal({ type: "reaction", group_id: group, reaction });
    },
    reactions(id) {
      const about = server.sent.flatMap(({ body }) =>
        body.type === "reaction" ? [body.reaction as { message_id: string; emoji: string }] : [],
      );
      const last = about.findLast(({ message_id }) => message_id === id)?.emoji ?? "";
      return last === "" ? [] : [last];
    },
    limitNext: (seconds) =>
      server.faults.add("messages", { kind: "refuse", status: 429, retryAfter: seconds }),
    refuseNext: () => server.faults.add("messages", { kind: "refuse", status: 400 }),
    loseAnswer: () => server.faults.add("messages", { kind: "reset", done: true }),
    async disconnect() {
      await server.down();
      await notice();
    },
    reconnect: () => server.up(),
    redeliver() {
      server.twice = true;
    },
    garbage() {
      server.raw("not JSON");
      server.raw("null");
      server.raw('{"object":"page","entry":[]}');
      server.raw(
        '{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages"}]}]}',
      );
      server.post({ messages: [null, { id: 7 }, { id: "a", from: ann.wa_id, timestamp: "soon" }] });
    },
    revoke() {
      server.token = "another";
      void notice();
    },
    async close() {
      await server.close();
      await daemon.stop();
    },
  };
}
