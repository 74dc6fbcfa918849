/** A caller that waits for decisions gets those on its own messages. */
import { expect, test } from "vitest";
import { createWaiters } from "../../../src/actors/effects/decision-waiters.ts";
import { conversationOf, newEvent } from "../../../src/actors/protocol/event-codec.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import type { Verdict } from "../../../src/domain/decision.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { MessageReceived } from "../../../src/machines/events/events.ts";

const conversation = conversationOf("agent:main:main");
const engage: Verdict = { decision: "engage", rule: "dm", credit: "none" };
const observe: Verdict = { decision: "observe", rule: "default", credit: "none" };

function rig() {
  const events = createRuntimeEvents(() => undefined);
  const waiters = createWaiters(events);
  const expectAll = (...messages: readonly MessageReceived[]) =>
    waiters.expect(
      messages.map((event) =>
        newEvent(conversation, 1, event, { identity: "x", messageId: event.message.id }),
      ),
    );
  const decide = (event: MessageReceived, verdict: Verdict) =>
    events.emit.decided?.(conversation.conv, conversation.key, event, verdict);
  return { expectAll, decide };
}

const said = (chat: string, id = "17"): MessageReceived => ({
  type: "message.received",
  at: 1,
  seq: 1,
  message: inboundSchema.parse({
    channel: "telegram",
    chat: { id: chat, kind: "direct" },
    id,
    author: { id: chat },
  }),
  authority: { commandAuthorized: true, owner: false },
});

test("two messages with one id in two chats of a session get each its own decision", async () => {
  const { expectAll, decide } = rig();
  const [ann, bo] = [expectAll(said("ann")), expectAll(said("bo"))];
  const both = expectAll(said("bo"), said("ann"));
  decide(said("ann"), engage);
  decide(said("bo"), observe);
  expect(await ann.decisions).toEqual([engage]);
  expect(await bo.decisions).toEqual([observe]);
  expect(await both.decisions).toEqual([observe, engage]);
});

test("a copy is not waited for, and the message with its id in another chat still is", async () => {
  const { expectAll, decide } = rig();
  const call = expectAll(said("ann"), said("bo"), said("ann"));
  call.skip(2);
  decide(said("bo"), observe);
  decide(said("ann"), engage);
  expect(await call.decisions).toEqual([engage, observe, null]);
});

test("a caller that gave up gets none, and others with the same id wait on", async () => {
  const { expectAll, decide } = rig();
  const [gone, stays] = [expectAll(said("ann"), said("bo")), expectAll(said("bo"))];
  gone.giveUp();
  expect(await gone.decisions).toEqual([null, null]);
  decide(said("bo"), engage);
  expect(await stays.decisions).toEqual([engage]);
});
