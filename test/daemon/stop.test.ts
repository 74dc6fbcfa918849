/**
 * SIGTERM while people are being answered: the process ends in the documented time, whatever hangs,
 * and the next start finishes what was not finished, once.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { telegramDaemon } from "../support/telegram/telegram-daemon.ts";

const pause = (ms: number) => new Promise((go) => setTimeout(go, ms));

/** Its first turn about something slow takes a minute. */
const agent = `export default async function* (turn) {
  if (turn.said.includes("slow") && turn.attempt === 1) await new Promise((d) => setTimeout(d, 60000));
  yield { type: "text", text: "about " + turn.said };
}`;
/** Has a timer of its own, and is busy for a second whenever a file says so. */
const plugin = `import { existsSync } from "node:fs";
export default { name: "busy", hooks: { "turn.started": () => {} } };
setInterval(() => {
  const until = Date.now() + 1500;
  if (existsSync(process.env.HOME + "/busy")) while (Date.now() < until);
}, 20);`;

async function start() {
  const daemon = await telegramDaemon({
    agents: { list: [{ id: "main", driver: { kind: "module", module: "./agent.mjs" } }] },
    plugins: ["./busy.mjs"],
    session: { dmScope: "per-peer" },
    messages: { inbound: { debounceMs: 20 } },
  });
  writeFileSync(join(daemon.stateDir, "agent.mjs"), agent);
  writeFileSync(join(daemon.stateDir, "busy.mjs"), plugin);
  await daemon.start();
  const texts = (who: "ann" | "bob") =>
    [...daemon.rooms[who].messages.values()].flatMap(({ from, text }) =>
      from?.is_bot === true ? [text] : [],
    );
  return { daemon, texts };
}

test("SIGTERM ends a daemon whose platform and agent hang, and the next start answers once", async () => {
  const { daemon, texts } = await start();
  const { server } = daemon;
  server.faults.add("sendMessage", { kind: "hang" });
  daemon.say("ann", "hello");
  await server.until(() => server.calls("sendMessage").length > 0, "the send that hangs");
  daemon.say("bob", "slow one");
  const running = async () =>
    (await daemon.get<{ turns: { running: number } }>("/api/status")).turns.running;
  await expect.poll(running, { timeout: 20_000 }).toBe(1);
  const since = performance.now();
  expect(await daemon.kill("SIGTERM")).toBe(0);
  const tookMs = performance.now() - since;
  // Ten seconds for turns and sends; a busy machine takes its time with the rest.
  expect(tookMs).toBeGreaterThan(9_500);
  expect(tookMs).toBeLessThan(14_000);

  await daemon.start();
  await server.until(() => texts("bob").length > 0, "the answer to Bob");
  await daemon.quiet();
  expect(texts("bob")).toEqual(["about slow one"]);
  expect(texts("ann")).toEqual(["about hello"]);

  // Goes on with the daemon that runs by now, as each start costs as much as all of the rest.
  await secondSignal(daemon);
});

/** A second signal ends the process also if both come while it is busy. */
async function secondSignal(daemon: Awaited<ReturnType<typeof start>>["daemon"]): Promise<void> {
  const typed = daemon.server.calls("sendChatAction").length;
  daemon.say("bob", "slow two");
  await expect.poll(() => daemon.server.calls("sendChatAction").length).toBeGreaterThan(typed);
  writeFileSync(join(daemon.stateDir, "busy"), "");
  await pause(200);
  const since = performance.now();
  const ended = daemon.kill("SIGTERM");
  await pause(300);
  await daemon.kill("SIGTERM");
  expect(await ended).toBe("SIGTERM");
  expect(performance.now() - since).toBeLessThan(3_000);
}
