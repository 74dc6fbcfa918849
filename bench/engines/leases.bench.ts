/**
 * How long a connection that may exist once only has no node, with three nodes in processes of their own on a real
 * Restate and the times that a daemon has: from the last send of the old holder to the first of the new one, after
 * SIGTERM and after SIGKILL. And what a node's leases cost while nothing happens.
 */
import { rmSync } from "node:fs";
import { setTimeout as passed } from "node:timers/promises";
import { engineLimits } from "../../src/domain/ports/engine/engine-limits.ts";
import { registerNodes } from "../../src/engines/restate/registration.ts";
import { freePort } from "../../test/support/free-port.ts";
import { openBalancer } from "../../test/support/restate/balancer.ts";
import { type LeaseNode, sendsOf, startLeaseNode } from "../../test/support/restate/lease-nodes.ts";
import { haveRestate, startRestate } from "../../test/support/restate/server.ts";
import { busyMs } from "../child-process.ts";
import { report, round } from "../support.ts";

const times = {
  beatMs: engineLimits.leaseBeatMs,
  validMs: engineLimits.leaseValidMs,
  lapseMs: engineLimits.leaseLapseMs,
};
const idleMs = 10_000;
const program = ["--import", "tsx", "test/support/restate/lease-program.ts"];
const figures: Record<string, number> = {};
if (haveRestate) {
  const restate = await startRestate();
  const ports = [await freePort(), await freePort(), await freePort()];
  const balancer = await openBalancer(ports);
  const nodes = await Promise.all(
    ports.map((port, place) =>
      startLeaseNode(program, port, restate.ingress, `node-${place}`, times),
    ),
  );
  await registerNodes(restate.admin, `http://127.0.0.1:${balancer.port}`);
  const sends = (node: LeaseNode, from = 0) => node.line(({ what }) => what === "sent", from);
  const holderOf = (among: readonly LeaseNode[]) =>
    Promise.race(among.map((node) => sends(node, node.lines.length).then(() => node)));
  let left: readonly LeaseNode[] = nodes;

  let holder = await holderOf(left);
  const server = busyMs(restate.pid);
  await passed(idleMs);
  const perSecond = (busyMs(restate.pid) - server) / (idleMs / 1_000);
  figures["CPU of the server for each node, ms/s"] = round(perSecond / nodes.length);

  for (const [name, signal] of [
    ["an orderly stop", "SIGTERM"],
    ["a kill", "SIGKILL"],
  ] as const) {
    const ended = holder;
    left = left.filter((node) => node !== ended);
    const next = holderOf(left);
    ended.signal(signal);
    holder = await next;
    const all = sendsOf(nodes);
    const last = all.findLastIndex((sent) => sent.name === ended.name);
    figures[`${name}: ms without a node`] = round(
      (all[last + 1]?.at ?? Number.NaN) - (all[last]?.at ?? Number.NaN),
    );
  }
  for (const node of nodes) node.signal("SIGKILL");
  await Promise.all(nodes.map(({ ended }) => ended));
  await restate.stop();
  await balancer.close();
  rmSync(restate.data, { recursive: true });
}
report({ bench: "leases", figures });
