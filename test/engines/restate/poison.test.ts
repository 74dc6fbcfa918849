/**
 * A message that ends each process which steps it has an end: after some deaths it is in quarantine, where an operator
 * sees it, and its conversation goes on. A daemon on which nothing was ever active shows it as what needs somebody,
 * and there it is tried again.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import { crashConfig } from "../../crash/protocol.ts";
import { chance } from "../../crash/world.ts";
import { builtFile, builtMain } from "../../support/built/files.ts";
import { createLiveDaemon, type LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig } from "../../support/pages/pages-daemon.ts";
import { NodesWorld } from "../../support/restate/nodes-world.ts";
import { haveRestate } from "../../support/restate/server.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** The text of one of the first messages, and its room. */
const poison = "m00008";
const key = "agent:main:direct:peer2";

describe.skipIf(!haveRestate)("a message that kills every node", () => {
  const rig = haveChromium ? createPagesRig({ kept: true }) : null;
  let world: NodesWorld;
  /** Another node, on which nothing is active. */
  let other: LiveDaemon | null = null;
  beforeAll(async () => {
    process.env.EARSHOT_CRASH_POISON = poison;
    world = await NodesWorld.open(2, chance(seed), { file: builtFile("test/crash-child") });
  });
  afterAll(async () => {
    delete process.env.EARSHOT_CRASH_POISON;
    await other?.close();
    await world?.close();
  });

  async function quarantined(): Promise<readonly { readonly error: string }[]> {
    const store = openKeptStore(await world.rows(key));
    const listed = JSON.parse((await store.meta("quarantine")) ?? "[]");
    await store.close();
    return listed;
  }

  /** Starts nodes that have ended until it holds; resolves to how many there were. */
  async function revivingUntil(holds: () => Promise<boolean>): Promise<number> {
    let deaths = 0;
    let isOver = false;
    // Beside the question, which a node answers: both may be dead.
    const reviving = (async () => {
      while (!isOver) {
        deaths += await world.revive();
        world.redeliver();
        await new Promise((next) => setTimeout(next, 100));
      }
    })();
    while (!(await holds())) await new Promise((next) => setTimeout(next, 100));
    isOver = true;
    await reviving;
    return deaths + (await world.revive());
  }

  test("is in quarantine after some of them, and everything else is answered", async () => {
    console.log(`poison seed ${seed}`);
    await world.traffic(18);
    const deaths = await revivingUntil(async () => (await quarantined()).length > 0);
    // Two or three that nobody watched, and four.
    expect(deaths).toBeLessThanOrEqual(7);
    await world.traffic(12);
    await world.quiet();
    expect(await quarantined()).toEqual([
      expect.objectContaining({ key, error: expect.stringContaining("processes ended") }),
    ]);
    // On each node, as `status`, Health and the Room page read it.
    const ofPoison = expect.stringMatching(/direct:peer2.*processes ended/u);
    await expect.poll(() => world.quarantined(), { timeout: 20_000 }).toEqual([ofPoison, ofPoison]);
    // Its row, and no other's.
    expect(await world.broken()).toEqual([expect.stringMatching(/^row \d+ has the verdict -3$/u)]);
    const answers = world.received.map(({ text }) => text);
    expect(answers.some((text) => text.includes("m00026"))).toBe(true);
    expect(answers.some((text) => text.includes(poison))).toBe(false);
  });

  const needs = async () => {
    const answer = (await other?.ask("/needs")) as { readonly needs: readonly Need[] };
    return answer.needs;
  };
  const titles = async () => (await needs()).map(({ title }) => title);
  /** What `earshot` prints for the other node; it exits with 1 while something needs somebody. */
  const run = async (...args: readonly string[]) => {
    const all = [builtMain, ...args, "--state-dir", other?.stateDir ?? ""];
    return promisify(execFile)(process.execPath, all).catch((error) => error as typeof error);
  };

  test("a node that never had it shows it; tried again there while it still kills, it comes back", async () => {
    const { agents: _, ...config } = crashConfig;
    const engine = world.engine(0);
    other = await createLiveDaemon({
      pagesDir: rig?.pagesDir ?? "",
      config: { ...config, engine },
    });
    await other.start();
    await expect.poll(titles, { timeout: 60_000 }).toEqual(["One event is in quarantine"]);
    const [need] = (await needs()) as [Need];
    expect(need).toMatchObject({ kind: "quarantine", key, tries: 0 });
    expect(need.meaning).toMatch(
      / continues without it; the journal keeps it\. \d processes ended/u,
    );
    const { stdout } = await run("needs");
    expect(stdout).toContain(`Try again: earshot needs do ${need.id} retry`);
    const given = run("needs", "do", need.id, "retry");
    await revivingUntil(async () => (await titles()).includes("One event is in quarantine again"));
    expect((await given).stderr).toBe("");
    expect((await needs()).map(({ meaning }) => meaning)).toEqual([
      expect.stringMatching(/processes ended.*Retried once, failed each time\.$/u),
    ]);
  });

  test("tried again there once a repaired build runs, it is answered, and needs nobody", async () => {
    delete process.env.EARSHOT_CRASH_POISON;
    for (const node of [0, 1]) {
      await world.stop(node);
      await world.start(node);
    }
    const [need] = (await needs()) as [Need];
    if (rig === null) {
      expect((await run("needs", "do", need.id, "retry")).stderr).toBe("");
    } else {
      const page = await rig.open(other?.address("/health") ?? "");
      const shown = page.getByRole("region", { name: "Needs you" }).locator(".need");
      const again = shown.getByRole("button", { name: "Try again", exact: true });
      await again.click();
      await again.click();
      await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
    }
    await expect.poll(titles, { timeout: 60_000 }).toEqual([]);
    await world.quiet();
    expect(await quarantined()).toEqual([]);
    const answers = world.received.map(({ text }) => text);
    expect(answers.filter((text) => text.includes(poison))).toHaveLength(1);
  });
});
