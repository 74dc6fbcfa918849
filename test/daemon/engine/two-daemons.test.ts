/**
 * Two real daemons on a real Restate: what was said to one and answered by the other is shown alike by both, and by a
 * third that starts later.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineStatus } from "../../../src/daemon/api-types/engine.ts";
import type { Health } from "../../../src/daemon/api-types/health.ts";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import { runCommand } from "../../support/built/command.ts";
import { hookSecret, signed } from "../../support/daemon/hook-daemon.ts";
import { openInspect, soon, soonAsked } from "../../support/daemon/inspect-socket.ts";
import { group, type LiveDaemon, person, toScout } from "../../support/daemon/live-daemon.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { createTwoDaemons, type TwoDaemons } from "../../support/restate/two-daemons.ts";
import { Loopback } from "../../support/servers/loopback.ts";

const key = "agent:main:webhook:group:#garden";
const text = "Scout, where are the turnips?";

describe.skipIf(!haveRestate)("of a message that one node took and another answered", () => {
  let all: TwoDaemons;
  let third: LiveDaemon;
  /** What the agent waits for before it answers. */
  let held: Promise<unknown> = Promise.resolve();
  const agent = new Loopback(async (request, response) => {
    for await (const _ of request);
    await held;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ text: "In the barn." }));
  });

  beforeAll(async () => {
    await agent.up();
    const driver = { kind: "webhook", url: agent.url, secret: "a-secret-of-the-test" };
    const agents = { list: [{ id: "main", name: "Scout", driver }] };
    const webhook = { accounts: { default: {}, shop: { hook: { secret: hookSecret } } } };
    const config = { agents, channels: { webhook } };
    all = await createTwoDaemons({ pagesDir: "", config });
    await all.back.start();
    await all.front.start();
    await all.front.say({ chat: group("#garden"), text, ...toScout });
    third = await all.another();
    await third.start();
  });
  afterAll(async () => {
    await all?.close();
    await agent.down();
  });

  const nodes = () => ({ front: all.front, back: all.back, third });
  /** What each answers at a path, of which only what is the same for all is taken. */
  const each = async (path: string, take: (answer: never) => unknown) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(nodes()).map(async ([name, node]) => [
          name,
          take((await node.ask(path)) as never),
        ]),
      ),
    );
  const bodyOf = async (node: LiveDaemon, path: string) => {
    const headers = { authorization: `Bearer ${node.token}` };
    return (await fetch(`${node.base}${path}`, { headers })).text();
  };

  /** Resolves when all answer the same, of which `holds` is true. */
  async function same(
    path: string,
    take: (answer: never) => unknown,
    holds: (taken: never) => boolean,
  ) {
    await expect
      .poll(
        async () => {
          const found = await each(path, take);
          const [first] = Object.values(found);
          const isSame = Object.values(found).every(
            (one) => JSON.stringify(one) === JSON.stringify(first),
          );
          return isSame && first !== undefined && holds(first as never) ? "same" : found;
        },
        { timeout: 60_000, interval: 250 },
      )
      .toBe("same");
  }

  test("the lists of rooms, sessions, conversations and sends are the same", async () => {
    type Rooms = { rooms: { key: string; last: unknown }[] };
    await same(
      "/rooms",
      ({ rooms }: Rooms) => rooms.map((row) => [row.key, row.last]),
      (rows: unknown[][]) => rows.length === 1 && JSON.stringify(rows).includes("turnips"),
    );
    type Sessions = { sessions: { key: string; usage: { turns: number } }[]; usage: unknown };
    await same(
      "/sessions",
      (all: Sessions) => all,
      ({ sessions }: Sessions) => sessions[0]?.usage.turns === 1,
    );
    type Conversations = { conversations: { key: string; lastSeq: number }[] };
    await same(
      "/conversations",
      (all: Conversations) => all,
      ({ conversations }: Conversations) => conversations[0]?.key === key,
    );
    type Outbox = { rows: { state: string; key: string }[] };
    await same(
      "/outbox?state=sent",
      (all: Outbox) => all,
      (all: Outbox) => JSON.stringify(all).includes('"sent"'),
    );
  });

  test("its page, explanation, transcript, and place in the search are the same", async () => {
    type Page = { state: { attention: string }; history: { entries: { kind: string }[] } };
    await same(
      `/rooms/${encodeURIComponent(key)}`,
      ({ history }: Page) => history.entries,
      (entries: { kind: string }[]) => entries.some(({ kind }) => kind === "said"),
    );
    type Why = { why: { recorded: { decision: string }; fate: { outcome: string } }[] };
    await same(
      "/why/m1",
      ({ why }: Why) => why,
      (why: Why["why"]) => why[0]?.fate.outcome === "replied",
    );
    await same(
      `/sessions/${encodeURIComponent(key)}`,
      ({ lines }: { lines: unknown[] }) => lines,
      (lines: unknown[]) => lines.length >= 2,
    );
    type Found = { found: { kind: string }[] };
    await same(
      "/search?text=turnips",
      ({ found }: Found) => found,
      (found: unknown[]) => found.length >= 1,
    );
  });

  test("its recording and the counts are the same", async () => {
    await soonAsked(async () => {
      const recordings = await Promise.all(
        Object.values(nodes()).map((node) =>
          bodyOf(node, `/api/record?since=0&conversation=${encodeURIComponent(key)}`),
        ),
      );
      expect(recordings[0]).toContain("turnips");
      expect(new Set(recordings).size).toBe(1);
    });
    type Status = { outbox: Record<string, number>; turns: unknown };
    await same(
      "/status",
      ({ outbox, turns }: Status) => ({ outbox, turns }),
      ({ outbox }: Status) => (outbox.sent ?? 0) > 0,
    );
    for (const node of Object.values(nodes()))
      await soonAsked(async () => {
        const metrics = await bodyOf(node, "/metrics");
        const of = (name: string) => Number(new RegExp(`${name} (\\d+)`, "u").exec(metrics)?.[1]);
        expect(of("conversations_live") + of("conversations_passive")).toBe(1);
      });
  });

  test("an inspector sees the machine of a conversation, with the same events and states", async () => {
    const orchard = "agent:main:webhook:group:#orchard";
    const seen = await Promise.all(
      Object.values(nodes()).map(async ({ base, token }) => {
        const headers = { authorization: `Bearer ${token}` };
        return (await openInspect(`${base}/inspect/ws?words=1`, { headers })).frames;
      }),
    );
    // It goes on until each has seen it.
    let answer: (value: unknown) => void = () => undefined;
    held = new Promise((resolve) => {
      answer = resolve;
    });
    const { front } = nodes();
    await front.say({ chat: group("#orchard"), text: "Scout, and the pears?", ...toScout });
    /** What caused each state of it, and the state. */
    const story = (frames: readonly Record<string, unknown>[]) => {
      const actors = frames.flatMap(({ name, sessionId }) => (name === orchard ? [sessionId] : []));
      return frames.flatMap(({ type, sessionId, event, snapshot }) =>
        type === "@xstate.snapshot" && actors.includes(sessionId) ? [{ event, snapshot }] : [],
      );
    };
    for (const frames of seen) await soon(() => expect(story(frames)).not.toEqual([]));
    answer(null);
    for (const frames of seen)
      await soon(() =>
        expect(story(frames).at(-1)?.event, JSON.stringify(frames)).toEqual({
          type: "xstate.stop",
        }),
      );
    const [first, ...others] = seen.map((frames) => story(frames));
    expect(JSON.stringify(first)).toContain("and the pears?");
    expect(JSON.stringify(first)).toContain('"delivery.sent"');
    for (const other of others) expect(other).toEqual(first);
  });

  test("a message that was denied is explained by each, though only the one that took it has it", async () => {
    const chat = { id: "zoe", kind: "direct" };
    const body = JSON.stringify({ id: "denied", chat, text: "May I?", author: person("Zoe") });
    const post = { method: "POST", headers: signed(body), body };
    const taken = await fetch(`${all.front.base}/hooks/webhook/shop`, post);
    expect(taken.status).toBe(200);
    type Why = { why: { admission: string; recorded: { decision: string } }[] };
    const shown = async (node: LiveDaemon) => ((await node.ask("/why/denied")) as Why).why;
    const [own] = await shown(all.front);
    expect(own?.recorded.decision).toBe("denied");
    for (const node of [all.back, third])
      await soonAsked(async () => expect(await shown(node)).toEqual([own]));
    const unknown = await third.ask("/why/nobody-said-this");
    expect(unknown).toMatchObject({ error: { code: "not-found" } });
  });

  test("the nodes are: on Health, in status, among the metrics", async () => {
    const states = (engine: EngineStatus) =>
      engine.nodes.map(({ node, state, copy }) => [node, state, copy?.since ?? null]).sort();
    await same(
      "/status",
      ({ engine }: { engine: EngineStatus }) => states(engine),
      (all: unknown[][]) => all.length === 3 && all.every(([, state]) => state === "running"),
    );
    // On a busy machine a node may lack a beat of another, or a row, for a moment.
    for (const node of Object.values(nodes()))
      await soonAsked(async () => {
        const health = (await node.ask("/health")) as Health;
        const { engine } = health;
        expect(engine?.problems).toEqual([]);
        expect(engine?.server.version).toMatch(/^\d+\.\d+/u);
        expect(engine?.nodes[0]).toMatchObject({ own: true, address: node.base });
        // Each node has as many.
        expect(health.lanes[0]?.slots).toBe(12);
        const metrics = await bodyOf(node, "/metrics");
        expect(metrics).toContain('earshot_nodes{state="running"} 3');
        expect(metrics).toContain("earshot_engine_reachable 1");
        expect(metrics).toContain("earshot_copy_behind 0");
      });
  });

  test("an event stream of the other node has its lines", async () => {
    const { front, back } = nodes();
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${front.token}` };
    const stream = await fetch(`${front.base}/api/events`, { headers, signal: stop.signal });
    const reader = stream.body?.getReader();
    await back.say({
      id: "again",
      chat: group("#garden"),
      text: "Scout, and the beans?",
      ...toScout,
    });
    let heard = "";
    while (!heard.includes('"out":"send"')) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) break;
      heard += new TextDecoder().decode(value);
    }
    stop.abort();
    expect(heard).toContain('"decision":"engage"');
    expect(heard).toContain('"out":"send"');
    expect(heard.match(/"decision":"engage"/gu)).toHaveLength(1);
  });

  test("a node that keeps no copy names those that do, wherever it is asked for conversations", async () => {
    const bare = await all.another(false);
    await bare.start();
    const { front } = nodes();
    const named = () =>
      expect.poll(async () => JSON.stringify(await bare.ask("/conversations")), {
        timeout: 60_000,
        interval: 250,
      });
    await named().toContain(front.base);
    for (const path of [
      ...["/conversations", "/rooms", "/sessions", "/outbox", "/search?text=turnips", "/why/m1"],
      ...["/quarantine", "/record?since=0", `/sessions/${encodeURIComponent(key)}`],
      `/rooms/${encodeURIComponent(key)}`,
    ]) {
      const headers = { authorization: `Bearer ${bare.token}` };
      const answer = await fetch(`${bare.base}/api${path}`, { headers });
      expect([path, answer.status]).toEqual([path, 409]);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe("no-copy");
      expect(error.message).toMatch(
        /^Cannot read conversations on this node: it keeps no copy of them \(engine\.mirror is false\)\. Ask http/u,
      );
    }
    const run = (...args: readonly string[]) => runCommand([...args, "--state-dir", bare.stateDir]);
    const why = await run("why", "m1");
    expect(why.code).not.toBe(0);
    expect(why.err).toContain("it keeps no copy of them");
    const status = await run("status");
    expect(status.code).toBe(0);
    expect(status.out.replaceAll(/\s+/gu, " ")).toContain("copy none on this node");
    // It takes messages as any other.
    await bare.say({ chat: group("#orchard"), text: "Scout, the plums?", ...toScout });
    await bare.close();
  });

  test("a node that ends is shown as stopped", async () => {
    const ended = (await third.ask("/status")) as { engine: EngineStatus };
    await third.stop();
    const { front, back } = nodes();
    for (const node of [front, back])
      await soonAsked(async () => {
        const { engine } = (await node.ask("/status")) as { engine: EngineStatus };
        const shown = engine.nodes.find((one) => one.node === ended.engine.nodes[0]?.node);
        expect(shown?.state).toBe("stopped");
      });
  });

  test("while the server stands still each says so, why, and since when; nothing when it goes on", async () => {
    const { front } = nodes();
    const needs = async () => ((await front.ask("/needs")) as { needs: Need[] }).needs;
    const said = () =>
      expect.poll(async () => (await needs()).map(({ title }) => title), {
        timeout: 60_000,
        interval: 250,
      });
    const readyz = () => fetch(`${front.base}/readyz`);
    process.kill(all.restate.pid, "SIGSTOP");
    try {
      await said().toContain("Restate does not answer");
      const need = (await needs()).find(({ title }) => title === "Restate does not answer");
      expect(need?.meaning).toMatch(
        /^Cannot reach Restate at .*: no answer in 5000 ms\. Start its server, or correct engine\.(?:ingress|admin)\. Nothing is accepted or answered meanwhile\. Since /u,
      );
      const { ready, problem, engine } = (await front.ask("/status")) as {
        ready: boolean;
        problem: string;
        engine: EngineStatus;
      };
      expect([ready, engine.server.failing]).toEqual([false, true]);
      expect(problem).toBe(engine.problems[0]?.says);
      expect((await readyz()).status).toBe(503);
    } finally {
      process.kill(all.restate.pid, "SIGCONT");
    }
    await said().not.toContain("Restate does not answer");
    expect((await readyz()).status).toBe(200);
  });
});
