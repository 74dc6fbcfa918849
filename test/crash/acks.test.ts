/**
 * kill -9 while messages have reactions on them, at random times, with Telegram there or away. When
 * the daemon is back and has done its work, Telegram shows no reaction on any message, and gets no
 * further typing indicators.
 */
import { expect, test } from "vitest";
import { rounds } from "../support/rounds.ts";
import { telegramDaemon } from "../support/telegram/telegram-daemon.ts";
import { chance } from "./world.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const kills = rounds(1, 4);
const hasEye = ({ reaction }: { readonly reaction?: unknown }) =>
  Array.isArray(reaction) && reaction.length > 0;
const pause = (ms: number) => new Promise((go) => setTimeout(go, ms));

const runs = Array.from({ length: 40 }, (_, n) => ({
  afterMs: (n * 137) % 900,
  steps: n % 5 === 4 ? [{ error: "boom" }] : [{ text: n % 5 === 3 ? "NO_REPLY" : `answer ${n}` }],
}));
const config = {
  agents: { list: [{ id: "main", driver: { kind: "scripted", runs } }] },
  session: { dmScope: "per-peer" },
  messages: { inbound: { debounceMs: 100, debounceMaxMs: 400 }, queue: { debounceMs: 100 } },
  typing: { intervalMs: 300 },
};

test("kills at random instants leave no eye and nobody typing", async () => {
  const random = chance(seed);
  const reported = `seed ${seed}`;
  const daemon = await telegramDaemon(config);
  const { server } = daemon;
  let said = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    await daemon.start();
    const eyes = () => server.calls("setMessageReaction").filter(hasEye).length;
    const heard = eyes();
    for (let line = 0; line < 4; line += 1) {
      said += 1;
      daemon.say(random() < 0.5 ? "ann" : "bob", `line ${said}`);
      await pause(random() * 200);
    }
    // Something is under way, and a new eye is on it: else a kill could leave none.
    await server.until(() => eyes() > heard, reported);
    await pause(random() * 1_200);
    const isAway = random() < 0.5;
    if (isAway) await server.down();
    await pause(random() * 300);
    await daemon.kill();
    if (isAway) await server.up();
  }
  await daemon.startHere();
  const rows = () => daemon.get("/api/outbox?state=pending,sending,waiting,in-doubt,dead,expired");
  await server
    .until(() => daemon.reacted().length === 0, `no eye is left, ${reported}`)
    .catch(async (error: Error) => {
      const status = JSON.stringify([await daemon.get("/api/status"), await rows()]);
      throw new Error(`${error.message}: ${daemon.reacted()} ${status}`);
    });
  await daemon.quiet();
  expect(daemon.reacted(), reported).toEqual([]);
  const typed = server.calls("sendChatAction").length;
  expect(typed, reported).toBeGreaterThan(0);
  await pause(1_500);
  expect(server.calls("sendChatAction"), reported).toHaveLength(typed);
  // It still works: who speaks sees an eye that comes and goes, unless the answer is there before it.
  const eyes = () => server.calls("setMessageReaction").filter(hasEye).length;
  const before = eyes();
  for (let words = 0; words < 10 && eyes() === before; words += 1) {
    daemon.say("ann", "still there?");
    await daemon.quiet();
  }
  expect(eyes(), reported).toBeGreaterThan(before);
  expect(daemon.reacted(), reported).toEqual([]);
});
