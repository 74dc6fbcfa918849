/** Times away, rooms that are new, and rooms that moved: over real sockets to a homeserver. */
import { expect, onTestFinished, test } from "vitest";
import { matrixChannel } from "../../../../src/adapters/channels/matrix/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { startBot } from "../../../support/matrix/matrix-world.ts";

async function rig(more: object = {}) {
  const { server, rooms, scout, config } = await startBot();
  const ann = rooms.person("ann", "Ann");
  const kitchen = rooms.room("kitchen", [ann, scout]);
  const account = { ...config, ...more };
  const open = (cursors?: Map<string, string>) => {
    const channel = openChannel(matrixChannel as ChannelDefinition, account, cursors);
    onTestFinished(() => channel.stop());
    return channel;
  };
  const channel = open();
  onTestFinished(() => server.down());
  await channel.live();
  const say = (room: string, body: string) =>
    rooms.send(room, ann, "m.room.message", { msgtype: "m.text", body });
  return { server, rooms, scout, ann, kitchen, channel, open, say };
}

test("more than one sync holds of a time away is read back, in order and complete", async () => {
  const { channel, open, kitchen, say, server } = await rig();
  const before = say(kitchen, "before");
  await channel.message(before);
  await channel.stop();
  const away = Array.from({ length: 260 }, (_, n) => say(kitchen, `away ${n}`));
  const again = open(channel.cursors);
  await again.message(away.at(-1) as string);
  expect(again.identities()).toEqual(away);
  expect(again.gaps).toEqual([]);
  expect(server.requests.filter((name) => name === "messages").length).toBeGreaterThan(2);
});

test("a room that no longer shows its past is a gap, and the rest of it is heard", async () => {
  const { channel, open, kitchen, say, server } = await rig();
  await channel.message(say(kitchen, "before"));
  await channel.stop();
  const away = Array.from({ length: 120 }, (_, n) => say(kitchen, `away ${n}`));
  server.faults.add("messages", { kind: "refuse", status: 403 });
  const again = open(channel.cursors);
  await again.message(away.at(-1) as string);
  expect(again.identities()).toEqual(away.slice(-50));
  await expect.poll(() => again.gaps).toMatchObject([{ rooms: [kitchen], lost: "messages" }]);
});

test("a failure while reading back repeats the whole, and nothing is lost", async () => {
  const { channel, open, kitchen, say, server } = await rig();
  await channel.message(say(kitchen, "before"));
  await channel.stop();
  const away = Array.from({ length: 260 }, (_, n) => say(kitchen, `away ${n}`));
  server.faults.add("messages", { kind: "slow", ms: 1 });
  server.faults.add("messages", { kind: "html", status: 502 });
  server.faults.add("sync", { kind: "reset" });
  const again = open(channel.cursors);
  await again.message(away.at(-1) as string);
  expect(again.identities()).toEqual(away);
  expect(again.gaps).toEqual([]);
});

test("a position that the homeserver no longer knows is a gap, reported once with its span", async () => {
  const { channel, open, kitchen, say, server, rooms } = await rig();
  await channel.message(say(kitchen, "before"));
  await channel.stop();
  const [[identity = "", cursor = ""] = []] = [...channel.cursors];
  say(kitchen, "lost");
  server.forgetsBefore = rooms.now;
  const again = open(new Map([[identity, cursor]]));
  await again.live();
  const after = say(kitchen, "after");
  await again.message(after);
  expect(again.identities()).toEqual([after]);
  const { at } = JSON.parse(cursor) as { at: number };
  expect(again.gaps).toMatchObject([{ from: at, rooms: [], lost: "messages" }]);
});

test("what a room said before the bot came is not delivered, what it says then is", async () => {
  const { channel, rooms, ann, scout, say, server } = await rig();
  const garden = rooms.room("garden", [ann]);
  say(garden, "long ago");
  rooms.invite(garden, ann, scout);
  await server.until(() => rooms.membership(garden, scout) === "join", "the bot enters");
  const now = say(garden, "now");
  const message = await channel.message(now);
  expect(message.chat).toMatchObject({ id: garden, kind: "group", title: "garden" });
  expect(channel.identities()).toEqual([now]);
  expect(channel.logs.map(({ event }) => event)).toContain("matrix.joined");
});

test("an invitation to a direct chat makes one, and the account's list says so", async () => {
  const { channel, rooms, ann, scout, say, server } = await rig();
  const chat = rooms.room(null, [ann]);
  rooms.invite(chat, ann, scout, true);
  await server.until(
    () => server.accountData(scout, "m.direct") !== undefined,
    "the list of direct chats",
  );
  expect(server.accountData(scout, "m.direct")).toEqual({ [ann]: [chat] });
  const message = await channel.message(say(chat, "psst"));
  expect(message.chat).toMatchObject({ id: chat, kind: "direct", title: "Ann" });
});

test("an invitation that could not be answered is accepted after a restart", async () => {
  const { channel, open, kitchen, rooms, ann, scout, say, server } = await rig();
  const garden = rooms.room("garden", [ann]);
  server.faults.add("join", { kind: "refuse", status: 502 }, 3);
  rooms.invite(garden, ann, scout);
  await server.until(() => server.requests.includes("join"), "a try to enter");
  await channel.message(say(kitchen, "meanwhile"));
  await channel.stop();
  server.faults.clear();
  const again = open(channel.cursors);
  await again.live();
  await server.until(() => rooms.membership(garden, scout) === "join", "the bot enters");
  await again.message(say(garden, "welcome"));
});

test("a refused invitation is said once, and one may be ignored by the config", async () => {
  const { channel, rooms, ann, scout, server } = await rig();
  const garden = rooms.room("garden", [ann]);
  server.closed.add(garden);
  rooms.invite(garden, ann, scout);
  await expect.poll(() => channel.states.at(-1)?.detail).toContain(garden);
  const refusals = channel.logs.filter(({ event }) => event === "matrix.join-refused");
  expect(refusals).toHaveLength(1);

  const quiet = await rig({ invites: "ignore" });
  const room = quiet.rooms.room("garden", [quiet.ann]);
  quiet.rooms.invite(room, quiet.ann, quiet.scout);
  await quiet.channel.message(quiet.say(quiet.kitchen, "still here"));
  expect(quiet.rooms.membership(room, quiet.scout)).toBe("invite");
});

test("an upgraded room is followed: the conversation keeps its id and answers go to the new room", async () => {
  const { channel, open, rooms, ann, scout, kitchen, say, server } = await rig();
  const asked = say(kitchen, "before the move");
  await channel.message(asked);
  const predecessor = { predecessor: { room_id: kitchen, event_id: asked } };
  const next = rooms.room("kitchen", [ann], { ...predecessor, public: true });
  const tombstone = { body: "This room has been replaced", replacement_room: next };
  rooms.state(kitchen, ann, "m.room.tombstone", "", tombstone);
  await server.until(() => rooms.membership(next, scout) === "join", "the bot follows");
  const moved = await channel.message(say(next, "after the move"));
  expect(moved.chat).toEqual({ id: kitchen, kind: "group", title: "kitchen", movedTo: next });
  const route = {
    channel: "matrix",
    account: "default",
    chat: { id: kitchen, kind: "group" as const },
    thread: null,
  };
  const signal = new AbortController().signal;
  await channel.outbound.sendText({ route, id: "t:0", text: "here", signal });
  const last = rooms.events(next).at(-1);
  expect(last).toMatchObject({ sender: scout, content: { body: "here" } });
  await channel.stop();
  // A new run knows it from the rooms themselves.
  const again = open(channel.cursors);
  await again.live();
  expect((await again.message(say(next, "later"))).chat.id).toBe(kitchen);
});

test("the new room of an upgrade may let the bot in only when somebody invites it", async () => {
  const { channel, rooms, ann, scout, kitchen, say, server } = await rig();
  const predecessor = { predecessor: { room_id: kitchen, event_id: "$last" } };
  const next = rooms.room("kitchen", [ann], predecessor);
  const tombstone = { body: "This room has been replaced", replacement_room: next };
  rooms.state(kitchen, ann, "m.room.tombstone", "", tombstone);
  await expect.poll(() => channel.states.at(-1)?.detail).toContain(next);
  rooms.invite(next, ann, scout);
  await server.until(() => rooms.membership(next, scout) === "join", "the bot follows");
  expect((await channel.message(say(next, "after"))).chat.id).toBe(kitchen);
  await expect.poll(() => channel.states.at(-1)?.detail).toBeUndefined();
});

test("a room that only claims to follow another one is a room of its own", async () => {
  const { channel, rooms, ann, scout, kitchen, say } = await rig();
  const mallory = rooms.person("mallory");
  const claim = { predecessor: { room_id: kitchen, event_id: "$any" } };
  const trap = rooms.room("kitchen", [mallory, scout, ann], claim);
  const message = await channel.message(say(trap, "I am the kitchen"));
  expect(message.chat.id).toBe(trap);
});

test("a person who changes their name, and ours, does not hide what was said before it", async () => {
  const { channel, open, rooms, kitchen, scout, ann, say } = await rig();
  await channel.message(say(kitchen, "before"));
  await channel.stop();
  const first = say(kitchen, "first");
  rooms.member(kitchen, scout, scout, { membership: "join", displayname: "Scout the Second" });
  rooms.member(kitchen, ann, ann, { membership: "join", displayname: "Ann B." });
  const second = say(kitchen, "second");
  const again = open(channel.cursors);
  await again.message(second);
  expect(again.identities()).toEqual([first, second]);
  expect((await again.message(second)).author.name).toBe("Ann B.");
});

test.each([
  ["what a proxy refuses by itself", "$with\u0000zero", 400],
  ["what no id of a message looks like", `$${"x".repeat(300)}`, 414],
  ["what the homeserver cannot answer", "$broken", 500],
])("a reply to %s is heard, and so is what comes behind it", async (_name, id, status) => {
  const { channel, kitchen, rooms, ann, server, say } = await rig();
  server.faults.add("event", { kind: "html", status }, 1_000);
  const reply = rooms.send(kitchen, ann, "m.room.message", {
    msgtype: "m.text",
    body: "what was that?",
    "m.relates_to": { "m.in_reply_to": { event_id: id } },
  });
  const next = say(kitchen, "and this?");
  await channel.message(next);
  expect(channel.identities()).toEqual([reply, next]);
  expect(channel.messages()[0]).toMatchObject({ replyTo: { id }, text: "what was that?" });
});
