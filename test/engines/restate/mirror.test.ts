/**
 * The copy of all conversations on each node, on a real Restate: whatever was said where, wherever a conversation has
 * moved and whatever a node has missed, each copy has the rows that Restate has.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openMirrorStore } from "../../../src/adapters/stores/mirror-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { engineLimits } from "../../../src/domain/ports/engine/engine-limits.ts";
import type { KeptRow, MirrorStore } from "../../../src/domain/ports/index.ts";
import {
  type IngressCall,
  ingressCaller,
} from "../../../src/engines/restate/calls/ingress-call.ts";
import {
  createNodeMirror,
  type NodeMirror,
} from "../../../src/engines/restate/feed/node-mirror.ts";
import { revisionReader } from "../../../src/engines/restate/feed/stored-revisions.ts";
import { createInbox } from "../../../src/engines/restate/inbox.ts";
import { createNodeNumbers } from "../../../src/engines/restate/numbers/node-numbers.ts";
import { registerNodes } from "../../../src/engines/restate/registration.ts";
import { conversationService } from "../../../src/engines/restate/wire.ts";
import { freePort } from "../../support/free-port.ts";
import { type Balancer, openBalancer } from "../../support/restate/balancer.ts";
import { compared } from "../../support/restate/mirrored-rows.ts";
import { openTalkingNode, type TalkingNode } from "../../support/restate/node.ts";
import { askObject, called } from "../../support/restate/offers.ts";
import { haveRestate, type RestateServer, startRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

/** A node that can be ended and started again on its copy, and kept from hearing of the others. */
interface CopyNode {
  readonly path: string;
  readonly port: number;
  node: TalkingNode | null;
  mirror: MirrorStore | null;
  news: NodeMirror | null;
  isDeaf: boolean;
  /** Calls that end so fail. */
  cut: string | null;
}

type Act =
  | { readonly say: number }
  | { readonly restart: number }
  | { readonly deaf: number; readonly is: boolean }
  | { readonly only: number }
  | { readonly passMs: number };

const clock = createSystemClock();
const roomsMax = 3;

describe.skipIf(!haveRestate)("the copy of all conversations", () => {
  const folder = mkdtempSync(join(tmpdir(), "earshot-copies-"));
  const nodes: CopyNode[] = [];
  let restate: RestateServer;
  let balancer: Balancer;
  /** What the balancer balances: only nodes that are to get conversations. */
  const taking: number[] = [];
  let said = 0;

  beforeAll(async () => {
    restate = await startRestate();
    for (let number = 0; number < 2; number += 1) {
      const path = join(folder, `${number}.db`);
      const port = await freePort();
      nodes.push({ path, port, node: null, mirror: null, news: null, isDeaf: false, cut: null });
      taking.push(port);
    }
    balancer = await openBalancer(taking);
    await Promise.all(nodes.map(start));
    await registerNodes(restate.admin, `http://127.0.0.1:${balancer.port}`);
  });
  afterEach(() => {
    for (const one of nodes) {
      one.isDeaf = false;
      one.cut = null;
    }
  });
  afterAll(async () => {
    await Promise.all(nodes.map(end));
    await balancer?.close();
    await restate?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(one: CopyNode): Promise<void> {
    if (one.node !== null) return;
    const call = ingressCaller(restate.ingress);
    const heard: IngressCall = async (path, input, options) => {
      while (one.isDeaf && path.endsWith("/wait")) {
        if (options?.signal?.aborted) throw new Error("stopped");
        await new Promise((done) => setTimeout(done, 20));
      }
      if (one.cut !== null && path.endsWith(one.cut)) throw new Error("there is no connection");
      return call(path, input, options);
    };
    const mirror = openMirrorStore(one.path);
    const news = createNodeMirror({
      clock,
      log: () => undefined,
      call: heard,
      boot: `${one.port}-${performance.now()}`,
      mirror,
      read: revisionReader(restate.admin, conversationService),
      object: conversationService,
      onChanged: () => undefined,
      onLine: () => undefined,
    });
    one.mirror = mirror;
    one.news = news;
    const numbers = createNodeNumbers({ clock, call });
    one.node = await openTalkingNode(one.port, {}, { rows: news, numbers });
    news.start();
  }

  /** At once: what it was doing goes on elsewhere. */
  async function end(one: CopyNode): Promise<void> {
    const { node, news, mirror } = one;
    one.node = null;
    await node?.close();
    await news?.stop();
    await mirror?.close();
  }

  const say = async (room: number | string) => {
    said += 1;
    await createInbox(restate.ingress).offer(
      groupKey(`copy${room}`),
      called(`copy${room}`, `m${said}`),
    );
  };
  const rowsOf = async (room: number | string) =>
    (await askObject(restate.ingress, "conversation", groupKey(`copy${room}`), "rows"))
      .body as readonly KeptRow[];

  /** Resolves when each copy has the rows of these rooms that Restate has, once nothing is under way there. */
  async function same(rooms: readonly (number | string)[]): Promise<void> {
    for (const room of rooms)
      await expect
        .poll(
          async () => {
            const stored = await rowsOf(room);
            const rests = !stored.some(({ table, row }) => table === "run" && row !== null);
            const answers = stored.filter(({ table }) => table === "outbox");
            const isDone = rests && answers.every(({ row }) => row?.state === "sent");
            const differ = nodes.flatMap((one) => {
              one.mirror?.flush();
              const { has, should } = compared(one.path, groupKey(`copy${room}`), stored);
              const rows = new Set(should);
              const others = has.filter((row) => !rows.has(row));
              return has.length === should.length ? others : [`${has.length} of ${should.length}`];
            });
            return isDone && stored.length > 0 ? differ : ["under way"];
          },
          { timeout: 60_000, interval: 250 },
        )
        .toEqual([]);
  }

  test("has what another node has stored, also where it starts later", async () => {
    const [one, two] = nodes as [CopyNode, CopyNode];
    taking.splice(0, 2, two.port);
    await say("heard");
    await same(["heard"]);
    await end(one);
    await say("heard");
    await say("alone");
    await start(one);
    taking.splice(0, 1, one.port, two.port);
    await same(["heard", "alone"]);
  });

  test("has all that happened while it heard nothing, however much that was", async () => {
    const [one] = nodes as [CopyNode];
    one.isDeaf = true;
    await say("missed");
    const call = ingressCaller(restate.ingress);
    for (let batch = 0; batch <= engineLimits.feedKept; batch += 1)
      await call("feed/all/publish", { boot: "other", news: [], lines: [] });
    one.isDeaf = false;
    await same(["missed"]);
  });

  test("says since when it does not follow, and why, and how much it lacks", async () => {
    const [one, two] = nodes as [CopyNode, CopyNode];
    taking.splice(0, 2, two.port);
    const state = () => expect.poll(() => one.news?.state(), { timeout: 60_000 });
    const complete = { behind: 0, since: null, why: null };
    await state().toEqual(complete);
    one.cut = "/wait";
    const wake = { boot: "other", news: [], lines: [] };
    await ingressCaller(restate.ingress)("feed/all/publish", wake);
    await state().toMatchObject({ since: expect.any(Number), why: "there is no connection" });
    one.cut = null;
    await state().toEqual(complete);
    await end(one);
    await say("lacks");
    await expect.poll(async () => (await rowsOf("lacks")).length, { timeout: 60_000 }).not.toBe(0);
    one.cut = "/whole";
    await start(one);
    await state().toEqual({ behind: 1, since: expect.any(Number), why: null });
    one.cut = null;
    await same(["lacks"]);
    await state().toEqual(complete);
    taking.splice(0, 1, one.port, two.port);
  });

  test("forgets a conversation that Restate does not have", async () => {
    const [one] = nodes as [CopyNode];
    const gone = { key: groupKey("gone"), rows: [], revision: 7 };
    one.mirror?.apply([gone]);
    await one.news?.caughtUp();
    expect(one.mirror?.revision(gone.key)).toBe(0);
  });

  const acts: fc.Arbitrary<Act[]> = fc.array(
    fc.oneof<fc.WeightedArbitrary<Act>[]>(
      { weight: 6, arbitrary: fc.record({ say: fc.nat(roomsMax - 1) }) },
      { weight: 2, arbitrary: fc.record({ restart: fc.nat(1) }) },
      { weight: 2, arbitrary: fc.record({ deaf: fc.nat(1), is: fc.boolean() }) },
      { weight: 2, arbitrary: fc.record({ only: fc.nat(2) }) },
      { weight: 1, arbitrary: fc.record({ passMs: fc.nat(600) }) },
    ),
    { minLength: 5, maxLength: 15 },
  );

  test("is what Restate has after whatever was said, ended, moved and missed", async () => {
    const runs = async (story: readonly Act[]) => {
      for (const act of story) {
        if ("say" in act) await say(act.say);
        else if ("restart" in act) {
          const one = nodes[act.restart] as CopyNode;
          await end(one);
          await start(one);
        } else if ("deaf" in act) (nodes[act.deaf] as CopyNode).isDeaf = act.is;
        else if ("only" in act)
          taking.splice(0, 2, ...nodes.filter((_, n) => n !== act.only).map(({ port }) => port));
        else await new Promise((done) => setTimeout(done, act.passMs));
      }
      for (const one of nodes) {
        one.isDeaf = false;
        one.cut = null;
      }
      const rooms = new Set(story.flatMap((act) => ("say" in act ? [act.say] : [])));
      await same([...rooms]);
    };
    await fc.assert(fc.asyncProperty(acts, runs), { numRuns: rounds(2, 10), endOnFailure: true });
  });
});
