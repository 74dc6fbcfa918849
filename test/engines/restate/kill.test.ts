/**
 * Nodes and the server end with SIGKILL: another process goes on where they were, every event counts once, and
 * the record is the one of a node that never ended.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createInbox, type Inbox } from "../../../src/engines/restate/inbox.ts";
import { registerNodes } from "../../../src/engines/restate/node.ts";
import type { OfferedEvent, Stepped } from "../../../src/engines/restate/wire.ts";
import { freePort } from "../../support/free-port.ts";
import { inPool, numberedFrom, parsedRecord } from "../../support/machines/pool-steps.ts";
import { type Balancer, openBalancer } from "../../support/restate/balancer.ts";
import { settingsOfNode } from "../../support/restate/node.ts";
import { called } from "../../support/restate/offers.ts";
import { type NodeProcess, startNode, stateOf } from "../../support/restate/rig.ts";
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
  let balancer: Balancer | undefined;
  /** Ended at the end. */
  const started: NodeProcess[] = [];

  async function start(...args: Parameters<typeof startNode>): Promise<NodeProcess> {
    const one = await startNode(...args);
    started.push(one);
    return one;
  }

  beforeAll(async () => {
    restate = await startRestate();
    port = await freePort();
    inbox = createInbox(restate.ingress);
  });
  afterAll(async () => {
    for (const one of started) await one.kill();
    await restate?.stop();
    await balancer?.close();
  });

  test("in the middle of a step: another process performs it, and goes on", async () => {
    const key = groupKey("middle");
    node = await start(port, 2);
    await registerNodes(restate.admin, `http://127.0.0.1:${port}`);
    const events = ["1", "2", "3"].map((id) => called("middle", id, tomorrow));
    const [one, two, three] = events as [OfferedEvent, OfferedEvent, OfferedEvent];
    expect((await inbox.offer(key, one)).seq).toBe(1);
    const second = inbox.offer(key, two);
    await node.performing(2);
    const third = inbox.offer(key, three);
    const before = node;
    await node.kill();
    node = await start(port);
    expect([(await second).seq, (await third).seq]).toEqual([2, 3]);
    expect(before.performed.flatMap(({ seqs }) => seqs)).toEqual([1, 2]);
    expect(node.performed.flatMap(({ seqs }) => seqs)).toEqual([2, 3]);
    const { seq, record } = await stateOf(restate.ingress, key);
    expect(seq).toBe(3);
    expect(parsedRecord(record)).toEqual(poolRecord(key, events));
  });

  test("of one of two nodes under load: the other goes on, every event once and in order", async () => {
    const ports = [port, await freePort()];
    const nodes = [node, await start(ports[1] as number)];
    node = nodes[1] as NodeProcess;
    balancer = await openBalancer(ports);
    await registerNodes(restate.admin, `http://127.0.0.1:${balancer.port}`);
    // As two nodes that receive: each has an inbox of its own.
    const inboxes = [inbox, createInbox(restate.ingress)];
    const rooms = Array.from({ length: 8 }, (_, index) => `load-${index}`);
    const said = new Map<string, OfferedEvent[]>(rooms.map((room) => [room, []]));
    let id = 0;
    for (let round = 0; round < rounds(2, 20); round += 1) {
      const results: Promise<Stepped[number]>[] = [];
      for (const [place, room] of rooms.entries())
        for (let count = 0; count < 10; count += 1) {
          id += 1;
          const event = called(room, String(id), tomorrow + id);
          said.get(room)?.push(event);
          results.push((inboxes[(place + round) % 2] as Inbox).offer(groupKey(room), event));
        }
      // What is under way when it dies differs with each round.
      await Promise.race(results.slice(-(id % 37) - 1));
      const dying = round % 2;
      await nodes[dying]?.kill();
      expect((await Promise.all(results)).every(({ seq }) => seq > 0)).toBe(true);
      if (round + 1 === rounds(2, 20)) break;
      nodes[dying] = await start(ports[dying] as number);
      node = nodes[dying] as NodeProcess;
    }
    for (const [room, events] of said) {
      const { seq, record } = await stateOf(restate.ingress, groupKey(room));
      expect(seq).toBe(events.length);
      expect(parsedRecord(record)).toEqual(poolRecord(groupKey(room), events));
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
