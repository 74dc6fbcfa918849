/**
 * What an operator orders of a conversation on a real Restate: it is carried out wherever the conversation is active
 * or at rest, once, and its answer comes back (kill.test.ts: whichever node dies meanwhile).
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeEvent } from "../../../src/actors/protocol/event-codec.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { createIds } from "../../../src/adapters/system/ids.ts";
import { createOperated } from "../../../src/daemon/engine/orders.ts";
import type { KeptRow } from "../../../src/domain/ports/index.ts";
import { ingressCaller } from "../../../src/engines/restate/calls/ingress-call.ts";
import { createInbox } from "../../../src/engines/restate/inbox.ts";
import { createOrders, type Orders } from "../../../src/engines/restate/orders.ts";
import { registerNodes } from "../../../src/engines/restate/registration.ts";
import { openTalkingNode, type TalkingNode } from "../../support/restate/node.ts";
import { askObject, called } from "../../support/restate/offers.ts";
import { haveRestate, type RestateServer, startRestate } from "../../support/restate/server.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

const by = "operator";
/** Shorter than a test may last. */
const waitMs = 30_000;
const ordersAt = (ingress: string): Orders =>
  createOrders({
    clock: createSystemClock(),
    ids: createIds(),
    call: ingressCaller(ingress),
    waitMs,
  });

describe.skipIf(!haveRestate)("an operator's orders", () => {
  let restate: RestateServer;
  let node: TalkingNode;
  let operated: ReturnType<typeof createOperated>;
  const parts = new Map<string, string>();

  beforeAll(async () => {
    restate = await startRestate();
    node = await openTalkingNode(0, { waitMs: 50, afterMs: 1_500 });
    await registerNodes(restate.admin, `http://127.0.0.1:${node.port}`);
    operated = createOperated({
      orders: ordersAt(restate.ingress),
      ids: createIds(),
      store: {
        outboxRow: async (id) => ({ id, key: parts.get(id) }) as never,
        events: async () => [],
        conversation: async () => null,
      },
    });
  });
  afterAll(async () => {
    await node?.close();
    await restate?.stop();
  });

  const rowsOf = async (key: string) =>
    (await askObject(restate.ingress, "conversation", key, "rows")).body as readonly KeptRow[];
  async function journalOf(key: string) {
    const store = openKeptStore(await rowsOf(key));
    const events = (await store.scan(0, 1_000)).map(decodeEvent);
    await store.close();
    return events;
  }
  const offer = (room: string, id: string) =>
    createInbox(restate.ingress).offer(groupKey(room), called(room, id));

  test("stop a turn that runs: its conversation is active, and says nothing", async () => {
    const key = groupKey("stopped");
    await offer("stopped", "1");
    await node.begins(1);
    expect(await operated.act({ key, by, action: { does: "stop" } })).toEqual({
      refused: null,
      messages: [],
    });
    const again = await operated.act({ key, by, action: { does: "stop" } });
    expect(again).toEqual({ refused: "no-turn" });
    await node.rested(key);
    expect(node.sent(key)).toEqual([]);
    expect((await journalOf(key)).map(({ type }) => type)).toContain("run.aborted");
  });

  test("a conversation at rest: it says something, gets another setting, a new session, a label", async () => {
    const key = groupKey("resting");
    await offer("resting", "1");
    await node.says(key, 1);
    await node.rested(key);
    const said = await operated.act({ key, by, action: { does: "say", text: "A word.", id: "w" } });
    expect(said).toEqual({ refused: null, messages: [expect.any(String)] });
    await node.says(key, 2);
    expect(node.sent(key)).toEqual(["I am here.", "A word."]);
    const same = await operated.act({ key, by, action: { does: "say", text: "A word.", id: "w" } });
    expect(same).toEqual(said);
    const other = await operated.act({ key, by, action: { does: "say", text: "Other.", id: "w" } });
    expect(other).toEqual({ refused: "conflict" });

    const changed = await operated.updateSession(key, { model: "large" }, by);
    expect(changed).toMatchObject({ key, settings: { model: "large" } });
    const next = await operated.resetSession(key);
    expect(next?.sessionId).not.toBe(changed.sessionId);
    expect(next).toMatchObject({ key, settings: { model: "large" } });
    const label = await operated.label({ key, id: "1", expected: "observe", by });
    expect(label).toMatchObject({ expected: "observe", by });
    expect(await operated.compactSession(key)).toBe("empty");
    const [part = ""] = (said as { messages: readonly string[] }).messages;
    parts.set(part, key);
    expect(await operated.resend(part)).toBe(false);
    expect(await operated.dropEvent(1, key)).toBe(false);
    await node.rested(key);
    expect(node.sent(key)).toHaveLength(2);
  });

  test("an unknown conversation: nothing is done, and none is made", async () => {
    const key = groupKey("nobody");
    expect(await operated.act({ key, by, action: { does: "stop" } })).toEqual({
      refused: "unknown",
    });
    expect(await operated.abortTurn(key, by)).toBe(false);
    expect(await operated.label({ key, id: "1", expected: null, by })).toBe("unknown");
    expect(await operated.resetSession(key)).toBe(null);
    expect(await rowsOf(key)).toEqual([]);
    expect(node.activations(key)).toBe(0);
    // A setting may come before the first message.
    expect(await operated.updateSession(key, { model: "large" })).toMatchObject({ key });
  });

  test("an order that is refused fails as it does on one machine; a wrong one is not taken", async () => {
    const key = "agent:nobody:webhook:group:resting";
    await expect(operated.updateSession(key, { model: "large" })).rejects.toMatchObject({
      code: "EAR_USAGE",
      message: expect.stringContaining('there is no agent "nobody"'),
    });
    const wrong = { id: "", action: { does: "act" }, known: true };
    const { status } = await askObject(restate.ingress, "inbox", groupKey("x"), "order", wrong);
    expect(status).toBe(400);
  });

  test("the same order twice is carried out once, and gets the same answer", async () => {
    const key = groupKey("resting");
    const orders = ordersAt(restate.ingress);
    const action = { does: "act", by, action: { does: "new" } } as const;
    const before = (await journalOf(key)).filter(({ type }) => type === "session.reset").length;
    const answers = await Promise.all([
      orders.give(key, action, true, "twice"),
      orders.give(key, action, true, "twice"),
    ]);
    answers.push(await orders.give(key, action, true, "twice"));
    expect(new Set(answers.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ answer: { refused: null, messages: [] } })]),
    );
    const after = (await journalOf(key)).filter(({ type }) => type === "session.reset").length;
    expect(after).toBe(before + 1);
  });
});
