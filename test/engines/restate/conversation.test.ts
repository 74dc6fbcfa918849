/**
 * Conversations in a real Restate: one invocation carries a batch, every event counts once, order is kept
 * for each conversation, deadlines come back, and the record is the one that the pool writes.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostStep } from "../../../src/actors/protocol/host-protocol.ts";
import { hash52 } from "../../../src/domain/key.ts";
import type { ConversationSettings } from "../../../src/domain/settings.ts";
import { createInbox, type Inbox } from "../../../src/engines/restate/inbox.ts";
import { registerNodes } from "../../../src/engines/restate/node.ts";
import { inPool, numberedFrom, parsedRecord } from "../../support/machines/pool-steps.ts";
import { storyOf } from "../../support/machines/random-story.ts";
import { keptRows, openTestNode } from "../../support/restate/node.ts";
import { called, offered } from "../../support/restate/offers.ts";
import { ask, stateOf } from "../../support/restate/rig.ts";
import { haveRestate, type RestateServer, startRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";
import { settingsWith } from "../../support/runtime/conversation-rig.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

/** So that no deadline of a test's messages is due while it runs. */
const tomorrow = Date.now() + 86_400_000;

describe.skipIf(!haveRestate)("a conversation in Restate", () => {
  let restate: RestateServer;
  let inbox: Inbox;
  let node: Awaited<ReturnType<typeof openTestNode>>;
  /** Settings of single conversations, by key. */
  const own = new Map<string, ConversationSettings>();
  const common = settingsWith();
  const settingsOf = (key: string) => own.get(key) ?? common;
  /** Performances that wait for this, by key. */
  const waits = new Map<string, Promise<void>>();
  /** Called after each performance. */
  let performed: () => void = () => undefined;

  beforeAll(async () => {
    restate = await startRestate();
    node = await openTestNode(
      {
        perform: async ({ key }) => {
          performed();
          await waits.get(key);
        },
      },
      settingsOf,
    );
    await registerNodes(restate.admin, `http://127.0.0.1:${node.port}`);
    inbox = createInbox(restate.ingress);
  });
  afterAll(async () => {
    await node?.close();
    await restate?.stop();
  });

  const performedOf = (key: string) => node.performed.filter((one) => one.key === key);
  async function until(holds: () => boolean): Promise<void> {
    while (!holds())
      await new Promise<void>((resolve) => {
        performed = resolve;
      });
  }

  test("what comes while a step is under way goes together with the next", async () => {
    const key = groupKey("batch");
    const before = node.steps();
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        inbox.offer(key, called("batch", String(index + 1), tomorrow)),
      ),
    );
    expect(results.map(({ seq }) => seq)).toEqual(results.map((_, index) => index + 1));
    expect(results.every(({ code }) => code > 0)).toBe(true);
    expect(node.steps() - before).toBe(2);
    expect((await stateOf(restate.ingress, key)).seq).toBe(200);
  });

  test("an event that comes again is recognised: in its batch, later, and at another node", async () => {
    const key = groupKey("again");
    const event = called("again", "1", tomorrow);
    const other = called("again", "2", tomorrow);
    const first = await Promise.all([
      inbox.offer(key, other),
      inbox.offer(key, event),
      inbox.offer(key, event),
    ]);
    expect(first.map(({ seq }) => seq)).toEqual([1, 2, 0]);
    const kept = await stateOf(restate.ingress, key);
    const steps = node.steps();
    expect((await createInbox(restate.ingress).offer(key, event)).seq).toBe(0);
    expect(node.steps()).toBe(steps);
    expect(await stateOf(restate.ingress, key)).toEqual(kept);
  });

  test("one conversation is in order, and does not hold up another", async () => {
    const [held, free] = [groupKey("held"), groupKey("free")];
    let open: () => void = () => undefined;
    waits.set(
      held,
      new Promise<void>((resolve) => {
        open = resolve;
      }),
    );
    const order: string[] = [];
    const one = inbox.offer(held, called("held", "1", tomorrow)).then(() => order.push("held 1"));
    // From another node, so that it is a call of its own.
    await until(() => performedOf(held).length > 0);
    const two = createInbox(restate.ingress)
      .offer(held, called("held", "2", tomorrow))
      .then(() => order.push("held 2"));
    await inbox.offer(free, called("free", "1", tomorrow)).then(() => order.push("free 1"));
    expect(performedOf(held)).toHaveLength(1);
    waits.delete(held);
    open();
    await Promise.all([one, two]);
    expect(order).toEqual(["free 1", "held 1", "held 2"]);
    expect(performedOf(held).flatMap(({ steps }) => steps.map(({ seq }) => seq))).toEqual([1, 2]);
  });

  test("a deadline comes back as an event, not before its time; one that was replaced does not count", async () => {
    const key = groupKey("deadline");
    const soon = Date.now() + 2_000;
    await inbox.offer(key, called("deadline", "1", soon));
    const { flush: first = 0 } = (await stateOf(restate.ingress, key)).deadlines;
    await inbox.offer(key, called("deadline", "2", soon + 100));
    const { flush: second = 0 } = (await stateOf(restate.ingress, key)).deadlines;
    expect(second).toBeGreaterThan(first);
    const stale = await ask(restate.ingress, key, "due", { id: "flush", at: first });
    expect(stale.body).toEqual([]);
    const wantsTurn = () =>
      performedOf(key)
        .flatMap(({ steps }) => steps)
        .filter(({ effects }) => effects.some(({ type }) => type === "lane.request"));
    await until(() => wantsTurn().length > 0);
    const [step] = wantsTurn();
    expect(step?.seq).toBe(3);
    expect(step?.at).toBeGreaterThanOrEqual(second);
    // The call of the first deadline is past by now, as it was due before; this one waits for the step's end.
    expect((await ask(restate.ingress, key, "due", { id: "flush", at: second })).body).toEqual([]);
    const { seq, runs, deadlines } = await stateOf(restate.ingress, key);
    expect({ seq, runs }).toEqual({ seq: 3, runs: true });
    expect(deadlines).not.toHaveProperty("flush");
  });

  test("a call of a wrong form is refused and not made again", async () => {
    const key = groupKey("wrong");
    const { status, body } = await ask(restate.ingress, key, "step", { events: [{ event: 1 }] });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("Cannot step the conversation");
    expect((await stateOf(restate.ingress, key)).seq).toBe(0);
  });

  test("a key that is none is refused and not stepped again and again", async () => {
    for (const handler of ["step", "due"]) {
      const input = { events: [called("any", "1", tomorrow)], id: "flush", at: 1 };
      const { status, body } = await ask(
        restate.ingress,
        "agent:main:telegram:group:16:-1005",
        handler,
        input,
      );
      expect(status).toBe(400);
      expect(JSON.stringify(body)).toContain("Cannot read a session key");
    }
  });

  test("an offer without an answer in time fails; the event is recognised when it comes again", async () => {
    const key = groupKey("slow");
    let open: () => void = () => undefined;
    waits.set(
      key,
      new Promise<void>((resolve) => {
        open = resolve;
      }),
    );
    const event = called("slow", "1", tomorrow);
    const impatient = createInbox(restate.ingress, 200);
    await expect(impatient.offer(key, event)).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
    waits.delete(key);
    open();
    expect((await inbox.offer(key, event)).seq).toBe(0);
    expect((await stateOf(restate.ingress, key)).seq).toBe(1);
  });

  test("a row of the outbox is kept until it is sent", async () => {
    const key = groupKey("outbox");
    await inbox.offer(key, called("outbox", "1", tomorrow));
    const rows = Object.values((await stateOf(restate.ingress, key)).outbox);
    expect(rows.map(({ kind, state }) => ({ kind, state }))).toEqual([
      { kind: "react", state: "pending" },
    ]);
    const [{ id } = { id: "" }] = rows;
    const settled = (state: string) =>
      ask(restate.ingress, key, "settle", { id, state, messageIds: null, error: null });
    expect((await settled("in-doubt")).body).toBe(true);
    expect((await stateOf(restate.ingress, key)).outbox[id]?.state).toBe("in-doubt");
    expect((await settled("sent")).body).toBe(true);
    expect((await stateOf(restate.ingress, key)).outbox).toEqual({});
    expect((await settled("sent")).body).toBe(false);
  });

  test("record, verdicts, effects and rows are those of the pool, over random stories", async () => {
    // Stories happen in the first minutes of 1970: no deadline of theirs may come while they are played.
    const early = await openTestNode({ now: () => -86_400_000 }, settingsOf);
    await registerNodes(restate.admin, `http://127.0.0.1:${early.port}`);
    for (let seed = 1; seed <= rounds(4, 100); seed += 1) {
      const key = groupKey(`story-${seed}`);
      const { events, settings } = storyOf(seed, 150);
      own.set(key, settings);
      const results = await Promise.all(
        events.map((event, index) => inbox.offer(key, offered(event, String(index)))),
      );
      const pool = inPool(key, numberedFrom(events), settings);
      const { record, deadlines, outbox, runs } = await stateOf(restate.ingress, key);
      expect(results.map(({ code }) => code)).toEqual(pool.codes);
      expect(parsedRecord(record)).toEqual(pool.record);
      const performed = early.performed.filter((one) => one.key === key);
      expect(performed.flatMap(({ steps }) => steps)).toEqual(pool.steps);
      expect({ deadlines, outbox, runs }).toEqual(rowsAfter(key, pool.steps));
    }
    await early.close();
  });

  /** What is left of the rows of these steps. */
  function rowsAfter(key: string, steps: readonly HostStep[]) {
    const deadlines: Record<string, number> = {};
    const outbox: Record<string, unknown> = {};
    let runs = false;
    for (const write of keptRows(steps, settingsOf))
      if (write.kind === "outbox") outbox[write.row.id] = write.row;
      else if (write.kind === "run") runs = write.row !== null;
      else if (write.conv === hash52(key)) {
        if (write.at === null) delete deadlines[write.id];
        else deadlines[write.id] = write.at;
      }
    return { deadlines, outbox, runs };
  }
});
