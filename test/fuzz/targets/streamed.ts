/**
 * What comes over connections: Signal's stream of events, lines of IRC, stanzas of XMPP, events of
 * Matrix, dispatches of Discord, payloads of Slack.
 */
import { xml } from "@xmpp/client";
import { ircLineParser } from "irc-framework";
import { ZodError } from "zod";
import { DiscordChats } from "../../../src/adapters/channels/discord/chats.ts";
import { eventsOf as discordEvents } from "../../../src/adapters/channels/discord/events.ts";
import { dispatchSchema } from "../../../src/adapters/channels/discord/wire.ts";
import { IrcChats } from "../../../src/adapters/channels/irc/chats.ts";
import { foldOf } from "../../../src/adapters/channels/irc/names.ts";
import { messageOf } from "../../../src/adapters/channels/irc/normalise.ts";
import { readLine } from "../../../src/adapters/channels/irc/wire.ts";
import { eventOf as matrixEvent } from "../../../src/adapters/channels/matrix/normalise.ts";
import { MatrixRooms } from "../../../src/adapters/channels/matrix/rooms.ts";
import { eventSchema as matrixSchema } from "../../../src/adapters/channels/matrix/wire.ts";
import { EventParser } from "../../../src/adapters/channels/signal/events.ts";
import { SignalNames } from "../../../src/adapters/channels/signal/names.ts";
import { eventOf as signalEvent } from "../../../src/adapters/channels/signal/normalise.ts";
import { eventSchema as signalSchema } from "../../../src/adapters/channels/signal/wire.ts";
import { SlackDirectory } from "../../../src/adapters/channels/slack/directory.ts";
import { eventsOf as slackEvents } from "../../../src/adapters/channels/slack/normalise.ts";
import { eventCallbackSchema } from "../../../src/adapters/channels/slack/wire.ts";
import { XmppChats, XmppRoom } from "../../../src/adapters/channels/xmpp/chats.ts";
import { eventOf as xmppEvent } from "../../../src/adapters/channels/xmpp/normalise.ts";
import { spaces } from "../../../src/adapters/channels/xmpp/spaces.ts";
import { readMessage } from "../../../src/adapters/channels/xmpp/wire.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { frames, jsonFrames, jsonIn, refusesNothing, type Target } from "../harness/target.ts";

/** The platform answers no question. */
const silent = async (): Promise<never> => {
  throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot ask: it does not answer");
};
const isSilence = (error: unknown) =>
  error instanceof EarshotError && error.code === "EAR_CHANNEL_UNAVAILABLE";

const envelope = {
  sourceNumber: "+491701",
  sourceUuid: "u1",
  sourceName: "Ann",
  timestamp: 1_700_000_000_000,
};
const signalLine = (dataMessage: object) =>
  `id: 1\ndata: ${JSON.stringify({ account: "+4915", envelope: { ...envelope, dataMessage } })}\n`;
const group = { groupId: "g1", groupName: "Kitchen", type: "DELIVER" };
const signal: Target = {
  name: "signal",
  claim: "the stream's bytes are events, or are passed over",
  seeds: [
    {
      name: "stream",
      frames: frames(
        signalLine({
          timestamp: 1_700_000_000_000,
          message: "￼ hello",
          groupInfo: group,
          mentions: [{ uuid: "u2", number: "+4915", start: 0, length: 1 }],
          textStyles: [{ style: "BOLD", start: 2, length: 5 }],
          quote: { id: 1_699_999_999_999, authorUuid: "u2", text: "hi", mentions: [] },
          attachments: [{ id: "a", contentType: "image/png", filename: "a.png", size: 3 }],
        }),
        ": keepalive",
        "",
        signalLine({
          reaction: {
            emoji: "👍",
            isRemove: false,
            targetAuthorUuid: "u2",
            targetSentTimestamp: 1,
          },
        }),
        signalLine({ remoteDelete: { timestamp: 1 }, groupInfo: group }),
        signalLine({ pollCreate: { question: "Which?", options: ["a", "b"] } }),
      ),
    },
  ],
  read(lines) {
    const parser = new EventParser();
    const names = new SignalNames("+4915", "Scout");
    return lines.flatMap((line) =>
      [...parser.push(line), ...parser.push(Buffer.from("\n"))].flatMap(({ data }) =>
        jsonIn(frames(data)).map((value) => {
          const received = signalSchema.safeParse(value).data;
          if (received?.envelope == null) return null;
          return signalEvent(received.envelope, { account: "default", names });
        }),
      ),
    );
  },
  refuses: refusesNothing,
};

const irc: Target = {
  name: "irc",
  claim: "a line is a message, or is passed over",
  seeds: [
    {
      name: "lines",
      frames: frames(
        "@time=2026-01-01T00:00:00.000Z;msgid=a1;account=ann;+draft/reply=a0 :ann!a@h.example PRIVMSG #kitchen :scout: \u0002hello\u000f \u000304,05red",
        ":bo!b@h PRIVMSG scout :\u0001ACTION waves\u0001",
        ":server.example 353 scout = #kitchen :@ann +bo scout",
        ":ann!a@h NICK :anna",
        ":ann!a@h PART #kitchen :bye",
        ":x!y@z KICK #kitchen scout :no",
        "@batch=1 :ann!a@h PRIVMSG #kitchen :history",
      ),
    },
  ],
  read(lines) {
    const chats = new IrcChats();
    const connection = {
      self: { nick: "scout", user: "s", host: "h" },
      id: "net",
      fold: foldOf(undefined),
    } as never;
    let given = 0;
    const receiver = { account: "default", connection, chats, nextId: () => String(++given) };
    return lines.map((bytes) => {
      const line = readLine(ircLineParser(bytes.toString("utf8")));
      if (line === null) return null;
      chats.note(line, "scout");
      return messageOf(line, receiver, 1_700_000_000_000);
    });
  },
  refuses: refusesNothing,
};

type Stanza = readonly [unknown, unknown, ...unknown[]];
/** An element from its JSON: name, attributes, children. */
function elementOf(value: unknown): ReturnType<typeof xml> | null {
  if (!Array.isArray(value) || typeof value[0] !== "string") return null;
  const [name, attributes, ...children] = value as unknown as Stanza;
  const texts = Object.entries(attributes ?? {}).map(
    ([key, one]) => [key, typeof one === "object" ? "" : String(one)] as const,
  );
  return xml(
    String(name),
    Object.fromEntries(texts),
    ...children.flatMap((child) => (typeof child === "string" ? child : (elementOf(child) ?? []))),
  );
}
const kitchen = "kitchen@rooms.example";
const xmpp: Target = {
  name: "xmpp",
  claim: "a stanza is an event, or is passed over",
  seeds: [
    {
      name: "stanzas",
      frames: jsonFrames(
        [
          ...["message", { type: "groupchat", from: `${kitchen}/ann`, id: "1" }],
          ["body", {}, "> hi\nscout: hello"],
          ["stanza-id", { xmlns: spaces.stanzaId, by: kitchen, id: "s1" }],
          ["occupant-id", { xmlns: spaces.occupantId, id: "o1" }],
          ["reply", { xmlns: spaces.reply, id: "s0", to: `${kitchen}/bo` }],
          [
            "fallback",
            { xmlns: spaces.fallback, for: spaces.reply },
            ["body", { start: 0, end: 5 }],
          ],
          ["x", { xmlns: spaces.oob }, ["url", {}, "https://x.example/a.png"]],
          ["reference", { xmlns: spaces.reference, type: "mention", uri: `xmpp:${kitchen}/scout` }],
        ],
        [
          ...["message", { type: "chat", from: "ann@x.example/phone", id: "2" }],
          ["body", {}, "hello"],
          ["replace", { xmlns: spaces.correct, id: "1" }],
          ["delay", { xmlns: spaces.delay, stamp: "2026-01-01T00:00:00Z" }],
        ],
        [
          ...["message", { type: "chat", from: "ann@x.example/phone", id: "3" }],
          ["reactions", { xmlns: spaces.reactions, id: "1" }, ["reaction", {}, "👍"]],
        ],
        [
          ...["message", { type: "groupchat", from: kitchen, id: "4" }],
          [
            "retract",
            { xmlns: spaces.retract1, id: "s1" },
            ["moderated", { xmlns: spaces.moderate1 }],
          ],
        ],
      ),
    },
  ],
  read(lines) {
    const chats = new XmppChats();
    chats.rooms.set(kitchen, new XmppRoom(kitchen, "scout"));
    let given = 0;
    const receiver = {
      account: "default",
      self: "scout@x.example",
      hasStanzaIds: true,
      chats,
      nextId: () => String(++given),
    };
    return jsonIn(lines).map((value) => {
      const element = elementOf(value);
      const message = element === null ? null : readMessage(element);
      return message && xmppEvent(message, receiver, { archiveId: null, isPast: false });
    });
  },
  refuses: refusesNothing,
};

const matrixBase = {
  event_id: "$1",
  sender: "@ann:x.example",
  origin_server_ts: 1_700_000_000_000,
};
const matrix: Target = {
  name: "matrix",
  claim: "an event of a room is one of ours, or is passed over",
  seeds: [
    {
      name: "events",
      frames: jsonFrames(
        {
          ...matrixBase,
          type: "m.room.message",
          content: {
            msgtype: "m.text",
            body: "> <@bo:x> hi\n\nhello Scout",
            format: "org.matrix.custom.html",
            formatted_body:
              '<mx-reply>hi</mx-reply><b>hello</b> <a href="https://matrix.to/#/@scout:x.example">Scout</a>',
            "m.mentions": { user_ids: ["@scout:x.example"] },
            "m.relates_to": {
              rel_type: "m.thread",
              event_id: "$0",
              "m.in_reply_to": { event_id: "$0" },
            },
          },
        },
        {
          ...matrixBase,
          event_id: "$2",
          type: "m.room.message",
          content: {
            msgtype: "m.image",
            body: "a.png",
            url: "mxc://x/a",
            info: { mimetype: "image/png", size: 3 },
          },
        },
        {
          ...matrixBase,
          event_id: "$3",
          type: "m.room.message",
          content: {
            msgtype: "m.text",
            body: "* x",
            "m.new_content": { msgtype: "m.text", body: "x" },
            "m.relates_to": { rel_type: "m.replace", event_id: "$1" },
          },
        },
        {
          ...matrixBase,
          event_id: "$4",
          type: "m.reaction",
          content: { "m.relates_to": { rel_type: "m.annotation", event_id: "$1", key: "👍" } },
        },
        { ...matrixBase, event_id: "$5", type: "m.room.redaction", redacts: "$4", content: {} },
      ),
    },
  ],
  async read(lines) {
    const rooms = new MatrixRooms();
    const receiver = { account: "default", rooms, fetch: async () => null };
    const events: unknown[] = [];
    for (const value of jsonIn(lines)) {
      const { data } = matrixSchema.safeParse(value);
      if (data !== undefined) events.push(await matrixEvent(data, "!r:x.example", receiver));
    }
    return events;
  },
  refuses: refusesNothing,
};

const discordUser = { id: "100000000000000001", username: "ann", global_name: "Ann" };
const discordPlace = { channel_id: "100000000000000002", guild_id: "100000000000000003" };
const discordMessage = {
  ...discordPlace,
  id: "100000000000000004",
  author: discordUser,
  member: { nick: "Annie", roles: ["100000000000000005"] },
  content: "<@100000000000000009> **hello** <#100000000000000002> <@&100000000000000005> <:x:1>",
  timestamp: "2026-01-01T00:00:00.000Z",
  type: 0,
  mentions: [{ id: "100000000000000009", username: "scout", bot: true }],
  mention_roles: ["100000000000000005"],
  attachments: [
    { id: "1", filename: "a.png", size: 3, content_type: "image/png", url: "https://x.example/a" },
  ],
  embeds: [{ title: "t", description: "d", url: "https://x.example" }],
  message_reference: {
    type: 0,
    message_id: "100000000000000001",
    channel_id: "100000000000000002",
  },
};
const discord: Target = {
  name: "discord",
  claim: "a dispatch is events, or is logged once and skipped",
  seeds: [
    {
      name: "dispatches",
      frames: jsonFrames(
        {
          op: 0,
          s: 1,
          t: "GUILD_CREATE",
          d: {
            id: discordPlace.guild_id,
            name: "Home",
            member_count: 3,
            channels: [{ id: discordPlace.channel_id, type: 0, name: "kitchen" }],
            threads: [],
            roles: [{ id: "100000000000000005", name: "cooks" }],
          },
        },
        { op: 0, s: 2, t: "MESSAGE_CREATE", d: discordMessage },
        {
          op: 0,
          s: 3,
          t: "MESSAGE_UPDATE",
          d: { ...discordMessage, edited_timestamp: "2026-01-01T00:00:01Z" },
        },
        { op: 0, s: 4, t: "MESSAGE_DELETE_BULK", d: { ...discordPlace, ids: ["1", "2"] } },
        {
          op: 0,
          s: 5,
          t: "MESSAGE_REACTION_ADD",
          d: {
            ...discordPlace,
            user_id: discordUser.id,
            message_id: discordMessage.id,
            emoji: { id: null, name: "👍" },
          },
        },
      ),
    },
  ],
  async read(lines, log) {
    const chats = new DiscordChats();
    for (const id of [discordPlace.channel_id, "100000000000000006"])
      chats.setChannel({ id, type: 0, name: "kitchen", guild_id: discordPlace.guild_id });
    chats.self = { id: "100000000000000009", username: "scout", name: "Scout" };
    const options = {
      context: { log, config: {}, clock: { now: () => 1_700_000_000_000 } } as never,
      client: { ask: silent, do: silent },
      receiver: { account: "default", chats },
      signal: new AbortController().signal,
    };
    const events: unknown[] = [];
    for (const value of jsonIn(lines)) {
      const { data } = dispatchSchema.safeParse(value);
      if (data !== undefined) events.push(await discordEvents(data, "session", options));
    }
    return events;
  },
  refuses: isSilence,
};

const slackSaid = {
  type: "message",
  channel: "C1",
  user: "U1",
  ts: "1700000000.000100",
  text: "<@U9> *hello* <https://x.example|x> <!channel> &amp; :wave:",
};
const slackPost = (event: object) => ({
  team_id: "T1",
  api_app_id: "A1",
  event_id: "E1",
  event_time: 1_700_000_000,
  event,
});
const slack: Target = {
  name: "slack",
  claim: "a payload is events, or is refused by its schema",
  seeds: [
    {
      name: "payloads",
      frames: jsonFrames(
        slackPost({
          ...slackSaid,
          thread_ts: "1700000000.000000",
          files: [{ id: "F1", name: "a.png", mimetype: "image/png", size: 3 }],
          blocks: [
            {
              type: "rich_text",
              elements: [
                {
                  type: "rich_text_section",
                  elements: [
                    { type: "text", text: "hello" },
                    { type: "user", user_id: "U9" },
                  ],
                },
              ],
            },
          ],
          attachments: [
            { is_share: true, from_url: "https://x.example", text: "shared", author_name: "Bo" },
          ],
        }),
        slackPost({
          ...slackSaid,
          ts: "1700000001.000100",
          subtype: "message_changed",
          message: slackSaid,
          previous_message: { ...slackSaid, text: "x" },
        }),
        slackPost({
          type: "message",
          subtype: "message_deleted",
          channel: "C1",
          deleted_ts: "1700000000.000100",
          ts: "1700000002.000100",
        }),
        slackPost({
          type: "reaction_added",
          user: "U1",
          reaction: "wave",
          item: { type: "message", channel: "C1", ts: "1700000000.000100" },
          item_user: "U9",
          event_ts: "1700000003.000100",
        }),
      ),
    },
  ],
  async read(lines, log) {
    const receiver = {
      account: "default",
      self: { id: "U9", botId: "B9", teamId: "T1", name: "Scout" },
      directory: new SlackDirectory({ call: silent }, log),
      signal: new AbortController().signal,
    };
    const events: unknown[] = [];
    for (const value of jsonIn(lines)) {
      const { data } = eventCallbackSchema.safeParse(value);
      if (data !== undefined) events.push(await slackEvents(data.event, receiver));
    }
    return events;
  },
  // The gateway catches it for each payload, and logs the path.
  refuses: (error) => error instanceof ZodError,
};

export const streamedTargets: readonly Target[] = [signal, irc, xmpp, matrix, discord, slack];
