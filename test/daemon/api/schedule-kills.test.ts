/**
 * Entries of the schedule over kill -9, with everything in one thread and with a worker: between an
 * entry and its time, over its time, and right after it. Each is said once. Outside of the full rounds one
 * kill is both of the first two kinds, and the daemon has its worker from the second start on.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";
import { type ExpectStatic, test } from "vitest";
import { rounds } from "../../support/rounds.ts";
import { type TelegramDaemon, telegramDaemon } from "../../support/telegram/telegram-daemon.ts";

interface Entry {
  readonly name: string;
  readonly next: number | null;
  readonly paused: boolean;
}

/** Whether each number of workers meets each kind of kill, and each kind has kills of its own. */
const isEach = rounds(0, 1) > 0;

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

/** Started, and messages are accepted. `isHere`: in this process, as nothing kills it any more. */
async function start(daemon: TelegramDaemon, expect: ExpectStatic, isHere = false): Promise<void> {
  await (isHere ? daemon.startHere() : daemon.start());
  const isReady = async () => (await daemon.get<{ ready: boolean }>("/api/status")).ready;
  await expect.poll(isReady, { timeout: 60_000 }).toBe(true);
}

/** Its next start has a worker. */
function giveWorker({ stateDir }: TelegramDaemon): void {
  const path = join(stateDir, "earshot.json5");
  const config = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...config, workers: { count: 1 } }));
}

// At the same time, as both mostly wait for times of the schedule.
test.concurrent.for(isEach ? [0, 1] : [0])(
  "each entry is said once over kill -9, with %i workers",
  { timeout: 240_000 },
  async (count, { onTestFinished, expect }) => {
    const config = {
      agents: { list: [{ id: "main", driver: { kind: "scripted" } }] },
      stream: { mode: "off" },
      workers: { count },
    };
    const daemon = await telegramDaemon(config, onTestFinished);
    const { server, rooms } = daemon;
    const begin = (isHere = false) => start(daemon, expect, isHere);
    const to = { channel: "telegram", chat: { id: String(rooms.ann.chat.id), kind: "direct" } };
    const add = (name: string, over: object) =>
      daemon.post("/api/schedules", { name, to, ...over });
    const names = async () =>
      (await daemon.get<{ schedules: Entry[] }>("/api/schedules")).schedules.map(
        ({ name }) => name,
      );
    const rows = async (state: string) =>
      (await daemon.get<{ outbox: { doubts: number }[] }>(`/api/outbox?state=${state}`)).outbox;
    // Of the rows, not of what the platform has: a row in doubt comes twice there, and one that is killed in doubt
    // twice is rightly held.
    const saidAre = (wanted: number) =>
      expect
        .poll(async () => (await rows("sent")).length, { timeout: 60_000 })
        .toBeGreaterThanOrEqual(wanted);
    await begin();

    // Killed between the entries and their time.
    const at = inMs(isEach ? 5_000 : 4_000);
    await add("text", { at, text: "Tea?" });
    await add("prompt", { at, prompt: "Ask about tea." });
    await add("paused", { at, text: "This is paused." });
    await add("removed", { at, text: "This is removed." });
    await daemon.post("/api/schedules/paused/pause");
    await daemon.post("/api/schedules/removed/remove");
    if (isEach) {
      await daemon.kill();
      await begin();
      await saidAre(2);
      await expect.poll(names).toEqual(["paused"]);
    }

    // Its time comes while no process runs: said once, late.
    await add("missed", { at: inMs(1_000), text: "This is late." });
    await daemon.kill();
    if (!isEach) giveWorker(daemon);
    await passed(1_500);
    await begin();
    await saidAre(3);
    await expect.poll(names).toEqual(["paused"]);

    // Killed as its time comes, so somewhere between its due time and what is sent.
    const before = 3;
    const delays = isEach ? [0, 20, 60, 150] : [20];
    for (const [turn, ms] of delays.entries()) {
      const due = Date.now() + 1_000;
      await add(`now ${turn}`, { at: new Date(due).toISOString(), prompt: `Say ${turn}.` });
      await passed(due + ms - Date.now());
      await daemon.kill();
      await begin(!isEach);
      await saidAre(before + 1 + turn);
    }
    if (isEach) {
      await daemon.kill();
      await begin();
    }
    await daemon.quiet();
    // What the platform took right before a kill may be in doubt, and is then sent again.
    const sent = await rows("sent");
    const said = before + delays.length;
    expect(sent).toHaveLength(said);
    const doubts = sent.reduce((sum, row) => sum + row.doubts, 0);
    expect(server.world.answers(rooms.ann).length).toBeLessThanOrEqual(said + doubts);
    const texts = server.world.answers(rooms.ann).map((one) => ("text" in one ? one.text : ""));
    expect(texts.join("\n")).not.toMatch(/paused|removed/);
    expect(await names()).toEqual(["paused"]);
    // Resumed after its time: it is not made up for.
    await daemon.post("/api/schedules/paused/resume");
    await passed(1_000);
    expect((await daemon.get<{ schedules: Entry[] }>("/api/schedules")).schedules).toMatchObject([
      { name: "paused", paused: false, next: null },
    ]);
    await daemon.quiet();
    expect(await rows("sent")).toHaveLength(said);
  },
);
