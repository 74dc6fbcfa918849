/** The homeserver as the channel contract sees it: Ann, Bob and another bot in a room with ours. */
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import { startHomeserver } from "./homeserver.ts";

export const botToken = "syt_canary_matrix_token";

/** A homeserver with our bot on it, logged in. */
export async function startBot() {
  const server = await startHomeserver();
  const { rooms } = server;
  const scout = rooms.person("scout", "Scout");
  server.tokens.set(botToken, scout);
  return { server, rooms, scout, config: { homeserver: server.url, accessToken: botToken } };
}

interface SentContent {
  readonly body?: string;
  readonly "m.mentions"?: { readonly user_ids?: readonly string[]; readonly room?: boolean };
  readonly "m.new_content"?: { readonly body: string };
  readonly "m.relates_to"?: {
    readonly rel_type?: string;
    readonly event_id?: string;
    readonly key?: string;
    readonly "m.in_reply_to"?: { readonly event_id: string };
  };
}

export async function matrixWorld(): Promise<ChannelWorld> {
  const { server, rooms, scout, config } = await startBot();
  const [ann, bob, robot] = [
    rooms.person("ann", "Ann"),
    rooms.person("bob", "Bob"),
    rooms.person("robot"),
  ];
  const kitchen = rooms.room("kitchen", [ann, bob, robot, scout]);
  const direct = rooms.room(null, [ann, scout]);
  server.setAccountData(scout, "m.direct", { [ann]: [direct] });
  const old = {
    us: rooms.send(kitchen, scout, "m.room.message", { msgtype: "m.text", body: "I said so" }),
    other: rooms.send(kitchen, bob, "m.room.message", { msgtype: "m.text", body: "Bob said so" }),
  };
  const said = (content: object) => content as SentContent;
  /** Our messages in the room, with their newest text. */
  const sent = () => {
    const all = rooms.events(kitchen).filter(({ event_id }) => event_id !== old.us);
    const ours = all.filter(({ type, sender }) => type === "m.room.message" && sender === scout);
    const edits = ours.filter(
      ({ content }) => said(content)["m.relates_to"]?.rel_type === "m.replace",
    );
    return ours
      .filter((event) => !edits.includes(event))
      .map(({ event_id, content }) => {
        const edit = edits.findLast(
          (one) => said(one.content)["m.relates_to"]?.event_id === event_id,
        );
        const text =
          edit === undefined ? said(content).body : said(edit.content)["m.new_content"]?.body;
        const replyTo = said(content)["m.relates_to"]?.["m.in_reply_to"]?.event_id ?? null;
        return { id: event_id, text: text ?? "", replyTo };
      });
  };
  const people = { us: scout, other: bob };
  const say = async ({ text, by, mentions, repliesTo, in: where }: SpokenMessage) => {
    const room = where === "direct" ? direct : kitchen;
    const user_ids = mentions === undefined ? [] : [people[mentions]];
    const reply = repliesTo && { "m.in_reply_to": { event_id: old[repliesTo] } };
    const thread = where === "thread" && {
      rel_type: "m.thread",
      event_id: old.other,
      is_falling_back: true,
      "m.in_reply_to": { event_id: old.other },
    };
    const relation = thread || reply;
    return rooms.send(room, by === "bot" ? robot : ann, "m.room.message", {
      msgtype: by === "bot" ? "m.notice" : "m.text",
      body: text,
      "m.mentions": user_ids.length === 0 ? {} : { user_ids },
      ...(relation && { "m.relates_to": relation }),
    });
  };
  const reactionsOf = (id: string) =>
    rooms
      .events(kitchen)
      .filter(
        ({ type, content }) =>
          type === "m.reaction" && said(content)["m.relates_to"]?.event_id === id,
      );
  return {
    config,
    secrets: [botToken],
    classified: [
      [{ text: "hi", in: "direct" }, { chat: { kind: "direct", id: direct, title: "Ann" } }],
      [
        { text: "hi" },
        {
          chat: { kind: "group", title: "kitchen" },
          thread: null,
          mentions: [],
          author: { name: "Ann" },
        },
      ],
      [{ text: "hi", mentions: "us" }, { mentions: [{ id: scout, name: "Scout", isSelf: true }] }],
      [{ text: "hi", mentions: "other" }, { mentions: [{ id: bob, isSelf: false }] }],
      [
        { text: "hi", repliesTo: "us" },
        { replyTo: { id: old.us, authorId: scout, authorIsSelf: true, text: "I said so" } },
      ],
      [
        { text: "hi", repliesTo: "other" },
        { replyTo: { id: old.other, authorId: bob, authorIsSelf: false } },
      ],
      [
        { text: "hi", in: "thread" },
        { thread: { id: old.other, kind: "thread", rootAuthorId: bob }, replyTo: null },
      ],
      [{ text: "hi", by: "bot" }, { author: { id: robot, isBot: true, isSelf: false } }],
    ],
    say,
    route: () => ({
      channel: "matrix",
      account: "default",
      thread: null,
      chat: { id: kitchen, kind: "group" },
    }),
    async shown(count) {
      await server.until(() => sent().length >= count, `${count} messages`);
      return sent();
    },
    // From another login of the account.
    echo: async (body) => rooms.send(kitchen, scout, "m.room.message", { msgtype: "m.text", body }),
    async edit(id, body) {
      rooms.send(kitchen, ann, "m.room.message", {
        msgtype: "m.text",
        body: `* ${body}`,
        "m.new_content": { msgtype: "m.text", body },
        "m.relates_to": { rel_type: "m.replace", event_id: id },
      });
    },
    async react(id, emoji, on) {
      const relation = { rel_type: "m.annotation", event_id: id, key: emoji };
      if (on) rooms.send(kitchen, ann, "m.reaction", { "m.relates_to": relation });
      else for (const { event_id } of reactionsOf(id)) rooms.redact(kitchen, ann, event_id);
    },
    reactions: (id) =>
      reactionsOf(id).map(({ content }) => said(content)["m.relates_to"]?.key ?? ""),
    typings: () => server.typings.filter(({ typing }) => typing).length,
    pings: () =>
      rooms.events(kitchen).filter(({ sender, content }) => {
        const mentions = said(content)["m.mentions"];
        // Without that list, a client looks for names in the text.
        const isByText = mentions === undefined && /@|everyone/.test(said(content).body ?? "");
        return (
          sender === scout && (isByText || mentions?.room === true || mentions?.user_ids?.length)
        );
      }).length,
    limitNext: (seconds) =>
      server.faults.add("send", { kind: "refuse", status: 429, retryAfter: seconds }),
    refuseNext: () => server.faults.add("send", { kind: "refuse", status: 403 }),
    disconnect: () => server.down(),
    reconnect: () => server.up(),
    redeliver: () => server.faults.add("sync", { kind: "duplicate" }, 2),
    garbage() {
      server.spoil(7, null, { type: "m.room.message" });
      server.spoil({ type: "m.room.message", event_id: "$x", sender: 7, content: {} });
    },
    revoke() {
      server.tokens.delete(botToken);
      rooms.send(kitchen, ann, "m.room.message", { msgtype: "m.text", body: "wakes the sync" });
    },
    close: () => server.down(),
  };
}
