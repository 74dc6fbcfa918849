/**
 * Three nodes in processes of their own on a real Restate want one connection. Its holder is ended in order,
 * killed, and stopped for longer than its lease: one node after the other has it, and what they send never
 * overlaps.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerNodes } from "../../../../src/engines/restate/registration.ts";
import { builtFile } from "../../../support/built/files.ts";
import { freePort } from "../../../support/free-port.ts";
import { type Balancer, openBalancer } from "../../../support/restate/balancer.ts";
import { type LeaseNode, sendsOf, startLeaseNode } from "../../../support/restate/lease-nodes.ts";
import { haveRestate, type RestateServer, startRestate } from "../../../support/restate/server.ts";

/** A fifth of the real ones. */
const times = { beatMs: 400, validMs: 1_400, lapseMs: 2_000 };
const program = [builtFile("test/lease-program")];

describe.skipIf(!haveRestate)("the lease of a connection", () => {
  let restate: RestateServer;
  let balancer: Balancer;
  const nodes: LeaseNode[] = [];
  let holder: LeaseNode;

  beforeAll(async () => {
    restate = await startRestate();
    const ports = [await freePort(), await freePort(), await freePort()];
    balancer = await openBalancer(ports);
    nodes.push(
      ...(await Promise.all(
        ports.map((port, place) =>
          startLeaseNode(program, port, restate.ingress, `node-${place}`, times),
        ),
      )),
    );
    await registerNodes(restate.admin, `http://127.0.0.1:${balancer.port}`);
  });
  afterAll(async () => {
    for (const node of nodes) node.signal("SIGKILL");
    await Promise.all(nodes.map(({ ended }) => ended));
    await restate?.stop();
    await balancer?.close();
  });

  /** The first of them to hold it after so many lines of each, and its epoch. */
  const nextHolder = (among: readonly LeaseNode[]) => {
    const from = new Map(among.map((node) => [node, node.lines.length]));
    return Promise.race(
      among.map(async (node) => {
        const { epoch = 0 } = await node.line(({ what }) => what === "held", from.get(node));
        return { node, epoch };
      }),
    );
  };
  const without = (...gone: readonly LeaseNode[]) => nodes.filter((node) => !gone.includes(node));

  test("is held by one of them; the others know by which", async () => {
    const held = nodes.map(async (node) => {
      await node.line(({ what }) => what === "held");
      return node;
    });
    holder = await Promise.race(held);
    for (const node of without(holder)) await node.line(({ holder: of }) => of === holder.name);
  });

  test("goes to another when its holder stands still, which sends nothing when it goes on", async () => {
    const stood = holder;
    const next = nextHolder(without(stood));
    stood.signal("SIGSTOP");
    const { node, epoch } = await next;
    expect(epoch).toBe(2);
    const said = stood.lines.length;
    stood.signal("SIGCONT");
    await stood.line(({ what }) => what === "lost", said);
    await stood.line(({ holder: of }) => of === node.name, said);
    // What it had printed before it stood still may have been read only now.
    const since = node.lines.find(({ what }) => what === "held")?.at as number;
    expect(stood.lines.filter(({ what, at }) => what === "sent" && at > since)).toEqual([]);
    holder = node;
  });

  test("goes to another at once when its holder ends in order: its last send is before", async () => {
    const leaving = holder;
    const next = nextHolder(without(leaving));
    leaving.signal("SIGTERM");
    const { node, epoch } = await next;
    expect(epoch).toBe(3);
    await leaving.ended;
    expect(leaving.lines.at(-1)?.what).toBe("closed");
    holder = node;
  });

  test("goes to the last one when its holder is killed", async () => {
    const killed = holder;
    // It has it since a moment ago.
    await killed.line(({ what, epoch: of }) => what === "sent" && of === 3);
    const left = nodes.filter((node) => node !== killed && node.lines.at(-1)?.what !== "closed");
    const next = nextHolder(left);
    killed.signal("SIGKILL");
    const { node, epoch } = await next;
    expect(epoch).toBe(4);
    await node.line(({ what }) => what === "sent", node.lines.length - 1);
    const epochs = sendsOf(nodes).map((sent) => sent.epoch);
    expect([...new Set(epochs)]).toEqual([1, 2, 3, 4]);
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
  });
});
