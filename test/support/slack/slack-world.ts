/**
 * The Slack server as the channel contract sees it: Ann, Bob and another bot in a channel.
 */
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import { shownText } from "./slack-methods.ts";
import { appToken, botToken, startSlackServer } from "./slack-server.ts";

const names: Readonly<Record<string, string>> = { "👍": "+1", "👀": "eyes" };
const emoji: Readonly<Record<string, string>> = { "+1": "👍", eyes: "👀" };

export async function slackWorld(): Promise<ChannelWorld> {
  const server = await startSlackServer();
  const { workspace } = server;
  const ann = workspace.user("Ann");
  const bob = workspace.user("Bob");
  const robot = workspace.user("Robot", { is_bot: true });
  const group = workspace.room("channel", "kitchen", [ann, bob, robot]);
  const direct = workspace.room("im", "", [ann]);
  // Long before the bot listens.
  const earlier = Date.now() - 3_600_000;
  const roots = {
    us: workspace.store(group, workspace.bot, "I said so", { ts: workspace.ts(earlier) }),
    other: workspace.store(group, bob, "Bob said so", { ts: workspace.ts(earlier + 1) }),
  };
  const say = async (what: SpokenMessage) => {
    const mentioned = { us: `<@${workspace.bot.id}> `, other: `<@${bob.id}> ` };
    const prefix = what.mentions === undefined ? "" : mentioned[what.mentions];
    const root = what.repliesTo ?? (what.in === "thread" ? "other" : undefined);
    const { ts } = workspace.say(
      what.in === "direct" ? direct : group,
      what.by === "bot" ? robot : ann,
      prefix + what.text,
      root === undefined ? {} : { thread_ts: roots[root].ts },
    );
    return ts;
  };
  const ours = () =>
    [...group.messages.values()].filter(
      ({ user, ts }) => user === workspace.bot.id && ts !== roots.us.ts,
    );
  return {
    config: { botToken, appToken, apiRoot: server.apiRoot },
    secrets: [botToken, appToken, "canary"],
    classified: [
      [{ text: "hi", in: "direct" }, { chat: { kind: "direct", id: direct.id } }],
      [{ text: "hi" }, { chat: { kind: "group", title: "kitchen" }, thread: null, mentions: [] }],
      [
        { text: "hi", mentions: "us" },
        { text: "@scout hi", mentions: [{ id: workspace.bot.id, isSelf: true }] },
      ],
      [
        { text: "hi", mentions: "other" },
        { mentions: [{ id: bob.id, name: "Bob", isSelf: false }] },
      ],
      [
        { text: "hi", repliesTo: "us" },
        { thread: { id: roots.us.ts, rootAuthorId: workspace.bot.id }, replyTo: null },
      ],
      [
        { text: "hi", repliesTo: "other" },
        { thread: { id: roots.other.ts, rootAuthorId: bob.id }, replyTo: null },
      ],
      [{ text: "hi", by: "bot" }, { author: { isBot: true, isSelf: false, name: "Robot" } }],
      [{ text: "hi", in: "thread" }, { thread: { id: roots.other.ts, kind: "thread" } }],
    ],
    say,
    route: () => ({
      channel: "slack",
      account: "default",
      thread: null,
      chat: { id: group.id, kind: "group" },
    }),
    async shown(count) {
      await server.until(() => ours().length >= count, `${count} messages`);
      return ours().map((message) => ({
        id: message.ts,
        text: shownText(message),
        replyTo: message.thread_ts ?? null,
      }));
    },
    echo: async (text) => workspace.say(group, workspace.bot, text).ts,
    edit: async (id, text) => workspace.edit(group, id, text),
    react: async (id, sign, on) => {
      workspace.react(group, id, ann, names[sign] as string, on);
    },
    reactions: (id) => workspace.reactions(group, id).map((name) => emoji[name] ?? name),
    pings: () =>
      ours().filter(({ text, blocks }) => {
        return (
          /<[@!]/.test(text) || /"type":"(user|usergroup|broadcast)"/.test(JSON.stringify(blocks))
        );
      }).length,
    limitNext: (seconds) =>
      server.faults.add("chat.postMessage", { kind: "refuse", status: 429, retryAfter: seconds }),
    refuseNext: () => server.faults.add("chat.postMessage", { kind: "refuse", status: 400 }),
    loseAnswer() {
      server.faults.add("chat.postMessage", { kind: "reset", done: true });
      // Otherwise the message is found there, and nothing is in doubt.
      server.faults.add("conversations.history", { kind: "refuse", status: 500 });
    },
    disconnect: () => server.down(),
    reconnect: () => server.up(),
    redeliver: () => server.faults.add("event", { kind: "duplicate" }),
    garbage() {
      server.raw("not JSON");
      server.raw("null");
      server.raw(
        JSON.stringify({ type: "events_api", envelope_id: "g1", payload: { event: null } }),
      );
      server.raw(JSON.stringify({ type: "interactive", envelope_id: "g2", payload: {} }));
      server.raw(JSON.stringify({ type: "something_new", envelope_id: "g3", payload: { a: 1 } }));
      workspace.event({ type: "message", channel: group.id, ts: "seven", text: 7 });
      workspace.event({ type: "error", channel: group.id });
    },
    revoke() {
      server.tokens = [];
      server.breakSockets();
    },
    close: () => server.down(),
  };
}
