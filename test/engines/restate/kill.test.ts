/**
 * Nodes and the server end with SIGKILL: another process goes on where they were, every event counts once, and
 * the record is the one of a node that never ended.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createInbox, type Inbox } from "../../../src/engines/restate/inbox.ts";
import { registerNodes } from "../../../src/engines/restate/node.ts";
import type { OfferedEvent, Stepped } from "../../../src/engines/restate/wire.ts";
import { inPool, numberedFrom, parsedRecord } from "../../support/machines/pool-steps.ts";
import { settingsOfNode } from "../../support/restate/node.ts";
import { called } from "../../support/restate/offers.ts";
import { freePort, type NodeProcess, startNode, stateOf } from "../../support/restate/rig.ts";
import { haveRestate, type RestateServer, startRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

const tomorrow = Date.now() + 86_400_000;

/** The record that the pool gives for these, in this order. */
const poolRecord = (key: string, events: readonly OfferedEvent[]) =>
  inPool(key, numberedFrom(events.map(({ event }) => event)), settingsOfNode(key)).record;

describe.skipIf(!haveRestate)("kill -9", () => {
  let restate: RestateServer;
  let inbox: Inbox;
  let port: number;
  let node: NodeProcess;

  beforeAll(async () => {
    restate = await startRestate();
    port = await freePort();
    inbox = createInbox(restate.ingress);
  });
  afterAll(async () => {
    await node?.kill();
    await restate?.stop();
  });

  test("in the middle of a step: another process performs it, and goes on", async () => {
    const key = groupKey("middle");
    node = await startNode(port, 2);
    await registerNodes(restate.admin, `http://127.0.0.1:${port}`);
    const events = ["1", "2", "3"].map((id) => called("middle", id, tomorrow));
    const [one, two, three] = events as [OfferedEvent, OfferedEvent, OfferedEvent];
    expect((await inbox.offer(key, one)).seq).toBe(1);
    const second = inbox.offer(key, two);
    await node.performing(2);
    const third = inbox.offer(key, three);
    const before = node;
    await node.kill();
    node = await startNode(port);
    expect([(await second).seq, (await third).seq]).toEqual([2, 3]);
    expect(before.performed.flatMap(({ seqs }) => seqs)).toEqual([1, 2]);
    expect(node.performed.flatMap(({ seqs }) => seqs)).toEqual([2, 3]);
    const { seq, record } = await stateOf(restate.ingress, key);
    expect(seq).toBe(3);
    expect(parsedRecord(record)).toEqual(poolRecord(key, events));
  });

  test("under load: every event once, in order", async () => {
    const rooms = Array.from({ length: 8 }, (_, index) => `load-${index}`);
    const events = new Map<string, OfferedEvent[]>(rooms.map((room) => [room, []]));
    const results: Promise<Stepped[number]>[] = [];
    let id = 0;
    for (let round = 0; round < rounds(1, 50); round += 1) {
      for (const room of rooms)
        for (let count = 0; count < 10; count += 1) {
          id += 1;
          const event = called(room, String(id), tomorrow + id);
          events.get(room)?.push(event);
          results.push(inbox.offer(groupKey(room), event));
        }
      // Its next call is under way or done by then, which differs with each round.
      await Promise.race(results.slice(-id % 40));
      await node.kill();
      node = await startNode(port);
    }
    expect((await Promise.all(results)).every(({ seq }) => seq > 0)).toBe(true);
    for (const [room, said] of events) {
      const { seq, record } = await stateOf(restate.ingress, groupKey(room));
      expect(seq).toBe(said.length);
      expect(parsedRecord(record)).toEqual(poolRecord(groupKey(room), said));
    }
  });

  test("of the server: what it has answered is there when it is back", async () => {
    const key = groupKey("server");
    const events = ["1", "2"].map((id) => called("server", id, tomorrow));
    const [one, two] = events as [OfferedEvent, OfferedEvent];
    expect((await inbox.offer(key, one)).seq).toBe(1);
    process.kill(restate.pid, "SIGKILL");
    await restate.ended;
    await expect(inbox.offer(key, two)).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
    restate = await startRestate(restate.data);
    inbox = createInbox(restate.ingress);
    expect((await inbox.offer(key, one)).seq).toBe(0);
    expect((await inbox.offer(key, two)).seq).toBe(2);
    const { record } = await stateOf(restate.ingress, key);
    expect(parsedRecord(record)).toEqual(poolRecord(key, events));
  });
});
