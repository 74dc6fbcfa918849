/**
 * `earshot schedule` and its routes beside a running daemon: entries are listed, added, said once
 * over kill -9, paused, resumed and removed, and what cannot be is refused.
 */
import { expect, test } from "vitest";
import { telegramDaemon } from "../../support/telegram/telegram-daemon.ts";

interface Entry {
  readonly name: string;
  readonly next: number | null;
  readonly paused: boolean;
  readonly last: { readonly result: string } | null;
}

test("entries are listed, said once over kill -9, paused and removed", async () => {
  const daemon = await telegramDaemon({
    agents: { list: [{ id: "main", driver: { kind: "scripted" } }] },
    schedule: [
      {
        name: "standup",
        cron: "0 9 * * 1-5",
        timeZone: "Europe/Berlin",
        to: { channel: "telegram", chat: { id: "-100123", kind: "group" } },
        prompt: "Ask who is blocked.",
      },
    ],
  });
  const { server, rooms } = daemon;
  const chat = String(rooms.ann.chat.id);
  const entries = async () =>
    (await daemon.get<{ schedules: Entry[] }>("/api/schedules")).schedules;
  const isReady = async () => (await daemon.get<{ ready: boolean }>("/api/status")).ready;
  await daemon.start();
  await expect.poll(isReady, { timeout: 60_000 }).toBe(true);
  const listed = await daemon.run("schedule");
  expect([listed.code, listed.err]).toEqual([0, ""]);
  expect(listed.out).toMatch(
    /standup +\d{4}-.+0 9 \* \* 1-5 Europe\/Berlin +telegram:default -100123/,
  );
  expect(listed.out).toContain("prompt: Ask who is blocked.");

  const often = ["often", "telegram", chat, "Tea?", "--cron", "* * * * *"];
  expect((await daemon.run("schedule", "add", ...often)).code).toBe(0);
  expect((await daemon.run("schedule", "pause", "often")).out).toBe("paused: often\n");
  expect((await daemon.run("schedule")).out).toMatch(/often +paused/);
  const at = new Date(Date.now() + 4_000).toISOString();
  const added = await daemon.run("schedule", "add", "tea", "telegram", chat, "Tea?", "--at", at);
  expect([added.code, added.err, added.out]).toEqual([0, "", "added: tea\n"]);
  await daemon.kill();
  await daemon.start();
  await expect.poll(isReady, { timeout: 60_000 }).toBe(true);
  await server.until(() => server.world.answers(rooms.ann).length === 1, "the text");
  await daemon.kill();
  await daemon.startHere();
  await expect.poll(isReady, { timeout: 60_000 }).toBe(true);
  await daemon.quiet();
  // Killed right after the platform took it, its one row may be in doubt, and is then sent again.
  const { outbox } = await daemon.get<{ outbox: { doubts: number }[] }>("/api/outbox?state=sent");
  expect(outbox).toHaveLength(1);
  expect(server.world.answers(rooms.ann)).toHaveLength(1 + (outbox[0]?.doubts ?? 0));
  expect(await entries()).toMatchObject([{ name: "standup" }, { paused: true, next: null }]);
  expect((await daemon.run("schedule", "resume", "often")).out).toBe("resumed: often\n");
  expect((await daemon.run("schedule", "remove", "often")).out).toBe("removed: often\n");

  const soonest = new Date(Date.now() + 5_000).toISOString();
  const lost = ["lost", "telegram", "-100777", "Tea?", "--at", soonest];
  expect((await daemon.run("schedule", "add", ...lost)).code).toBe(0);
  const unsaid = async () => (await daemon.get<{ unsaid: unknown[] }>("/api/status")).unsaid;
  await expect.poll(unsaid, { timeout: 60_000 }).toMatchObject([
    {
      name: "lost",
      origin: "added",
      why: expect.stringContaining('it is unknown whether "-100777"'),
    },
  ]);
  expect((await daemon.run("status")).out).toMatch(
    /unsaid +lost of \d{4}-.+it is unknown whether "-100777"/,
  );
  expect((await daemon.run("schedule")).out).toMatch(/lost +over(.|\n)+failed: .*"-100777"/);
  const removed = await daemon.run("schedule", "remove", "lost", "--json");
  expect([removed.code, JSON.parse(removed.out)]).toEqual([0, { name: "lost", done: true }]);
  expect(await unsaid()).toEqual([]);

  const refusals = [
    [["remove", "often"], 1, "no entry of the schedule has this name"],
    [["pause", "often"], 1, "no entry of the schedule has this name"],
    [["remove", "standup"], 2, "it is in the config file"],
    [["add", "standup", ...often.slice(1)], 2, "another entry has this name"],
    [["add", "x", "telegram", chat, "Tea?", "--cron", "1 2 3"], 2, "expected five fields"],
    [
      ["add", "x", "telegarm", chat, "Tea?", "--cron", "* * * * *"],
      2,
      'Cannot add the entry: no account "telegarm:default" is configured. Use one of telegram:default',
    ],
    [
      ["add", "x", "telegram:work", chat, "Tea?", "--cron", "* * * * *"],
      2,
      'no account "telegram:work" is configured. Use one of telegram:default',
    ],
    [
      ["add", "x", "telegram", chat, "Tea?", "--cron", "* * * * *", "--agent", "mian"],
      2,
      'no agent is called "mian". Use one of main',
    ],
    [["add", "x", "telegram", chat, "Tea?"], 2, "expected either cron or at"],
  ] as const;
  for (const [args, code, why] of refusals) {
    const refused = await daemon.run("schedule", ...args);
    expect([refused.code, refused.out]).toEqual([code, ""]);
    expect(refused.err.replace(/\s+/g, " ")).toContain(why);
  }
});
