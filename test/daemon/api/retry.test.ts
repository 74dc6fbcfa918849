/**
 * `earshot channels retry` and `earshot quarantine` beside a running daemon: what is listed, tried
 * again and given up, and with which exit code.
 */
import { expect, test } from "vitest";
import { leaveFixed, leavePoison } from "../../support/runtime/quarantined.ts";
import { telegramDaemon } from "../../support/telegram/telegram-daemon.ts";

const config = {
  agents: { list: [{ id: "main", driver: { kind: "scripted" } }] },
  messages: { inbound: { debounceMs: 50, debounceMaxMs: 200 } },
  stream: { mode: "off" },
};
interface Status {
  readonly connections: readonly { channel: string; state: string; connects: number }[];
}
interface Row {
  readonly seq: number;
  readonly tries: number;
  readonly key: string;
}

test("a refused token halts the account until somebody has it tried again", async () => {
  const daemon = await telegramDaemon(config);
  const { server, rooms } = daemon;
  const state = async () => {
    const { connections } = await daemon.get<Status>("/api/status");
    return connections.find(({ channel }) => channel === "telegram")?.state;
  };
  server.faults.add("getMe", { kind: "refuse", status: 401 }, 2);
  await daemon.startHere();
  await expect.poll(state, { timeout: 60_000 }).toBe("halted");
  expect(server.calls("getMe")).toHaveLength(1);
  expect((await daemon.run("quarantine")).out.trim()).toBe("no quarantined events");

  // Refused again: one more login, and it stays where it is.
  const refused = await daemon.run("channels", "retry", "telegram");
  expect([refused.code, refused.out.trim()]).toEqual([0, "tried again: telegram/default"]);
  await expect.poll(() => server.calls("getMe").length, { timeout: 60_000 }).toBe(2);
  await expect.poll(state).toBe("halted");

  const taken = await daemon.run("channels", "retry", "telegram", "default");
  expect(taken.code).toBe(0);
  await expect.poll(state, { timeout: 60_000 }).toBe("live");
  daemon.say("ann", "hello");
  await server.until(() => server.world.answers(rooms.ann).length === 1, "the answer");

  const live = await daemon.run("channels", "retry", "telegram");
  expect([live.code, live.out]).toEqual([1, ""]);
  expect(live.err).toContain("no matching account is halted");
  expect((await daemon.run("channels", "retry", "telegram", "nobody")).code).toBe(1);
  expect((await daemon.run("channels", "--json")).code).toBe(0);
});

test("events in quarantine are listed, tried again and dropped", async () => {
  const daemon = await telegramDaemon(config);
  const { server, rooms, stateDir } = daemon;
  /** Of the one that breaks each time. */
  const key = "agent:main:telegram:group:-100";
  await leaveFixed(stateDir, "agent:main:main", {
    channel: "telegram",
    id: "m1",
    text: "are you there?",
    chat: { id: rooms.ann.chat.id.toString(), kind: "direct" },
    author: { id: rooms.ann.chat.id.toString(), name: "Ann" },
  });
  await leavePoison(stateDir, key);
  await daemon.start();
  const rows = async () => {
    const { out } = await daemon.run("quarantine", "list", "--json");
    return JSON.parse(out) as Row[];
  };
  /** The same, without a process for each look. */
  const listed = async () =>
    (await daemon.get<{ quarantined: Row[] }>("/api/quarantine")).quarantined;
  await expect.poll(listed, { timeout: 60_000 }).toHaveLength(2);
  const row = (await rows()).find((one) => one.key !== key);
  const table = (await daemon.run("quarantine")).out;
  expect(table).toMatch(new RegExp(`${row?.seq} +2023-11-14 22:13:20 +0 +agent:main:main`));
  expect(table).toContain("the step threw");
  expect((await daemon.run("status")).out).toContain(`row ${row?.seq}: the step threw`);

  const again = await daemon.run("quarantine", "retry", String(row?.seq));
  expect([again.code, again.out.trim()]).toEqual([0, `tried again: row ${row?.seq}`]);
  await server.until(() => server.world.answers(rooms.ann).length === 1, "the answer");
  expect((await daemon.run("quarantine", "retry", String(row?.seq))).code).toBe(1);

  // One that breaks each time is back with each try, also after a kill.
  expect(await rows()).toMatchObject([{ key, tries: 0 }]);
  await daemon.run("quarantine", "retry", String((await listed())[0]?.seq));
  await expect.poll(listed, { timeout: 60_000 }).toMatchObject([{ key, tries: 1 }]);
  await daemon.kill("SIGKILL");
  await daemon.startHere();
  const [back] = await rows();
  expect(back).toMatchObject({ key, tries: 1 });
  expect((await daemon.run("quarantine", "drop", String(back?.seq))).code).toBe(0);
  expect((await daemon.run("quarantine", "drop", String(back?.seq))).code).toBe(1);
  expect((await daemon.run("quarantine", "drop", "the first")).code).toBe(2);
  expect(await listed()).toEqual([]);
  expect(server.world.answers(rooms.ann)).toHaveLength(1);
});
