/**
 * Messages a second and ms from receipt to a durable decision, on a real Restate with one node in a process
 * of its own: one message at a time, one invocation for each message, and more than can be under way at once,
 * so that batches form. The generator, the node and the server share two cores; the processor time of
 * node and server is counted apart from it.
 */
import { rmSync } from "node:fs";
import { createInbox } from "../../src/engines/restate/inbox.ts";
import { registerNodes } from "../../src/engines/restate/node.ts";
import { freePort } from "../../test/support/free-port.ts";
import { startNode } from "../../test/support/restate/rig.ts";
import { haveRestate, startRestate } from "../../test/support/restate/server.ts";
import { busyMs } from "../child-process.ts";
import {
  busyMix,
  type Mix,
  messages,
  quantile,
  quietMix,
  report,
  round,
  short,
} from "../support.ts";

const figures: Record<string, number> = {};
if (haveRestate) {
  const restate = await startRestate();
  const port = await freePort();
  const node = await startNode(port);
  await registerNodes(restate.admin, `http://127.0.0.1:${port}`);
  const inbox = createInbox(restate.ingress);
  let offers = 0;

  /** Offers messages to so many rooms, so many of them waiting for their decision at any time. */
  async function flood(
    name: string,
    rooms: number,
    atOnce: number,
    count: number,
    mix: Mix,
  ): Promise<void> {
    const next = messages(rooms, mix, rooms);
    // A day ahead, so that no deadline is due within the run.
    const at = Date.now() + 86_400_000;
    const taken: number[] = [];
    const server = busyMs(restate.pid);
    const stepping = busyMs(node.pid);
    const begun = performance.now();
    const authority = { commandAuthorized: false, owner: false };
    let left = count;
    const say = async () => {
      while (left > 0) {
        left -= 1;
        offers += 1;
        const message = next(offers, 0);
        const key = `agent:main:telegram:group:${message.chat.id}${atOnce}`;
        const event = {
          type: "message.received",
          at: at + offers,
          seq: 0,
          message,
          authority,
        } as const;
        const from = performance.now();
        await inbox.offer(key, { identity: message.id, sentAt: 0, cfg: 1, event });
        taken.push(performance.now() - from);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, say));
    const seconds = (performance.now() - begun) / 1_000;
    figures[`${name}: messages/s`] = Math.round(count / seconds);
    figures[`${name}: p50, ms`] = round(quantile(taken, 0.5));
    figures[`${name}: p99, ms`] = round(quantile(taken, 0.99));
    figures[`${name}: CPU of the server per message, ms`] = round(
      (busyMs(restate.pid) - server) / count,
    );
    figures[`${name}: CPU of the node per message, ms`] = round(
      (busyMs(node.pid) - stepping) / count,
    );
  }

  await flood("warm", 100, 16, short ? 100 : 400, quietMix);
  for (const name of Object.keys(figures)) delete figures[name];
  await flood("one at a time", 1, 1, short ? 100 : 300, quietMix);
  await flood("1,000 rooms, 32 at once", 1_000, 32, short ? 300 : 1_500, quietMix);
  await flood("the same, 7% engage", 1_000, 32, short ? 300 : 1_500, busyMix);
  await flood("100 rooms, 2,000 at once", 100, 2_000, short ? 4_000 : 20_000, quietMix);
  await node.kill();
  await restate.stop();
  rmSync(restate.data, { recursive: true });
}
report({ bench: "restate", figures });
