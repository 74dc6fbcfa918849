/**
 * What changes in a Telegram chat after it was said, on a daemon that is killed before the turn has
 * ended: the turn that is run again reads what is there now, once.
 */
import { type TestContext, test } from "vitest";
import { workersInTurn } from "../../../support/rounds.ts";
import { type TelegramDaemon, telegramDaemon } from "../../../support/telegram/telegram-daemon.ts";

/** Answers with what it was shown: what is new, and the lines about edits and reactions. */
const echo = `
import { createInterface } from "node:readline";
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { said, prompt } = JSON.parse((await lines.next()).value);
const notes = prompt.split("\\n").filter((line) => /reacted|changed this message/.test(line));
await new Promise((go) => setTimeout(go, said.startsWith("slow") ? 2500 : 0));
const counts = [notes.filter((line) => line.includes("reacted")).length, notes.length];
console.log(JSON.stringify({ type: "text", text: "read " + said + "; notes " + counts }));
`;

async function start(workers: number, context: TestContext): Promise<TelegramDaemon> {
  const config = {
    agents: {
      defaults: {
        driver: {
          kind: "command",
          command: process.execPath,
          args: ["--input-type=module", "-e", echo],
          tools: false,
        },
      },
    },
    messages: { inbound: { debounceMs: 1_000, debounceMaxMs: 2_000 } },
    workers: { count: workers },
  };
  const daemon = await telegramDaemon(config, context.onTestFinished);
  await daemon.start();
  return daemon;
}

test.concurrent.for(workersInTurn(0))(
  "edits and reactions before a kill -9, workers %i",
  { timeout: 90_000 },
  async (workers, context) => {
    const { expect } = context;
    const daemon = await start(workers, context);
    const { world } = daemon.server;
    const room = daemon.rooms.ann;
    const ann = world.users.get(room.chat.id);
    if (ann === undefined) throw new Error("Ann is missing");
    const texts = () => world.answers(room).map(({ text }) => text);
    const heard = () => expect.poll(() => world.queue.length, { timeout: 10_000 }).toBe(0);

    const waiting = world.say(room, ann, "waiting");
    world.edit(room, waiting, "waiting, edited");
    await heard();
    await daemon.kill();
    await daemon.start();
    await daemon.quiet();
    expect(texts()).toEqual(["read waiting, edited; notes 0,0"]);

    const running = world.say(room, ann, "slow");
    const runs = async () =>
      (await daemon.get<{ turns: { running: number } }>("/api/status")).turns;
    await expect.poll(runs, { timeout: 10_000 }).toMatchObject({ running: 1 });
    world.edit(room, running, "slow, edited");
    const [answer] = world.answers(room);
    world.post({
      message_reaction: {
        chat: room.chat,
        message_id: answer?.message_id,
        user: ann,
        date: Math.floor(Date.now() / 1_000),
        old_reaction: [],
        new_reaction: [{ type: "emoji", emoji: "👍" }],
      },
    });
    await heard();
    await daemon.kill();
    await daemon.start();
    await daemon.quiet();
    expect(texts().slice(1)).toEqual([expect.stringMatching(/^read slow, edited; notes/)]);
    world.say(room, ann, "next");
    await heard();
    await daemon.quiet();
    world.say(room, ann, "last");
    await heard();
    await daemon.quiet();
    // The reaction is shown by one of the turns after it, and by no other; the edit was read as text.
    const notes = texts().map((text = "") => text.split("notes ")[1]);
    expect(notes.filter((counts) => counts === "1,1")).toHaveLength(1);
    expect(notes.filter((counts) => counts === "0,0")).toHaveLength(3);
    expect(texts().slice(2)).toEqual([
      expect.stringMatching(/^read next;/),
      expect.stringMatching(/^read last;/),
    ]);
  },
);
