/**
 * The whole path on a Telegram: from a person's line at a Bot API server through poll loop,
 * journal, host, machine, agent and outbox to the answer in the room; in-process and with a worker
 * thread.
 */
import { describe, expect, test } from "vitest";
import { sampleToken } from "../../../support/servers/telegram.ts";
import { openHouse } from "../../../support/telegram/telegram-rooms.ts";

const say = (...texts: string[]) => texts.map((text) => ({ steps: [{ text }] }));
const slowly = (text: string, waitMs: number) => ({ steps: [{ waitMs }, { text }] });

describe.each([0, 1])("telegram end to end, workers %i", (workers) => {
  test("a mention is acknowledged, typed at, and answered on that very message", async () => {
    const house = await openHouse({ workers, runs: say("**Hello** Ann") });
    const asked = house.say("ann", "@scout_bot are you there?");
    const [answer] = await house.answers(1);
    expect(answer).toMatchObject({
      text: "Hello Ann",
      entities: [{ type: "bold", offset: 0, length: 5 }],
      reply_to_message: { message_id: asked.message_id },
    });
    expect(house.decision(asked)).toMatchObject({ decision: "engage", rule: "mention" });
    const id = asked.message_id;
    await house.until(() => house.reactions().length === 2, "the ack to go away");
    expect(house.reactions()).toEqual([`${id}:👀`, `${id}:`]);
    expect(house.group.reactions.get(id)).toEqual([]);
    expect(house.server.calls("sendChatAction").length).toBeGreaterThanOrEqual(1);
  });

  test("after the answer the same person goes on without a mention, others are only heard", async () => {
    const house = await openHouse({ workers, runs: say("first", "second") });
    house.say("ann", "@scout_bot one");
    await house.answers(1);
    await house.until(() => house.sends().length === 1, "the delivery to be known");
    const other = house.say("bob", "talking to nobody");
    const more = house.say("ann", "and another thing");
    const answers = await house.answers(2);
    expect(answers.map(({ text }) => text)).toEqual(["first", "second"]);
    expect(house.decision(more)).toMatchObject({ decision: "engage", rule: "sticky" });
    expect(house.decision(other)).toMatchObject({ decision: "observe" });
    expect(house.prompts()[1]).toContain("talking to nobody");
  });

  test("a topic is a conversation of its own and is answered inside", async () => {
    const house = await openHouse({ workers, runs: say("in the topic") });
    const topic = house.server.world.topic(house.group, house.people.ann as never, "Plans");
    const asked = house.say("ann", "@scout_bot here", { topic });
    const [answer] = await house.answers(1);
    expect(answer).toMatchObject({ message_thread_id: topic, text: "in the topic" });
    expect(house.decision(asked)?.key).toContain(String(topic));
  });

  test("an edit before the turn starts is what the agent reads", async () => {
    const house = await openHouse({
      workers,
      config: { messages: { inbound: { debounceMs: 1_000, debounceMaxMs: 2_000 } } },
    });
    const asked = house.say("ann", "@scout_bot what is 2+2");
    await house.until(() => house.decision(asked) !== undefined, "the decision");
    house.server.world.edit(house.group, asked, "@scout_bot what is 3+3");
    await house.answers(1);
    expect(house.prompts()[0]).toContain("what is 3+3");
    expect(house.prompts()[0]).not.toContain("what is 2+2");
    expect(house.decisions(asked)).toHaveLength(1);
  });

  test("a rate limit on the answer is waited out, and the answer comes once", async () => {
    const house = await openHouse({ workers, runs: say("patience") });
    house.server.faults.add("sendMessage", { kind: "refuse", status: 429, retryAfter: 1 });
    house.say("ann", "@scout_bot hello");
    const [answer] = await house.answers(1);
    expect(answer?.text).toBe("patience");
    const calls = house.server.world.calls.filter(({ method }) => method === "sendMessage");
    expect(calls).toHaveLength(2);
    expect((calls[1]?.at ?? 0) - (calls[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
    await house.until(() => house.sends().length === 1, "the delivery");
    expect(house.sends()).toMatchObject([{ status: "sent", text: "patience" }]);
  });

  test("what is said and answered while Telegram is away arrives afterwards, once", async () => {
    const house = await openHouse({ workers, runs: [slowly("late answer", 300), ...say("next")] });
    const first = house.say("ann", "@scout_bot one");
    await house.until(() => house.decision(first) !== undefined, "the decision");
    await house.server.down();
    await new Promise((resolve) => setTimeout(resolve, 700));
    const second = house.say("bob", "@scout_bot two");
    await house.server.up();
    const answers = await house.answers(2);
    expect(answers.map(({ text }) => text)).toEqual(["late answer", "next"]);
    expect(answers.map((answer) => answer.reply_to_message?.message_id)).toEqual([
      first.message_id,
      second.message_id,
    ]);
  });

  test("a restart loses nothing, repeats nothing, and remembers who was answered", async () => {
    const house = await openHouse({ workers });
    house.say("ann", "@scout_bot before");
    await house.answers(1);
    await house.until(() => house.sends().length === 1, "the delivery to be known");
    await house.stop();
    const meanwhile = house.say("bob", "@scout_bot while you were away");
    const follow = house.say("ann", "and I go on");
    await house.start();
    await house.answers(3);
    expect(house.decisions(meanwhile)).toMatchObject([{ decision: "engage", rule: "mention" }]);
    expect(house.decisions(follow)).toMatchObject([{ decision: "engage", rule: "sticky" }]);
    await house.until(() => house.sends().length === 3, "all deliveries");
    expect(house.server.world.answers(house.group)).toHaveLength(3);
  });

  test("an update that comes twice is decided once and answered once", async () => {
    const house = await openHouse({ workers });
    house.server.faults.add("getUpdates", { kind: "duplicate" }, 3);
    // The poll that is already waiting brings this one; the next ones are answered twice.
    const first = house.say("bob", "plain talk");
    await house.until(() => house.decision(first) !== undefined, "the first decision");
    const asked = house.say("ann", "@scout_bot once");
    await house.answers(1);
    await house.until(() => house.decisions(asked).length >= 2, "the duplicate");
    const engaged = house.decisions(asked).filter(({ decision }) => decision === "engage");
    expect(engaged).toHaveLength(1);
    const later = house.say("ann", "@scout_bot again");
    await house.answers(2);
    const { length } = house.decisions(later).filter(({ decision }) => decision === "engage");
    expect(length).toBe(1);
    expect(house.server.world.answers(house.group)).toHaveLength(2);
  });

  test("an edit that comes twice is journalled once", async () => {
    const house = await openHouse({ workers });
    house.server.faults.add("getUpdates", { kind: "duplicate" }, 3);
    // The poll that is already waiting brings this one; the next ones are answered twice.
    const said = house.say("bob", "plain talk");
    await house.until(() => house.decision(said) !== undefined, "the decision");
    house.server.world.edit(house.group, said, "plainer talk");
    house.server.world.edit(house.group, said, "plain talk");
    const later = house.say("bob", "and more");
    await house.until(() => house.decisions(later).length >= 2, "the duplicates");
    const rows = await house.store.scan(0, 1_000);
    expect(rows.filter(({ body }) => body.includes("message.edited"))).toHaveLength(2);
  });

  test("updates that say nothing are confirmed, and the cursor behind them is stored", async () => {
    const house = await openHouse({ workers });
    const { world } = house.server;
    world.post({ poll_answer: { poll_id: "1", option_ids: [] } });
    await house.until(() => world.queue.length === 0, "the confirmation");
    expect(await house.store.cursor("telegram", "default", "4242")).toMatch(/^1001@/);
  });

  test("a private chat is answered there", async () => {
    const house = await openHouse({ workers, runs: say("just us") });
    const direct = house.server.world.direct(house.people.ann as never);
    const asked = house.say("ann", "hello", {}, direct);
    await house.until(() => house.server.world.answers(direct).length === 1, "the answer");
    expect(house.decision(asked)).toMatchObject({ decision: "engage", rule: "dm" });
    expect(house.server.world.answers(house.group)).toEqual([]);
  });

  test("the token is in no line, log or record", async () => {
    const house = await openHouse({ workers });
    house.server.faults.add("sendMessage", { kind: "refuse", status: 500 });
    house.server.faults.add("getUpdates", { kind: "html", status: 502 });
    house.say("ann", "@scout_bot hello");
    await house.answers(1);
    const events = await house.store.scan(0, 1_000);
    const config = await house.store.latestConfig();
    const sinks = JSON.stringify([house.lines, house.logs, events, config]);
    expect(events.length).toBeGreaterThan(0);
    expect(sinks).not.toContain(sampleToken);
    expect(sinks).not.toContain("canary");
  });
});

test("typing that fell into a break of the connection is shown when it is back", async () => {
  const house = await openHouse({ workers: 0, runs: [slowly("done", 2_500)] });
  await house.until(() => house.server.calls("getUpdates").length > 1, "a poll that waits");
  // That poll brings the message; the one after it is refused for a second.
  house.server.faults.add("getUpdates", { kind: "refuse", status: 429, retryAfter: 1 });
  house.say("ann", "@scout_bot take your time");
  await house.until(() => house.server.calls("sendChatAction").length > 0, "typing");
  expect(house.server.world.answers(house.group)).toEqual([]);
  await house.answers(1);
});

test("typing is renewed while the agent works, and not after the answer", async () => {
  const house = await openHouse({ workers: 0, runs: [slowly("done", 5_600)] });
  house.say("ann", "@scout_bot take your time");
  await house.answers(1);
  const typed = house.server.world.calls.filter(({ method }) => method === "sendChatAction");
  const gaps = typed.slice(1).map(({ at }, index) => at - (typed[index]?.at ?? 0));
  expect(gaps.length).toBeGreaterThanOrEqual(1);
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(4_000);
  await house.until(() => house.sends().length === 1, "the delivery");
  const { length } = house.server.calls("sendChatAction");
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  expect(house.server.calls("sendChatAction")).toHaveLength(length);
});
