/**
 * A message that ends each process which steps it has an end: after some deaths it is in quarantine, where an operator
 * sees it, and its conversation goes on. A daemon on which nothing was ever active shows it as what needs somebody,
 * and there it is tried again.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import { crashConfig } from "../../crash/protocol.ts";
import { chance } from "../../crash/world.ts";
import { runCommand } from "../../support/built/command.ts";
import { builtFile } from "../../support/built/files.ts";
import { createLiveDaemon, type LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig } from "../../support/pages/pages-daemon.ts";
import { NodesWorld } from "../../support/restate/nodes-world.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** The text of one of the first messages, and its room. */
const poison = "m00008";
const key = "agent:main:direct:peer2";
/** Of its room, said once it is in quarantine. */
const later = `m000${rounds(20, 26)}`;
/** Each look is a call to the server, or to a daemon. */
const lookMs = 250;
const soon = (read: () => unknown) => expect.poll(read, { timeout: 60_000, interval: lookMs });

describe.skipIf(!haveRestate)("a message that kills every node", () => {
  /** The last order is given in a page in the full rounds, elsewhere by a command (test/pages/needs has pages). */
  const rig = haveChromium && rounds(0, 1) > 0 ? createPagesRig({ kept: true }) : null;
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
    const rows = await world.rows(key);
    const listed = rows.find(({ table, row }) => table === "meta" && row?.name === "quarantine");
    return JSON.parse(String(listed?.row?.value ?? "[]"));
  }

  /** Starts nodes that have ended until it holds; resolves to how many there were. */
  async function revivingUntil(holds: () => Promise<boolean>): Promise<number> {
    let deaths = 0;
    let isOver = false;
    // Beside the question, which a node answers: both may be dead.
    const reviving = (async () => {
      while (!isOver) {
        const ended = await world.revive();
        deaths += ended;
        // What the dead had taken is said again.
        if (ended > 0) world.redeliver();
        await new Promise((next) => setTimeout(next, 50));
      }
    })();
    while (!(await holds())) await new Promise((next) => setTimeout(next, lookMs));
    isOver = true;
    await reviving;
    return deaths + (await world.revive());
  }

  test("is in quarantine after some of them, and everything else is answered", async () => {
    console.log(`poison seed ${seed}`);
    await world.traffic(rounds(12, 18));
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
    await soon(() => world.quarantined()).toEqual([ofPoison, ofPoison]);
    // Its row, and no other's.
    expect(await world.broken()).toEqual([expect.stringMatching(/^row \d+ has the verdict -3$/u)]);
    const answers = world.received.map(({ text }) => text);
    expect(answers.some((text) => text.includes(later))).toBe(true);
    expect(answers.some((text) => text.includes(poison))).toBe(false);
  });

  const needs = async () => {
    const answer = (await other?.ask("/needs")) as { readonly needs: readonly Need[] };
    return answer.needs;
  };
  const titles = async () => (await needs()).map(({ title }) => title);
  /** What `earshot` prints for the other node; it exits with 1 while something needs somebody. */
  const run = (...args: readonly string[]) =>
    runCommand([...args, "--state-dir", other?.stateDir ?? ""]);

  test("a node that never had it shows it; tried again there while it still kills, it comes back", async () => {
    const { agents: _, ...config } = crashConfig;
    const engine = world.engine(0);
    other = await createLiveDaemon({
      pagesDir: rig?.pagesDir ?? "",
      config: { ...config, engine },
    });
    await other.start();
    await soon(titles).toEqual(["One event is in quarantine"]);
    const [need] = (await needs()) as [Need];
    expect(need).toMatchObject({ kind: "quarantine", key, tries: 0 });
    expect(need.meaning).toMatch(
      / continues without it; the journal keeps it\. \d processes ended/u,
    );
    const { out } = await run("needs");
    expect(out).toContain(`Try again: earshot needs do ${need.id} retry`);
    const given = run("needs", "do", need.id, "retry");
    await revivingUntil(async () => (await titles()).includes("One event is in quarantine again"));
    expect((await given).err).toBe("");
    expect((await needs()).map(({ meaning }) => meaning)).toEqual([
      expect.stringMatching(/processes ended.*Retried once, failed each time\.$/u),
    ]);
  });

  test("tried again there once a repaired build runs, it is answered, and needs nobody", async () => {
    delete process.env.EARSHOT_CRASH_POISON;
    for (const node of [0, 1]) await world.stop(node);
    for (const node of [0, 1].slice(0, rounds(1, 2))) await world.start(node);
    // While both nodes were away, other things may have needed somebody.
    const need = (await needs()).find(({ title }) => title.includes("in quarantine")) as Need;
    if (rig === null) {
      expect((await run("needs", "do", need.id, "retry")).err).toBe("");
    } else {
      const page = await rig.open(other?.address("/health") ?? "");
      const shown = page.getByRole("region", { name: "Needs you" }).locator(".need");
      const again = shown.getByRole("button", { name: "Try again", exact: true });
      await again.click();
      await again.click();
      await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
    }
    await soon(titles).toEqual([]);
    await world.quiet();
    expect(await quarantined()).toEqual([]);
    const answers = world.received.map(({ text }) => text);
    expect(answers.filter((text) => text.includes(poison))).toHaveLength(1);
  });
});
