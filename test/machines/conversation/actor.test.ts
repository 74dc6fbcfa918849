/** The actor around the chart: it steps, it reports, it fails without ending its thread. */
import { describe, expect, test } from "vitest";
import { createActor } from "xstate";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { stepEvent } from "../../../src/machines/conversation/message-analysis.ts";
import { conversationMachine } from "../../../src/machines/conversation.machine.ts";
import { explainEngagement } from "../../../src/machines/engagement/engagement.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { Rig, settingsWith } from "../../support/runtime/conversation-rig.ts";

describe("a conversation, live", () => {
  test("a step that fails names conversation and event, and is no crash", () => {
    const rig = new Rig();
    const poison = { ...rig.message("ann", "x"), message: null } as unknown as ConversationEvent;
    const step = () => rig.conversation.step(poison);
    expect(step).toThrow(EarshotError);
    // The second time nothing is sent any more: the library would print the event.
    expect(step).toThrow(/Cannot step conversation "rig" on message.received: its machine failed/);
  });

  test("after a failure it stays unusable, and its last record still brings it back", () => {
    const rig = new Rig();
    rig.say("bob", "morning", { id: "kept" });
    const record = rig.conversation.record();
    const poison = { ...rig.message("ann", "x"), message: null } as unknown as ConversationEvent;
    expect(() => rig.conversation.step(poison)).toThrow();
    expect(() => rig.say("ann", "hello")).toThrow(/its machine failed/);
    rig.conversation = createConversation({ key: "rig", settings: rig.settings, record });
    rig.say("ann", "earshot", { to: "us" });
    rig.wait(500);
    expect(rig.runs[0]?.context.map(({ id }) => id)).toEqual(["kept"]);
  });

  test("XState's own actor takes the same steps, with the same effects", () => {
    const rig = new Rig();
    const actor = createActor(conversationMachine, { input: { settings: rig.settings } });
    let emitted: unknown[] = [];
    let count = 0;
    actor.on("*", (effect) => emitted.push(effect));
    actor.start();
    const membership = { humans: 3, bots: 0, truncated: true, fetchedAt: 0 };
    actor.send({ type: "membership.read", at: 0, membership });
    const step = rig.step.bind(rig);
    rig.step = (event) => {
      emitted = [];
      actor.send(stepEvent(actor.getSnapshot(), event));
      const alike = emitted;
      const effects = step(event);
      expect(alike).toEqual(effects);
      count += effects.length;
      return effects;
    };
    rig.say("bob", "morning");
    rig.say("ann", "earshot", { to: "us" });
    rig.wait(500);
    rig.reply();
    expect(count).toBeGreaterThan(5);
    expect(actor.getSnapshot().context).toEqual(rig.conversation.context);
    actor.stop();
  });

  test("other settings apply to the very event they come with", () => {
    const rig = new Rig();
    expect(rig.say("ann", "scout?")).toBe("default");
    rig.settings = settingsWith({ version: 2, engagement: { aliases: ["scout"] } });
    expect(rig.say("ann", "scout?")).toBe("alias");
  });

  test("an open window keeps the moment it was promised, whatever the config says later", () => {
    const rig = new Rig();
    rig.say("ann", "earshot", { to: "us" });
    rig.settings = settingsWith({ version: 2, debounce: { idleMs: 60_000, maxMs: 60_000 } });
    rig.wait(500);
    expect(rig.attention).toBe("engaged.running");
  });

  test("asking what the ladder would see answers as the step does, and changes nothing", () => {
    const rig = new Rig();
    rig.say("ann", "earshot", { to: "us" });
    rig.wait(500);
    rig.reply();
    const event = rig.message("ann", "and?");
    const before = rig.conversation.record();
    const { verdict } = explainEngagement(rig.conversation.engagementInputFor(event));
    expect(rig.conversation.record()).toBe(before);
    expect(rig.step(event)[0]).toMatchObject(verdict);
  });

  test("the same event object in two conversations is read for each of them", () => {
    const group = new Rig();
    const muted = new Rig({ settings: { engagement: { trigger: [] } } });
    const event = group.message("ann", "hello", { to: "us" });
    expect(group.step(event)[0]).toMatchObject({ rule: "mention" });
    expect(muted.step(event)[0]).toMatchObject({ rule: "default" });
  });

  test("idle and busy follow the turn", () => {
    const rig = new Rig();
    const seen = () => [rig.conversation.idle, rig.conversation.busy];
    expect(seen()).toEqual([true, false]);
    rig.say("ann", "earshot", { to: "us" });
    expect(seen()).toEqual([false, false]);
    rig.wait(500);
    expect(seen()).toEqual([false, true]);
    rig.reply();
    expect(seen()).toEqual([true, false]);
  });

  test("the view counts what waits and names who is held", () => {
    const rig = new Rig({ holdSlots: true });
    rig.say("bob", "by the way");
    rig.say("ann", "earshot", { to: "us" });
    rig.wait(500);
    rig.say("ann", "please");
    expect(rig.conversation.view()).toEqual({
      attention: "engaged.waiting",
      lock: "granting",
      guard: "clear",
      credits: {},
      held: ["ann"],
      remembered: 1,
      forming: 1,
      queued: 1,
      turns: 0,
      turnId: null,
    });
  });

  test("who looks into it sees every event and the state after it, until he looks away", () => {
    const seen: string[] = [];
    const rig = new Rig();
    const watched = createConversation({ key: "watched", settings: rig.settings });
    watched.step(rig.message("ann", "before"));
    const look = watched.inspect();
    look.follow({
      event: ({ type }) => seen.push(`event ${type}`),
      state: ({ effects }, { type }) => seen.push(`state ${type} ${effects.length > 0}`),
    });
    watched.step(rig.message("ann", "hello"));
    look.end();
    watched.step(rig.message("ann", "after"));
    watched.stop();
    expect(seen).toEqual(["event message.received", "state message.received true"]);
  });
});
