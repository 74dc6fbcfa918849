/**
 * What is said while no socket is open: the server sends it to nobody, and every conversation's history
 * has it.
 */
import { expect, test } from "vitest";
import { slackRig } from "../../../support/slack/slack-rig.ts";

const texts = (messages: readonly { text: string }[]) => messages.map(({ text }) => text);

test("a refresh that Slack announces loses nothing of what is said in its blind window", async () => {
  const { server, workspace, ann, bob, kitchen, direct, open } = await slackRig();
  const channel = open();
  await channel.live();
  await channel.message(workspace.say(kitchen, ann, "before").ts);
  server.faults.add("apps.connections.open", { kind: "slow", ms: 300 });
  server.refresh();
  await server.until(() => server.connections === 0, "the socket to close");
  workspace.say(kitchen, ann, "in the gap");
  workspace.say(direct, ann, "alone, in the gap");
  const last = workspace.say(kitchen, bob, "and more in the gap");
  await channel.message(last.ts);
  await channel.message(workspace.say(kitchen, ann, "after").ts);
  const heard = channel.messages().filter(({ chat }) => chat.id === kitchen.id);
  expect(texts(heard)).toEqual(["before", "in the gap", "and more in the gap", "after"]);
  await expect.poll(() => texts(channel.messages())).toContain("alone, in the gap");
  expect(channel.gaps).toEqual([]);
  expect(channel.states.some(({ state }) => state === "backing-off")).toBe(false);
});

test("what is said during the reading comes after what was said before, in each conversation", async () => {
  const { server, workspace, ann, kitchen, direct, open } = await slackRig();
  const channel = open();
  await channel.live();
  server.faults.add("conversations.history", { kind: "slow", ms: 400 }, 2);
  server.breakSockets();
  await server.until(() => server.connections === 0, "the socket to close");
  workspace.say(kitchen, ann, "one");
  workspace.say(direct, ann, "uno");
  await server.until(() => server.connections === 1, "the next socket");
  workspace.say(kitchen, ann, "two");
  const last = workspace.say(direct, ann, "due");
  await channel.message(last.ts);
  await expect.poll(() => channel.messages().length).toBe(4);
  const inRoom = (id: string) => texts(channel.messages().filter(({ chat }) => chat.id === id));
  expect(inRoom(kitchen.id)).toEqual(["one", "two"]);
  expect(inRoom(direct.id)).toEqual(["uno", "due"]);
});

test("replies in threads come back: of new ones, of old ones in the history, and of very old ones that were heard", async () => {
  const { server, workspace, ann, bob, kitchen, open } = await slackRig();
  const old = Date.now() - 86_400_000 * 30;
  const ancient = workspace.store(kitchen, bob, "ancient", { ts: workspace.ts(old) });
  for (let n = 0; n < 201; n += 1)
    workspace.store(kitchen, bob, `filler ${n}`, { ts: (old / 1_000 + 10 + n).toFixed(6) });
  const earlier = workspace.store(kitchen, bob, "earlier", {
    ts: (Date.now() / 1_000 - 7_200).toFixed(6),
  });
  const channel = open();
  await channel.live();
  const known = workspace.say(kitchen, ann, "still about that", { thread_ts: ancient.ts });
  await channel.message(known.ts);
  server.breakSockets();
  await server.until(() => server.connections === 0, "the socket to close");
  const begun = workspace.say(kitchen, ann, "a new thread");
  const replies = [
    workspace.say(kitchen, bob, "in the new one", { thread_ts: begun.ts }),
    workspace.say(kitchen, bob, "in the earlier one", { thread_ts: earlier.ts }),
    workspace.say(kitchen, bob, "in the ancient one", { thread_ts: ancient.ts }),
  ];
  for (const { ts } of replies) await channel.message(ts);
  for (const reply of replies)
    expect(await channel.message(reply.ts)).toMatchObject({
      thread: { id: reply.thread_ts, kind: "thread" },
      text: reply.text,
    });
  expect((await channel.message(begun.ts)).thread).toBeNull();
  expect(channel.identities()).toHaveLength(5);
});

test("an edit of the blind window comes back as an edit, once; unchanged messages do not come again", async () => {
  const { server, workspace, ann, kitchen, open } = await slackRig();
  const channel = open();
  await channel.live();
  const said = workspace.say(kitchen, ann, "befor");
  await channel.message(said.ts);
  server.breakSockets();
  await server.until(() => server.connections === 0, "the socket to close");
  workspace.edit(kitchen, said.ts, "before");
  const edit = await channel.edit(said.ts);
  expect(edit).toMatchObject({ text: "before", chat: { id: kitchen.id } });
  await channel.message(workspace.say(kitchen, ann, "after").ts);
  expect(channel.messages()).toHaveLength(2);
});

test("a new run reads what was said since the last one, and nothing on the very first", async () => {
  const { workspace, ann, bob, kitchen, open } = await slackRig();
  workspace.store(kitchen, bob, "long ago");
  const first = open();
  await first.live();
  await first.message(workspace.say(kitchen, ann, "before").ts);
  expect(texts(first.messages())).toEqual(["before"]);
  await first.stop();
  const missed = [1, 2, 3].map((n) => workspace.say(kitchen, ann, `missed ${n}`).ts);
  const second = open({}, first.cursors);
  await second.message(missed.at(-1) as string);
  expect(second.identities().slice(-3)).toEqual(missed);
});

test("rate limits and failures while reading back are waited out", async () => {
  const { server, workspace, ann, kitchen, open } = await slackRig();
  const channel = open();
  await channel.live();
  server.breakSockets();
  await server.until(() => server.connections === 0, "the socket to close");
  server.faults.add("conversations.history", { kind: "refuse", status: 429, retryAfter: 1 });
  server.faults.add("users.conversations", { kind: "html", status: 502 });
  const { ts } = workspace.say(kitchen, ann, "patience");
  await channel.message(ts);
  expect(channel.gaps).toEqual([]);
});

test("a second break in the middle of reading begins again, and nothing is lost", async () => {
  const { server, workspace, ann, kitchen, open } = await slackRig();
  const channel = open();
  await channel.live();
  server.faults.add("conversations.history", { kind: "hang" });
  server.breakSockets();
  await server.until(() => server.connections === 0, "the socket to close");
  const { ts } = workspace.say(kitchen, ann, "first gap");
  await server.until(() => server.called("conversations.history").length > 0, "the reading");
  server.breakSockets();
  await channel.message(ts);
  await channel.message(workspace.say(kitchen, ann, "after").ts);
  expect(texts(channel.messages())).toEqual(["first gap", "after"]);
});

test("what may not be read is a gap with its span and its room, reported once, and the others are read", async () => {
  const { server, workspace, ann, kitchen, direct, open } = await slackRig();
  const channel = open();
  await channel.live();
  const before = Date.now();
  server.breakSockets();
  await server.until(() => server.connections === 0, "the socket to close");
  server.failures.set("conversations.history", ["missing_scope"]);
  workspace.say(direct, ann, "one of both is not read");
  const { ts } = workspace.say(kitchen, ann, "one of both is read");
  await expect.poll(() => channel.gaps.length, { timeout: 10_000 }).toBe(1);
  const [gap] = channel.gaps;
  expect(gap).toMatchObject({ lost: "messages" });
  expect(gap?.rooms).toHaveLength(1);
  expect(gap?.from).toBeLessThanOrEqual(before);
  expect(gap?.to).toBeGreaterThanOrEqual(before);
  await channel.message(ts);
  const why = channel.logs.filter(({ event }) => event === "slack.history-unread");
  expect(why).toHaveLength(1);
  expect(JSON.stringify(why)).toContain("the scope unknown is missing");
});

test("after more than a day only the last day is read, and the rest is reported as lost", async () => {
  const { workspace, ann, kitchen, open } = await slackRig();
  const first = open();
  await first.live();
  await first.message(workspace.say(kitchen, ann, "before").ts);
  await first.stop();
  const [[identity = "", cursor = ""] = []] = first.cursors;
  const heard = Date.now() - 3 * 86_400_000;
  const stored = JSON.stringify({ ...(JSON.parse(cursor) as object), heard });
  const second = open({}, new Map([[identity, stored]]));
  await expect.poll(() => second.gaps.length, { timeout: 10_000 }).toBe(2);
  expect(second.gaps[0]).toMatchObject({ from: heard, lost: "messages", rooms: [] });
  expect(second.gaps[0]?.to).toBeLessThan(Date.now() - 86_000_000);
  expect(second.gaps[1]).toMatchObject({ from: heard, lost: "edits" });
});

test("a cursor of an unknown form is as none", async () => {
  const { workspace, ann, kitchen, open } = await slackRig();
  const { id } = workspace.bot;
  const channel = open({}, new Map([[id, '{"heard":"yesterday"}']]));
  await channel.message(await sayWhenLive());
  expect(channel.logs.filter(({ event }) => event === "slack.cursor-unreadable")).toHaveLength(1);
  async function sayWhenLive() {
    await channel.live();
    return workspace.say(kitchen, ann, "hello").ts;
  }
});
