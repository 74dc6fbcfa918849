/**
 * The initial snapshot of a conversation is computed once for all: it must equal the machine's own,
 * and no conversation may see data of another.
 */
import { expect, test, vi } from "vitest";
import { Actor, createActor } from "xstate";
import {
  type Conversation,
  createConversation,
} from "../../../src/actors/host/conversation-actor.ts";
import { settingsFor } from "../../../src/actors/host/conversation-settings.ts";
import { conversationMachine } from "../../../src/machines/conversation.machine.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { writeSnapshot } from "../../../src/machines/snapshot/snapshot.ts";
import { createRandomStory } from "../../support/machines/random-story.ts";
import { configOf, groupKey, message } from "../../support/runtime/supervised.ts";

const settings = (room: string, agent = {}) => settingsFor(configOf(agent), groupKey(room), 1);
const begin = (room: string) =>
  createConversation({ key: groupKey(room), settings: settings(room) });
const said = (room: string, id: string) =>
  ({ ...message(room, id, "earshot?"), seq: Number(id) }) as ConversationEvent;

test("a conversation begins as the machine begins", () => {
  begin("first").step(said("first", "1"));
  const own = createActor(conversationMachine, { input: { settings: settings("second") } }).start();
  const { value, context } = own.getSnapshot();
  const second = begin("second");
  expect(second.context).toEqual(context);
  expect(second.record()).toBe(writeSnapshot(value, context));
  expect(second.view()).toMatchObject({ attention: "observing", guard: "clear" });
});

test("each begins with its own settings", () => {
  const quiet = settings("quiet", { context: { size: 3 } });
  const conversation = createConversation({ key: groupKey("quiet"), settings: quiet });
  expect(conversation.context.settings).toBe(quiet);
  expect(begin("other").context.settings.context.size).not.toBe(3);
});

test("what happens in one leaves no trace in the next", () => {
  const before = begin("a").record();
  const one = begin("a");
  one.step(said("a", "1"));
  one.step(said("a", "2"));
  expect(one.record()).not.toBe(before);
  expect(begin("a").record()).toBe(before);
  expect(begin("a").step(said("a", "1"))).toEqual(begin("a").step(said("a", "1")));
});

test("one that is inspected on the way does what it does unseen, and its inspector sees each state", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const story = createRandomStory(seed);
    const [unseen, seen] = [1, 2].map(() =>
      createConversation({ key: groupKey("a"), settings: story.settings }),
    ) as [Conversation, Conversation];
    for (let step = 0; step < 200; step += 1) {
      const event = story.next(unseen.context);
      if (step === 50) seen.inspect();
      expect(seen.step(event), `seed ${seed}, step ${step}`).toEqual(unseen.step(event));
    }
    expect(seen.record()).toBe(unseen.record());
    const { status, value, context } = seen.inspect().now();
    expect(status).toBe("active");
    expect(writeSnapshot(value, context)).toBe(unseen.record());
    seen.stop();
    expect(seen.inspect().now().status).toBe("stopped");
  }
});

test("what is heard makes no actor, the step that engages it makes one, and its record goes on as one", () => {
  const made = vi.spyOn(Actor.prototype, "start");
  const conversation = begin("a");
  conversation.step(message("a", "1", "Zoe?", { mentions: [{ id: "zoe", isSelf: false }] }));
  expect(made).not.toHaveBeenCalled();
  conversation.step(message("a", "2", "And you?", { mentions: [{ id: "self", isSelf: true }] }));
  expect([conversation.idle, made.mock.calls.length]).toEqual([false, 1]);
  createConversation({
    key: groupKey("a"),
    settings: settings("a"),
    record: conversation.record(),
  });
  expect(made).toHaveBeenCalledTimes(2);
  made.mockRestore();
});

test("it is an actor exactly while something is under way, whatever happens", () => {
  const [started, stopped] = [
    vi.spyOn(Actor.prototype, "start"),
    vi.spyOn(Actor.prototype, "stop"),
  ];
  const resting = new Set<boolean>();
  for (let seed = 11; seed < 71; seed += 1) {
    const story = createRandomStory(seed);
    const conversation = createConversation({ key: groupKey("a"), settings: story.settings });
    started.mockClear();
    stopped.mockClear();
    for (let step = 0; step < 100; step += 1) {
      conversation.step(story.next(conversation.context));
      const actors = started.mock.calls.length - stopped.mock.calls.length;
      expect(actors, `seed ${seed}, step ${step}`).toBe(conversation.idle ? 0 : 1);
      if (started.mock.calls.length > 0) resting.add(conversation.idle);
    }
  }
  // Both come up: at work, and at rest after work.
  expect([...resting].sort()).toEqual([false, true]);
  started.mockRestore();
  stopped.mockRestore();
});

test("one whose machine fails says so at every step, inspected or not, and throws nothing else", () => {
  const broken = { type: "message.received", at: 1, seq: 1 } as ConversationEvent;
  for (const isInspected of [false, true]) {
    const conversation = begin("a");
    if (isInspected) conversation.inspect();
    const problem = /Cannot step conversation .* on message.received: its machine failed/;
    expect(() => conversation.step(broken)).toThrow(problem);
    expect(() => conversation.step(said("a", "2"))).toThrow(problem);
  }
});

test("rooms of an account share one object of settings, a room named in the config has its own", () => {
  const config = configOf({ conversations: { [groupKey("c")]: { context: { size: 3 } } } });
  const of = (room: string) => settingsFor(config, groupKey(room), 1);
  expect(of("a")).toBe(of("b"));
  expect(of("c").context.size).toBe(3);
  expect(of("a").context.size).not.toBe(3);
  expect(settingsFor(config, groupKey("a"), 2).version).toBe(2);
});
