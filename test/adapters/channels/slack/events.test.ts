/**
 * Events in the form in which Slack sends them (https://docs.slack.dev/reference/events/message), and what
 * becomes of them.
 */
import { describe, expect, test } from "vitest";
import type { ChannelEvent } from "../../../../src/domain/ports/index.ts";
import { type SlackRig, slackRig } from "../../../support/slack/slack-rig.ts";

const ts = "1700000000.000100";

/** Opens an account, sends it these events and one more, and returns what came of them. */
async function heard(
  of: (rig: SlackRig) => readonly Readonly<Record<string, unknown>>[],
): Promise<{ readonly events: readonly ChannelEvent[]; readonly rig: SlackRig }> {
  const rig = await slackRig();
  const channel = rig.open();
  await channel.live();
  for (const event of of(rig)) rig.workspace.event(event);
  const last = rig.workspace.say(rig.kitchen, rig.bob, "the last one");
  await channel.message(last.ts);
  await expect.poll(() => rig.server.acknowledged.length).toBe(of(rig).length + 1);
  return { events: channel.events().slice(0, -1), rig };
}

const at = ({ kitchen }: SlackRig) => ({
  type: "message",
  channel: kitchen.id,
  channel_type: "channel",
  event_ts: ts,
  ts,
  team: "T0KITCHEN",
});

async function message(of: (rig: SlackRig) => Readonly<Record<string, unknown>>) {
  const { events, rig } = await heard((given) => [{ ...at(given), ...of(given) }]);
  const [event] = events;
  if (event === undefined) return { said: null, rig };
  if (event.type !== "message") throw new Error(`no message but ${event.type}`);
  return { said: event.message, rig };
}

describe("messages", () => {
  test("a file with a caption, and one without", async () => {
    const file = {
      id: "F0PICTURE",
      created: 1_700_000_000,
      name: "soup.png",
      title: "soup",
      mimetype: "image/png",
      filetype: "png",
      size: 1_234,
      mode: "hosted",
      is_external: false,
      url_private: "https://files.slack.com/files-pri/T0KITCHEN-F0PICTURE/soup.png",
    };
    const voice = { ...file, id: "F0VOICE", mimetype: "video/webm", subtype: "slack_audio" };
    const gone = { id: "F0GONE", mode: "tombstone" };
    const both = await message(({ ann, workspace }) => ({
      user: ann.id,
      subtype: "file_share",
      text: `<@${workspace.bot.id}> look`,
      files: [file, voice, gone],
      upload: false,
    }));
    expect(both.said).toMatchObject({
      text: "@scout look",
      mentions: [{ isSelf: true }],
      attachments: [
        { id: "F0PICTURE", kind: "image", mime: "image/png", bytes: 1_234, name: "soup.png" },
        { id: "F0VOICE", kind: "audio" },
      ],
    });
    const bare = await message(({ ann }) => ({
      user: ann.id,
      subtype: "file_share",
      text: "",
      files: [{ id: "F0SHARED", file_access: "check_file_info" }],
    }));
    expect(bare.said).toMatchObject({
      text: "",
      attachments: [{ id: "F0SHARED", kind: "file" }],
    });
  });

  test("a bot's message with blocks, an incoming webhook's, a workflow's, and Slackbot's", async () => {
    const { events } = await heard((rig) => [
      {
        ...at(rig),
        subtype: "bot_message",
        bot_id: "B0BUILD",
        username: "build",
        text: "failed",
        attachments: [
          {
            id: 1,
            color: "#f00",
            title: "main #7",
            title_link: "https://example.org/7",
            fallback: "x",
          },
        ],
      },
      {
        ...at(rig),
        ts: "1700000000.000200",
        user: "U0OTHERBOT",
        bot_id: "B0OTHER",
        app_id: "A0OTHER",
        text: "fallback",
        bot_profile: { id: "B0OTHER", deleted: false, name: "Other", app_id: "A0OTHER" },
        blocks: [{ type: "section", text: { type: "mrkdwn", text: "what people see" } }],
      },
      { ...at(rig), ts: "1700000000.000300", user: "USLACKBOT", text: "Reminder: tea" },
    ]);
    expect(events).toMatchObject([
      {
        message: {
          author: { id: "B0BUILD", name: "build", isBot: true },
          text: "failed\nmain #7 (https://example.org/7)",
        },
      },
      { message: { author: { id: "U0OTHERBOT", isBot: true }, text: "what people see" } },
      { message: { author: { id: "USLACKBOT", isBot: true }, text: "Reminder: tea" } },
    ]);
  });

  test("a shared message is forwarded, or with a comment a quote; a link's preview is neither", async () => {
    const share = (by: string) => ({
      ts: "1690000000.000100",
      author_id: by,
      author_name: "Bob",
      channel_id: "C0GARDEN",
      channel_name: "garden",
      is_msg_unfurl: true,
      is_share: true,
      text: `<@${by}> please water`,
      fallback: "[garden] please water",
      from_url: "https://kitchen.slack.com/archives/C0GARDEN/p1690000000000100",
    });
    const origin = {
      authorId: expect.any(String),
      authorName: "Bob",
      chat: { id: "C0GARDEN", title: "garden" },
      messageId: "1690000000.000100",
      sentAt: 1_690_000_000_000,
    };
    const bare = await message(({ ann, bob }) => ({
      user: ann.id,
      text: "",
      attachments: [share(bob.id)],
    }));
    expect(bare.said).toMatchObject({
      text: "@Bob please water",
      forwarded: origin,
      mentions: [],
      explicitOnly: true,
    });
    const commented = await message(({ ann, bob }) => ({
      user: ann.id,
      text: "who does this?",
      attachments: [share(bob.id)],
    }));
    expect(commented.said).toMatchObject({
      text: "who does this?",
      quote: { text: "@Bob please water", from: origin },
      explicitOnly: false,
    });
    expect(commented.said).not.toHaveProperty("forwarded");
    const preview = await message(({ ann }) => ({
      user: ann.id,
      text: "<https://example.org>",
      attachments: [{ from_url: "https://example.org", title: "Example", text: "An example" }],
    }));
    expect(preview.said).toMatchObject({ text: "https://example.org", explicitOnly: false });
    expect(preview.said).not.toHaveProperty("quote");
  });

  test("threads have their first author; what is also sent to the channel stays in its thread", async () => {
    const reply = await message(({ ann, bob }) => ({
      user: ann.id,
      text: "yes",
      thread_ts: "1690000000.000100",
      parent_user_id: bob.id,
    }));
    expect(reply.said?.thread).toEqual({
      id: "1690000000.000100",
      kind: "thread",
      rootAuthorId: reply.rig.bob.id,
    });
    const broadcast = await message(({ ann, workspace }) => ({
      user: ann.id,
      subtype: "thread_broadcast",
      text: "to all",
      thread_ts: "1690000000.000100",
      root: { type: "message", user: workspace.bot.id, ts: "1690000000.000100", text: "root" },
    }));
    expect(broadcast.said?.thread).toMatchObject({
      id: "1690000000.000100",
      rootAuthorId: broadcast.rig.workspace.bot.id,
    });
    const root = await message(({ ann }) => ({ user: ann.id, text: "root", thread_ts: ts }));
    expect(root.said?.thread).toBeNull();
  });

  test("system messages engage nobody, and joins are not heard", async () => {
    const { events } = await heard((rig) => [
      {
        ...at(rig),
        subtype: "channel_join",
        user: rig.ann.id,
        text: `<@${rig.ann.id}> has joined`,
      },
      {
        ...at(rig),
        ts: "1700000000.000200",
        subtype: "channel_topic",
        user: rig.ann.id,
        topic: "soup",
        text: `<@${rig.ann.id}> set the channel topic: soup for <@${rig.workspace.bot.id}>`,
      },
      {
        ...at(rig),
        ts: "1700000000.000300",
        subtype: "pinned_item",
        user: rig.bob.id,
        text: "pinned a message to this channel.",
      },
      {
        ...at(rig),
        channel: rig.direct.id,
        channel_type: "im",
        ts: "1700000000.000400",
        subtype: "sh_room_created",
        user: rig.ann.id,
        text: "A huddle started",
      },
    ]);
    expect(events).toMatchObject([
      {
        message: {
          text: "[@Ann set the channel topic: soup for @scout]",
          mentions: [],
          explicitOnly: true,
        },
      },
      { message: { text: "[Bob pinned a message to this channel.]", explicitOnly: true } },
    ]);
    expect(events).toHaveLength(2);
  });

  test("an action, one character, the longest text, right to left, and combining marks", async () => {
    const long = "ä".repeat(39_999);
    const texts = ["k", `${long}.`, "‏שלום לכולם", "e\u0301\u0323 and 👩‍👩‍👧‍👦"];
    const { events } = await heard((rig) => [
      { ...at(rig), subtype: "me_message", user: rig.ann.id, text: "waves" },
      ...texts.map((text, n) => ({
        ...at(rig),
        ts: `170000000${n}.000200`,
        user: rig.ann.id,
        text,
      })),
    ]);
    expect(events.map((event) => event.type === "message" && event.message.text)).toEqual([
      "* Ann waves",
      ...texts,
    ]);
  });

  test("a person whose name Slack does not say has an id; it is said once in the log", async () => {
    const rig = await slackRig();
    const channel = rig.open();
    await channel.live();
    rig.server.missing.set("users.info", "users:read");
    const said = await channel.message(rig.workspace.say(rig.kitchen, rig.ann, "who am I").ts);
    expect(said.author).toMatchObject({ id: rig.ann.id, name: rig.ann.id, isBot: false });
    await channel.message(rig.workspace.say(rig.kitchen, rig.bob, "and I?").ts);
    const lines = channel.logs.filter(({ event }) => event === "slack.name-unknown");
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain("users:read");
  });

  test("a direct chat, and a group of some people", async () => {
    const rig = await slackRig();
    const some = rig.workspace.room("mpim", "mpdm-ann--bob--scout-1", [rig.ann, rig.bob]);
    const channel = rig.open();
    await channel.live();
    const alone = await channel.message(rig.workspace.say(rig.direct, rig.ann, "psst").ts);
    expect(alone.chat).toEqual({ id: rig.direct.id, kind: "direct" });
    const together = await channel.message(rig.workspace.say(some, rig.ann, "we").ts);
    expect(together.chat).toMatchObject({ id: some.id, kind: "group" });
  });
});

describe("changes", () => {
  test("edits and deletions, in threads as well; a preview and a counted reply change nothing", async () => {
    const { events } = await heard((rig) => {
      const before = { type: "message", user: rig.ann.id, text: "befor", ts };
      const changed = (message: object, previous: object = before) => ({
        type: "message",
        subtype: "message_changed",
        hidden: true,
        channel: rig.kitchen.id,
        channel_type: "channel",
        ts: "1700000001.000100",
        event_ts: "1700000001.000100",
        message: { ...before, ...message },
        previous_message: previous,
      });
      const edited = { user: rig.ann.id, ts: "1700000001.000000" };
      return [
        changed({ text: "before", edited }),
        changed({ attachments: [{ from_url: "https://example.org", text: "preview" }] }),
        changed({ thread_ts: ts, reply_count: 1, latest_reply: "1700000002.000100" }),
        changed({ subtype: "tombstone", text: "This message was deleted.", thread_ts: ts }),
        {
          type: "message",
          subtype: "message_deleted",
          hidden: true,
          channel: rig.kitchen.id,
          channel_type: "channel",
          ts: "1700000003.000100",
          deleted_ts: "1700000002.000100",
          event_ts: "1700000003.000100",
          previous_message: { ...before, ts: "1700000002.000100", thread_ts: ts },
        },
      ];
    });
    expect(events).toMatchObject([
      {
        type: "edit",
        edit: { id: ts, text: "before", editId: "1700000001.000000", author: { name: "Ann" } },
      },
      { type: "delete", deletion: { id: ts, thread: null } },
      { type: "delete", deletion: { id: "1700000002.000100", thread: { id: ts } } },
    ]);
    expect(events).toHaveLength(3);
  });

  test("a reaction in a thread belongs to the thread, and says whose message it is", async () => {
    const rig = await slackRig();
    const channel = rig.open();
    await channel.live();
    const root = rig.workspace.say(rig.kitchen, rig.bob, "root");
    const reply = rig.workspace.say(rig.kitchen, rig.ann, "reply", { thread_ts: root.ts });
    await channel.message(reply.ts);
    rig.workspace.react(rig.kitchen, reply.ts, rig.bob, "partyparrot", true);
    expect(await channel.reaction(reply.ts)).toMatchObject({
      thread: { id: root.ts },
      added: [":partyparrot:"],
      ofSelf: false,
      author: { name: "Bob" },
    });
  });

  test("a conversation that gets another id stays the same room, also after a restart", async () => {
    const rig = await slackRig();
    const { workspace, server, kitchen, ann } = rig;
    const first = rig.open();
    await first.live();
    const before = await first.message(workspace.say(kitchen, ann, "before").ts);
    const moved = workspace.room("channel", "kitchen", [ann]);
    workspace.event({
      type: "channel_id_changed",
      old_channel_id: kitchen.id,
      new_channel_id: moved.id,
      event_ts: ts,
    });
    const after = await first.message(workspace.say(moved, ann, "after").ts);
    expect(after.chat).toMatchObject({ id: before.chat.id, movedTo: moved.id });
    await first.stop();
    const second = rig.open({}, first.cursors);
    await second.live();
    const later = await second.message(workspace.say(moved, ann, "later").ts);
    expect(later.chat.id).toBe(before.chat.id);
    const route = { channel: "slack", account: "default", chat: before.chat, thread: null };
    const signal = new AbortController().signal;
    await second.outbound.sendText({ route, id: "t:0", text: "found you", signal });
    expect(server.called("chat.postMessage")[0]).toMatchObject({ channel: moved.id });
  });

  test("events for another workspace of the same app are not for us", async () => {
    const rig = await slackRig();
    const channel = rig.open();
    await channel.live();
    rig.server.send({
      type: "events_api",
      payload: {
        type: "event_callback",
        team_id: "T0OTHER",
        authorizations: [{ team_id: "T0OTHER", user_id: "U0OTHERBOT", is_bot: true }],
        event: { ...at(rig), user: rig.ann.id, text: "not for you" },
      },
    });
    await channel.message(rig.workspace.say(rig.kitchen, rig.ann, "for you").ts);
    expect(channel.messages()).toHaveLength(1);
  });

  test("an event that names a person who may see it counts where the bot is, too", async () => {
    const rig = await slackRig();
    const { workspace, kitchen, ann, bob } = rig;
    const channel = rig.open();
    await channel.live();
    const rooms = [
      workspace.room("im", "", [ann, bob], false),
      workspace.room("group", "secrets", [ann, bob], false),
      workspace.room("channel", "lobby", [ann, bob], false),
      kitchen,
      rig.direct,
    ];
    for (const room of rooms) {
      const said = workspace.store(room, ann, `in ${room.type} ${room.name}`);
      // The app may read what Bob may read, and Slack names one of both.
      workspace.event(workspace.eventOf(room, said), bob);
    }
    const last = workspace.say(kitchen, ann, "the last one");
    await channel.message(last.ts);
    await expect.poll(() => rig.server.acknowledged.length).toBe(rooms.length + 1);
    const heard = channel.messages().map(({ text }) => text);
    expect(heard.toSorted()).toEqual(["in channel kitchen", "in im ", "the last one"]);
  });
});
