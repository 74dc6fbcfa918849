/**
 * `earshot send` and `POST /api/send` beside a running daemon, on Telegram: what is sent, in which
 * order, once, over kill -9, and what is refused.
 */
import { expect, test } from "vitest";
import { type TelegramDaemon, telegramDaemon } from "../../support/telegram/telegram-daemon.ts";

const config = {
  agents: { list: [{ id: "main", driver: { kind: "scripted" } }] },
  stream: { mode: "off" },
};
interface Taken {
  readonly id: string;
  readonly key: string;
  readonly parts: readonly string[];
}

test("a text reaches the chat once, whatever is repeated and killed, and refusals are said in words", async () => {
  const daemon = await telegramDaemon(config);
  const { server, rooms } = daemon;
  const chat = String(rooms.ann.chat.id);
  const texts = () =>
    server.world.answers(rooms.ann).map((message) => ("text" in message ? message.text : ""));
  await daemon.start();
  const isReady = async () => (await daemon.get<{ ready: boolean }>("/api/status")).ready;
  await expect.poll(isReady, { timeout: 60_000 }).toBe(true);
  const sent = await daemon.run("send", "telegram", chat, "--id", "lunch", "Lunch?");
  expect([sent.code, sent.err]).toEqual([0, ""]);
  expect(sent.out).toMatch(/^1 message in agent:main:main: text-\w+:0\n$/);
  await server.until(() => texts().length === 1, "the text");

  // Orders are taken while the platform answers nothing, the process ends, and they are repeated.
  server.faults.add("sendMessage", { kind: "refuse", status: 429, retryAfter: 2 }, 1);
  const orders = Array.from({ length: 12 }, (_, at) => ({
    id: `n${at}`,
    channel: "telegram",
    chat: { id: chat },
    text: `number ${at}`,
  }));
  const first: Taken[] = [];
  for (const order of orders) first.push((await daemon.post<Taken>("/api/send", order)) as Taken);
  await daemon.kill();
  await daemon.startHere();
  await expect.poll(isReady, { timeout: 60_000 }).toBe(true);
  for (const [at, order] of orders.entries())
    expect(await daemon.post<Taken>("/api/send", order)).toEqual(first[at]);
  await daemon.quiet();
  expect(texts()).toEqual(["Lunch?", ...orders.map(({ text }) => text)]);

  const repeated = await daemon.run("send", "telegram", chat, "--id", "lunch", "--json", "Lunch?");
  expect(JSON.parse(repeated.out)).toMatchObject({ id: "lunch", turn: false });
  const other = await daemon.run("send", "telegram", chat, "--id", "lunch", "Dinner?");
  expect([other.code, other.out]).toEqual([2, ""]);
  expect(other.err).toContain("this id was used for another text or chat");
  const { lines } = await daemon.get<{ lines: { role: string; text: string }[] }>(
    `/api/sessions/${encodeURIComponent("agent:main:main")}`,
  );
  expect(lines.map(({ role, text }) => `${role}: ${text}`)).toEqual(
    texts().map((text) => `assistant: ${text}`),
  );
  await speaksUp(daemon);
});

/** Beside the same daemon. */
async function speaksUp(daemon: TelegramDaemon): Promise<void> {
  const { server, rooms } = daemon;
  const chat = String(rooms.ann.chat.id);
  const said = server.world.answers(rooms.ann).length;
  const turn = await daemon.run("send", "telegram:default", chat, "--turn", "Ask about the exam.");
  expect([turn.code, turn.err, turn.out]).toEqual([
    0,
    "",
    "the agent will speak up in agent:main:main\n",
  ]);
  await server.until(() => server.world.answers(rooms.ann).length === said + 1, "the answer");

  const refusals = [
    [["telegram:work", chat, "x"], 'no account "telegram:work" is configured'],
    [["slack", chat, "x"], 'no account "slack:default" is configured'],
    [["telegram", "-1001234567890", "x"], "Say which with kind (--kind)"],
    [["telegram", chat, "--agent", "nobody", "x"], 'no agent is called "nobody"'],
    [["telegram", chat, " "], "expected some text"],
    [["telegram", chat, "--turn", "--reply-to", "5", "x"], "a turn replies to no message"],
  ] as const;
  for (const [args, why] of refusals) {
    const { code, out, err } = await daemon.run("send", ...args);
    expect([code, out]).toEqual([2, ""]);
    expect(err.replace(/\s+/g, " ")).toContain(why);
  }
}
