/**
 * Messages a second on a real Restate with 1, 2 and 3 daemons, ms until a message is durable, processor time,
 * and how long a killed daemon's conversations are silent. Six people write direct messages, each
 * the next one when the last is acknowledged; an agent answers within 15 ms. The generator, the daemons and the server share
 * two cores.
 */
import { NodesWorld } from "../../test/support/restate/nodes-world.ts";
import { haveRestate } from "../../test/support/restate/server.ts";
import { busyMs } from "../child-process.ts";
import { quantile, randomFrom, report, round, short } from "../support.ts";

const child = new URL("../../test/crash/child.ts", import.meta.url).pathname;
const program = { file: child, execArgv: ["--import", "tsx"] };
const count = short ? 120 : 1_200;
const figures: Record<string, number> = {};

async function measure(nodes: number): Promise<void> {
  const world = await NodesWorld.open(nodes, randomFrom(nodes), program);
  const name = (what: string) => `${nodes} ${nodes === 1 ? "node" : "nodes"}: ${what}`;
  await world.traffic(60, 0);
  await world.quiet();
  world.ackMs.splice(0);
  const busy = () => {
    const { server, nodes: all } = world.pids();
    return { server: busyMs(server), nodes: all.reduce((sum, pid) => sum + busyMs(pid), 0) };
  };
  const before = busy();
  const from = performance.now();
  await world.traffic(count, 0);
  await world.acknowledged();
  figures[name("messages/s")] = round(count / ((performance.now() - from) / 1_000));
  const after = busy();
  figures[name("ms until durable, p50")] = round(quantile(world.ackMs, 0.5));
  figures[name("ms until durable, p99")] = round(quantile(world.ackMs, 0.99));
  figures[name("CPU of the server per message, ms")] = round(
    (after.server - before.server) / count,
  );
  figures[name("CPU of the nodes per message, ms")] = round((after.nodes - before.nodes) / count);
  await world.quiet();
  if (nodes > 1) {
    await world.traffic(30);
    await world.kill(0);
    const killed = performance.now();
    const answered = world.received.length;
    await world.traffic(30);
    while (world.received.length === answered) await new Promise((next) => setTimeout(next, 1));
    figures[name("ms from a kill to the next answer")] = round(performance.now() - killed);
    await world.quiet();
  }
  const broken = await world.broken();
  if (broken.length > 0) throw new Error(broken.join("\n"));
  await world.close();
}

if (haveRestate) for (const nodes of [1, 2, 3]) await measure(nodes);
report({ bench: "restate", figures });
