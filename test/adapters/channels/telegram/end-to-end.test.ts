/**
 * The whole path on a Telegram: from a person's line at a Bot API server through poll loop,
 * journal, host, machine, agent and outbox to the answer in the room; in-process and with a worker
 * thread.
 */
import { describe, expect, test } from "vitest";
import { workersInTurn } from "../../../support/rounds.ts";
import { sampleToken } from "../../../support/servers/telegram.ts";
import { openTelegramRooms } from "../../../support/telegram/telegram-rooms.ts";

const say = (...texts: string[]) => texts.map((text) => ({ steps: [{ text }] }));
const slowly = (text: string, waitMs: number) => ({ steps: [{ waitMs }, { text }] });

describe("telegram end to end", () => {
  test.each(workersInTurn(0))(
    "a mention is acknowledged, typed at, and answered on that very message, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers, runs: say("**Hello** Ann") });
      const asked = rooms.say("ann", "@scout_bot are you there?");
      const [answer] = await rooms.answers(1);
      expect(answer).toMatchObject({
        text: "Hello Ann",
        entities: [{ type: "bold", offset: 0, length: 5 }],
        reply_to_message: { message_id: asked.message_id },
      });
      expect(rooms.decision(asked)).toMatchObject({ decision: "engage", rule: "mention" });
      const id = asked.message_id;
      await rooms.until(() => rooms.reactions().length === 2, "the ack to go away");
      expect(rooms.reactions()).toEqual([`${id}:👀`, `${id}:`]);
      expect(rooms.group.reactions.get(id)).toEqual([]);
      expect(rooms.server.calls("sendChatAction").length).toBeGreaterThanOrEqual(1);
    },
  );

  test.each(workersInTurn(1))(
    "after the answer the same person goes on without a mention, others are only heard, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers, runs: say("first", "second") });
      rooms.say("ann", "@scout_bot one");
      await rooms.answers(1);
      await rooms.until(() => rooms.sends().length === 1, "the delivery to be known");
      const other = rooms.say("bob", "talking to nobody");
      const more = rooms.say("ann", "and another thing");
      const answers = await rooms.answers(2);
      expect(answers.map(({ text }) => text)).toEqual(["first", "second"]);
      expect(rooms.decision(more)).toMatchObject({ decision: "engage", rule: "sticky" });
      expect(rooms.decision(other)).toMatchObject({ decision: "observe" });
      expect(rooms.prompts()[1]).toContain("talking to nobody");
    },
  );

  test.each(workersInTurn(2))(
    "a topic is a conversation of its own and is answered inside, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers, runs: say("in the topic") });
      const topic = rooms.server.world.topic(rooms.group, rooms.people.ann as never, "Plans");
      const asked = rooms.say("ann", "@scout_bot here", { topic });
      const [answer] = await rooms.answers(1);
      expect(answer).toMatchObject({ message_thread_id: topic, text: "in the topic" });
      expect(rooms.decision(asked)?.key).toContain(String(topic));
    },
  );

  test.each(workersInTurn(3))(
    "an edit before the turn starts is what the agent reads, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({
        workers,
        config: { messages: { inbound: { debounceMs: 1_000, debounceMaxMs: 2_000 } } },
      });
      const asked = rooms.say("ann", "@scout_bot what is 2+2");
      await rooms.until(() => rooms.decision(asked) !== undefined, "the decision");
      rooms.server.world.edit(rooms.group, asked, "@scout_bot what is 3+3");
      await rooms.answers(1);
      expect(rooms.prompts()[0]).toContain("what is 3+3");
      expect(rooms.prompts()[0]).not.toContain("what is 2+2");
      expect(rooms.decisions(asked)).toHaveLength(1);
    },
  );

  test.each(workersInTurn(4))(
    "the first line heard in a group waits for its member count, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers });
      const line = rooms.say("ann", "good morning everybody");
      await rooms.until(() => rooms.decision(line) !== undefined, "the decision");
      expect(rooms.decision(line)).toMatchObject({ decision: "observe", rule: "default" });
    },
  );

  test.each(workersInTurn(5))(
    "a rate limit on the answer is waited out, and the answer comes once, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers, runs: say("patience") });
      rooms.server.faults.add("sendMessage", { kind: "refuse", status: 429, retryAfter: 1 });
      rooms.say("ann", "@scout_bot hello");
      const [answer] = await rooms.answers(1);
      expect(answer?.text).toBe("patience");
      const calls = rooms.server.world.calls.filter(({ method }) => method === "sendMessage");
      expect(calls).toHaveLength(2);
      expect((calls[1]?.at ?? 0) - (calls[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
      await rooms.until(() => rooms.sends().length === 1, "the delivery");
      expect(rooms.sends()).toMatchObject([{ status: "sent", text: "patience" }]);
    },
  );

  test.each(workersInTurn(6))(
    "what is said and answered while Telegram is away arrives afterwards, once, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({
        workers,
        runs: [slowly("late answer", 300), ...say("next")],
      });
      const first = rooms.say("ann", "@scout_bot one");
      await rooms.until(() => rooms.decision(first) !== undefined, "the decision");
      await rooms.server.down();
      await new Promise((resolve) => setTimeout(resolve, 700));
      const second = rooms.say("bob", "@scout_bot two");
      await rooms.server.up();
      const answers = await rooms.answers(2);
      expect(answers.map(({ text }) => text)).toEqual(["late answer", "next"]);
      expect(answers.map((answer) => answer.reply_to_message?.message_id)).toEqual([
        first.message_id,
        second.message_id,
      ]);
    },
  );

  test.each(workersInTurn(7))(
    "a restart loses nothing, repeats nothing, and remembers who was answered, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers });
      rooms.say("ann", "@scout_bot before");
      await rooms.answers(1);
      await rooms.until(() => rooms.sends().length === 1, "the delivery to be known");
      await rooms.stop();
      const meanwhile = rooms.say("bob", "@scout_bot while you were away");
      const follow = rooms.say("ann", "and I go on");
      await rooms.start();
      await rooms.answers(3);
      expect(rooms.decisions(meanwhile)).toMatchObject([{ decision: "engage", rule: "mention" }]);
      expect(rooms.decisions(follow)).toMatchObject([{ decision: "engage", rule: "sticky" }]);
      await rooms.until(() => rooms.sends().length === 3, "all deliveries");
      expect(rooms.server.world.answers(rooms.group)).toHaveLength(3);
    },
  );

  test.each(workersInTurn(8))(
    "an update that comes twice is decided once and answered once, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers });
      rooms.server.faults.add("getUpdates", { kind: "duplicate" }, 3);
      // The poll that is already waiting brings this one; the next ones are answered twice.
      const first = rooms.say("bob", "plain talk");
      await rooms.until(() => rooms.decision(first) !== undefined, "the first decision");
      const asked = rooms.say("ann", "@scout_bot once");
      await rooms.answers(1);
      await rooms.until(() => rooms.decisions(asked).length >= 2, "the duplicate");
      const engaged = rooms.decisions(asked).filter(({ decision }) => decision === "engage");
      expect(engaged).toHaveLength(1);
      const later = rooms.say("ann", "@scout_bot again");
      await rooms.answers(2);
      const { length } = rooms.decisions(later).filter(({ decision }) => decision === "engage");
      expect(length).toBe(1);
      expect(rooms.server.world.answers(rooms.group)).toHaveLength(2);
    },
  );

  test.each(workersInTurn(9))(
    "an edit that comes twice is journalled once, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers });
      rooms.server.faults.add("getUpdates", { kind: "duplicate" }, 3);
      // The poll that is already waiting brings this one; the next ones are answered twice.
      const said = rooms.say("bob", "plain talk");
      await rooms.until(() => rooms.decision(said) !== undefined, "the decision");
      rooms.server.world.edit(rooms.group, said, "plainer talk");
      rooms.server.world.edit(rooms.group, said, "plain talk");
      const later = rooms.say("bob", "and more");
      await rooms.until(() => rooms.decisions(later).length >= 2, "the duplicates");
      const rows = await rooms.store.scan(0, 1_000);
      expect(rows.filter(({ body }) => body.includes("message.edited"))).toHaveLength(2);
    },
  );

  test.each(workersInTurn(10))(
    "updates that say nothing are confirmed, and the cursor behind them is stored, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers });
      const { world } = rooms.server;
      world.post({ poll_answer: { poll_id: "1", option_ids: [] } });
      await rooms.until(() => world.queue.length === 0, "the confirmation");
      expect(await rooms.store.cursor("telegram", "default", "4242")).toMatch(/^1001@/);
    },
  );

  test.each(workersInTurn(11))("a private chat is answered there, workers %i", async (workers) => {
    const rooms = await openTelegramRooms({ workers, runs: say("just us") });
    const direct = rooms.server.world.direct(rooms.people.ann as never);
    const asked = rooms.say("ann", "hello", {}, direct);
    await rooms.until(() => rooms.server.world.answers(direct).length === 1, "the answer");
    expect(rooms.decision(asked)).toMatchObject({ decision: "engage", rule: "dm" });
    expect(rooms.server.world.answers(rooms.group)).toEqual([]);
  });

  test.each(workersInTurn(12))(
    "the token is in no line, log or record, workers %i",
    async (workers) => {
      const rooms = await openTelegramRooms({ workers });
      rooms.server.faults.add("sendMessage", { kind: "refuse", status: 500 });
      rooms.server.faults.add("getUpdates", { kind: "html", status: 502 });
      rooms.say("ann", "@scout_bot hello");
      await rooms.answers(1);
      const events = await rooms.store.scan(0, 1_000);
      const config = await rooms.store.latestConfig();
      const sinks = JSON.stringify([rooms.lines, rooms.logs, events, config]);
      expect(events.length).toBeGreaterThan(0);
      expect(sinks).not.toContain(sampleToken);
      expect(sinks).not.toContain("canary");
    },
  );
});

test("typing that fell into a break of the connection is shown when it is back", async () => {
  const rooms = await openTelegramRooms({ workers: 0, runs: [slowly("done", 2_500)] });
  await rooms.until(() => rooms.server.calls("getUpdates").length > 1, "a poll that waits");
  // That poll brings the message; the one after it is refused for a second.
  rooms.server.faults.add("getUpdates", { kind: "refuse", status: 429, retryAfter: 1 });
  rooms.say("ann", "@scout_bot take your time");
  await rooms.until(() => rooms.server.calls("sendChatAction").length > 0, "typing");
  expect(rooms.server.world.answers(rooms.group)).toEqual([]);
  await rooms.answers(1);
});

test("typing is renewed while the agent works, and not after the answer", async () => {
  const rooms = await openTelegramRooms({ workers: 0, runs: [slowly("done", 5_600)] });
  rooms.say("ann", "@scout_bot take your time");
  await rooms.answers(1);
  const typed = rooms.server.world.calls.filter(({ method }) => method === "sendChatAction");
  const gaps = typed.slice(1).map(({ at }, index) => at - (typed[index]?.at ?? 0));
  expect(gaps.length).toBeGreaterThanOrEqual(1);
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(4_000);
  await rooms.until(() => rooms.sends().length === 1, "the delivery");
  const { length } = rooms.server.calls("sendChatAction");
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  expect(rooms.server.calls("sendChatAction")).toHaveLength(length);
});
