/**
 * Conversations in a real Restate: every event counts once and in order, what is stored is the conversation, and a
 * conversation that rests is active again when something is due.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeEvent } from "../../../src/actors/protocol/event-codec.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { ingressCaller } from "../../../src/engines/restate/calls/ingress-call.ts";
import { createInbox, type Inbox } from "../../../src/engines/restate/inbox.ts";
import { registerNodes } from "../../../src/engines/restate/registration.ts";
import { createVerdicts } from "../../../src/engines/restate/verdicts.ts";
import { openTalkingNode, type TalkingNode } from "../../support/restate/node.ts";
import { askObject, called } from "../../support/restate/offers.ts";
import { haveRestate, type RestateServer, startRestate } from "../../support/restate/server.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

describe.skipIf(!haveRestate)("a conversation in Restate", () => {
  let restate: RestateServer;
  let inbox: Inbox;
  let node: TalkingNode;

  beforeAll(async () => {
    restate = await startRestate();
    node = await openTalkingNode();
    await registerNodes(restate.admin, `http://127.0.0.1:${node.port}`);
    inbox = createInbox(restate.ingress);
  });
  afterAll(async () => {
    await node?.close();
    await restate?.stop();
  });

  const storeOf = async (key: string) =>
    openKeptStore((await askObject(restate.ingress, "conversation", key, "rows")).body as never);

  test("messages that come at once are kept in their order, each once", async () => {
    const key = groupKey("batch");
    const offers = Array.from({ length: 200 }, (_, index) => called("batch", String(index + 1)));
    const isNew = await Promise.all(offers.map((event) => inbox.offer(key, event)));
    expect(isNew.every((one) => one)).toBe(true);
    const again = await Promise.all(offers.map((event) => inbox.offer(key, event)));
    expect(again.some((one) => one)).toBe(false);
    await node.rested(key);
    const store = await storeOf(key);
    const ids = (await store.scan(0, 1_000)).flatMap((row) => {
      const event = decodeEvent(row);
      return event.type === "message.received" ? [event.message.id] : [];
    });
    expect(ids).toEqual(offers.map((_, index) => String(index + 1)));
    expect(await store.dirtySize()).toBe(0);
    await store.close();
  });

  test("a conversation rests before its deadline, and answers when that is due", async () => {
    const key = groupKey("later");
    await inbox.offer(key, called("later", "1"));
    await node.rested(key);
    await node.says(key, 1);
    // Had it not rested before, the first would have answered.
    expect(node.activations(key)).toBe(2);
  });

  test("any node knows the decision on a message, once it is stored", async () => {
    const key = groupKey("decided");
    const verdicts = createVerdicts(createSystemClock(), ingressCaller(restate.ingress));
    await inbox.offer(key, called("decided", "1"));
    expect(await verdicts.of(key, "1")).toMatchObject({ decision: "engage", rule: "mention" });
  });

  test("calls of a wrong form are refused for good", async () => {
    const key = groupKey("wrong");
    for (const [to, input, why] of [
      [key, {}, "events"],
      [key, { events: [] }, "events"],
      [key, { events: [{ identity: "", sentAt: 0, event: { type: "x", at: 0 } }] }, "identity"],
      ["no session key", { events: [called("wrong", "1")] }, "session key"],
    ] as const) {
      const { status, body } = await askObject(restate.ingress, "inbox", to, "put", input);
      expect(status).toBe(400);
      expect(JSON.stringify(body)).toContain(why);
    }
  });
});
