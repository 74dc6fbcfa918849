/**
 * A conversation that cannot be made active, however often Restate makes its call, is seen by its owner on every node:
 * what fails, since when, why, and what to do. Its call does not grow meanwhile, and it needs nobody once it goes on.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { EngineStatus } from "../../../src/daemon/api-types/engine.ts";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import { engineLimits } from "../../../src/domain/ports/engine/engine-limits.ts";
import { conversationService } from "../../../src/engines/restate/wire.ts";
import { runCommand } from "../../support/built/command.ts";
import { group, type LiveDaemon, toScout } from "../../support/daemon/live-daemon.ts";
import { IngressProxy } from "../../support/restate/ingress-proxy.ts";
import { setLimits } from "../../support/restate/limits.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { createTwoDaemons, type TwoDaemons } from "../../support/restate/two-daemons.ts";
import { rounds } from "../../support/rounds.ts";

const key = "agent:main:webhook:group:#orchard";
/** Each look asks a daemon or the server, and some wait for many failures. */
const soon = <Answer>(claim: () => Promise<Answer>) =>
  vi.waitFor(claim, { timeout: 60_000, interval: 250 });

describe.skipIf(!haveRestate)("a conversation whose call always fails", () => {
  let reset: () => void = () => undefined;
  let all: TwoDaemons;
  let bare: LiveDaemon;
  let proxy: IngressProxy;
  /** Its call when it was known to fail. */
  let begun: Awaited<ReturnType<typeof journal>>;
  beforeAll(async () => {
    // In the full rounds it is waited for as it is.
    if (rounds(0, 1) === 0)
      reset = setLimits({ failingCallMsMax: 3_000, failingCallsLookMs: 1_000 });
    all = await createTwoDaemons({
      pagesDir: "",
      ofBack: async (ingress) => {
        proxy = await IngressProxy.open(ingress);
        return { ingress: proxy.url, config: {} };
      },
    });
    await all.back.start();
    await all.front.start();
    bare = await all.another(false);
    await bare.start();
    // A row of a later version, in a table that this one does not have.
    const rows = [{ table: "orchards", id: "[1]", row: { trees: 12 } }];
    await call("fill", { place: 0, rows, whole: true, dueAt: null });
    // It fails from now on, beside another one that goes on in the end.
    expect((await say(all.front, "waits")).ok).toBe(true);
  });
  afterAll(async () => {
    await all?.close();
    await proxy?.close();
    reset();
  });

  async function call(handler: string, input: object): Promise<void> {
    const path = `${conversationService}/${encodeURIComponent(key)}/${handler}`;
    const answer = await fetch(`${all.restate.ingress}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(input),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }
  const admin = (path: string, init: RequestInit) =>
    fetch(`${all.restate.admin}${path}`, {
      ...init,
      headers: { "content-type": "application/json", accept: "application/json" },
    });
  async function ask<Row>(query: string): Promise<readonly Row[]> {
    const answer = await admin("/query", { method: "POST", body: JSON.stringify({ query }) });
    return ((await answer.json()) as { rows: Row[] }).rows;
  }
  const journal = async () => {
    const [found] = await ask<{ id: string; journal_size: number; retry_count: number }>(
      "SELECT id, journal_size, retry_count FROM sys_invocation WHERE target_handler_name = 'run' " +
        `AND target_service_key = '${key}' AND status <> 'scheduled'`,
    );
    return found;
  };
  const needs = async (node: LiveDaemon) => ((await node.ask("/needs")) as { needs: Need[] }).needs;
  const stuck = async (node: LiveDaemon, of = key) =>
    (await needs(node)).filter((need) => need.id === `engine:conversation:${of}`);
  const say = (node: LiveDaemon, id: string, room = "#orchard") =>
    fetch(`${node.base}/api/inbound`, {
      method: "POST",
      headers: { authorization: `Bearer ${node.token}`, "content-type": "application/json" },
      body: JSON.stringify([
        {
          channel: "webhook",
          id,
          author: { id: "ann" },
          text: "Scout?",
          chat: group(room),
          ...toScout,
        },
      ]),
    });
  const nodes = () => [all.front, all.back, bare];

  test("goes on by itself once the cause is gone, answers what waited, and needs nobody then", async () => {
    const garden = key.replace("#orchard", "#garden");
    // The node that has conversations gets no numbers for their rows.
    proxy.take = async ({ url }) => url.includes("numbers/");
    expect((await say(all.front, "early", "#garden")).ok).toBe(true);
    for (const node of nodes())
      await soon(async () => expect(await stuck(node, garden)).toHaveLength(1));
    proxy.take = async () => false;
    await soon(async () =>
      expect(await all.front.ask("/why/early")).toMatchObject({
        why: [{ recorded: { decision: "engage" } }],
      }),
    );
    for (const node of nodes())
      await soon(async () => expect(await stuck(node, garden)).toEqual([]));
  });

  test("is what needs somebody on every node, with the cause and what to do, in status and in why", async () => {
    for (const node of nodes())
      await soon(async () =>
        expect(await stuck(node)).toMatchObject([{ meaning: expect.stringContaining("orchards") }]),
      );
    begun = await journal();
    for (const node of nodes()) await soon(() => saysWhatFails(node));
    const env = { HOME: all.front.stateDir, NO_COLOR: "1", COLUMNS: "400" };
    for (const words of [["status"], ["needs"], ["why", "waits"]])
      await soon(async () => {
        const args = [...words, "--state-dir", all.front.stateDir];
        expect((await runCommand(args, { env })).out).toContain("no such table");
      });

    async function saysWhatFails(node: LiveDaemon): Promise<void> {
      const [need] = await stuck(node);
      expect(need?.title).toContain("A conversation cannot go on");
      expect(need?.meaning).toContain(key);
      expect(need?.meaning).toContain(
        'Cannot read a row of "orchards": this version has no such table',
      );
      expect(need?.meaning).toMatch(/failed \d+ times in a row.*goes on by itself/u);
      expect(need?.meaning).not.toContain("Error:");
      const { engine, ready } = (await node.ask("/status")) as {
        engine: EngineStatus;
        ready: boolean;
      };
      expect(ready).toBe(true);
      expect(engine.problems.map(({ what, key: of }) => [what, of])).toEqual([
        ["conversation", key],
      ]);
    }
  });

  test("is shown on every node while people go on speaking there", async () => {
    const seen: number[][] = [];
    const until = Date.now() + 2 * engineLimits.failingCallMsMax;
    for (let said = 0; Date.now() < until; said += 1) {
      expect((await say(all.front, `more-${said}`)).ok).toBe(true);
      seen.push(await Promise.all(nodes().map(async (node) => (await stuck(node)).length)));
    }
    expect(seen.length).toBeGreaterThan(2);
    expect(new Set(seen.flat())).toEqual(new Set([1]));
  });

  test("is tried again and again in the call that there is, which does not grow", async () => {
    // Its first attempts store their marks.
    await soon(async () => {
      const before = await journal();
      const retries = before?.retry_count ?? 0;
      await soon(async () =>
        expect((await journal())?.retry_count).toBeGreaterThan(retries + rounds(1, 3)),
      );
      expect(await journal()).toMatchObject({ id: begun?.id, journal_size: before?.journal_size });
    });
  });
});
