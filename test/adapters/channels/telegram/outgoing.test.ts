/**
 * Files, buttons and polls of an agent in Telegram: the Bot API on a socket, the real channel and
 * runtime. A press of a button is a message of the person who pressed.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { User } from "@grammyjs/types";
import { describe, expect, test } from "vitest";
import { openOutgoingFiles } from "../../../../src/adapters/media/outgoing-files.ts";
import { workersInTurn } from "../../../support/rounds.ts";
import { tempFolder } from "../../../support/runtime/media-service.ts";
import { sampleFiles } from "../../../support/servers/media.ts";
import { telegramDaemon } from "../../../support/telegram/telegram-daemon.ts";
import { openTelegramRooms } from "../../../support/telegram/telegram-rooms.ts";

const send = (input: object) => ({ tool: "channel_send", input });

async function open(workers: number, steps: readonly object[], config: object = {}) {
  const workspace = tempFolder();
  writeFileSync(join(workspace, "chart.png"), sampleFiles.png);
  writeFileSync(join(workspace, "note.ogg"), sampleFiles.ogg);
  writeFileSync(join(workspace, "list.txt"), "milk");
  const stateDir = tempFolder();
  let ids = 0;
  const outgoing = openOutgoingFiles({
    folder: join(stateDir, "outgoing"),
    stateDir,
    closed: () => [],
    now: () => Date.now(),
    unique: () => `f${++ids}`,
    folderOf: () => workspace,
  });
  return openTelegramRooms({ workers, outgoing, runs: [{ steps }], config: { ...config } });
}

const calls = (rooms: Awaited<ReturnType<typeof open>>) =>
  rooms.server.world.calls
    .map(({ method }) => method)
    .filter((method) => /^send(?!ChatAction)/.test(method));

const presses = ({ lines }: Awaited<ReturnType<typeof open>>) =>
  lines.flatMap((line) => ("decision" in line && String(line.id).includes("#") ? [line] : []));

const question = [
  send({ text: "*Which?*", choices: { options: ["tea", "coffee"] } }),
  { tool: "skip_response", input: {} },
];

describe("what an agent sends", () => {
  test.each(workersInTurn(1))(
    "each kind of file has its method, in order, with its caption, as a reply, workers %i",
    async (workers) => {
      const rooms = await open(workers, [
        { text: "look" },
        send({ text: "**sales**", media: { source: "chart.png" } }),
        send({ media: { source: "note.ogg", kind: "voice" } }),
        send({ media: { source: "list.txt", name: "shopping.txt" } }),
        { text: "that is all" },
      ]);
      const asked = rooms.say("ann", "@scout_bot show me");
      const [look, photo, voice, file, end] = await rooms.answers(5);
      expect(calls(rooms)).toEqual([
        ...["sendMessage", "sendPhoto", "sendVoice", "sendDocument", "sendMessage"],
      ]);
      expect(photo).toMatchObject({ caption: "sales" });
      expect(voice).toHaveProperty("voice");
      expect(file).toMatchObject({ document: { file_name: "shopping.txt" } });
      expect([look?.text, end?.text]).toEqual(["look", "that is all"]);
      expect(look?.reply_to_message?.message_id).toBe(asked.message_id);
      const [bytes] = rooms.server.world.files.values();
      expect(bytes).toEqual(sampleFiles.png);
    },
  );

  test.each(workersInTurn(0))(
    "an answer that is too long for a group is its beginning and a document, workers %i",
    async (workers) => {
      const lines = Array.from({ length: 2_500 }, (_, n) => `Line ${n} of **many** lines.`);
      const whole = lines.join("\n");
      const stream = { groupMaxChars: 6_000, longAnswers: "file" };
      const rooms = await open(workers, [{ text: whole }], { stream });
      rooms.say("ann", "@scout_bot tell me all");
      const answers = await rooms.answers(3);
      expect(calls(rooms)).toEqual(["sendMessage", "sendMessage", "sendDocument"]);
      const [first, second, file] = answers;
      expect(`${first?.text}${second?.text}`.length).toBeLessThanOrEqual(6_000);
      expect(second?.text).toMatch(/Line \d+ of many lines\.$/);
      expect(file).toMatchObject({
        caption: "[This answer is longer than is allowed here. This file has all of it.]",
        document: { file_name: "answer.md" },
      });
      const [bytes] = rooms.server.world.files.values();
      expect(Buffer.from(bytes ?? []).toString()).toBe(whole);
    },
  );

  test.each(workersInTurn(2))(
    "a pressed button is a line of who pressed, as a reply to the question, workers %i",
    async (workers) => {
      const rooms = await open(workers, question);
      rooms.say("ann", "@scout_bot what is there?");
      const [asked] = await rooms.answers(1);
      expect(asked).toMatchObject({
        text: "Which?",
        reply_markup: { inline_keyboard: [[{ text: "tea" }], [{ text: "coffee" }]] },
      });
      const { world } = rooms.server;
      world.press(asked as object, rooms.people.bob as User, "earshot:1", "4382bfdwdsb323b2d9");
      const [, reply] = await rooms.answers(2);
      expect(reply).toMatchObject({
        text: "ok",
        reply_to_message: { message_id: asked?.message_id },
      });
      expect(rooms.prompts().at(-1)).toMatch(/Bob[^\n]*(?:\n[^\n]*)?coffee/);
      await rooms.until(() => rooms.server.calls("answerCallbackQuery").length === 1, "an answer");
      expect(rooms.server.calls("answerCallbackQuery")).toMatchObject([
        { callback_query_id: "4382bfdwdsb323b2d9", text: "coffee" },
      ]);
      expect(presses(rooms)).toMatchObject([
        { id: `${asked?.message_id}#4382bfdwdsb323b2d9`, decision: "engage", rule: "reply" },
      ]);
    },
  );
});

test("the same press twice is one line; old and foreign ones only get an answer", async () => {
  const rooms = await open(0, question);
  rooms.say("ann", "@scout_bot what is there?");
  const [asked] = await rooms.answers(1);
  const { world } = rooms.server;
  const bob = rooms.people.bob as User;
  world.press(asked as object, bob, "earshot:0", "1");
  world.press(asked as object, bob, "earshot:0", "1");
  world.press(asked as object, bob, "earshot:9", "2");
  world.press(asked as object, bob, "other program", "3");
  const { chat, message_id } = asked as { chat: object; message_id: number };
  world.press({ chat, message_id, date: 0 }, bob, "earshot:0", "4");
  const answers = () => rooms.server.calls("answerCallbackQuery");
  await rooms.until(() => answers().length === 5, "five answers");
  await rooms.answers(2);
  const closed = "This question is no longer open.";
  expect(answers().map(({ text }) => text)).toEqual(["tea", "tea", closed, closed, closed]);
  expect(
    presses(rooms)
      .map(({ decision }) => decision)
      .sort(),
  ).toEqual(["duplicate", "engage"]);
});

test("a press in a group that is not admitted is denied like a line", async () => {
  const rooms = await open(0, question);
  const { world } = rooms.server;
  const bob = rooms.people.bob as User;
  const cellar = world.group("Cellar", [bob]);
  const inline_keyboard = [[{ text: "tea", callback_data: "earshot:0" }]];
  const foreign = world.build(cellar, world.bot, {
    text: "Which?",
    reply_markup: { inline_keyboard },
  });
  world.press(foreign, bob, "earshot:0", "5");
  await rooms.until(() => presses(rooms).length === 1, "a decision");
  expect(presses(rooms)).toMatchObject([{ decision: "denied" }]);
});

test("a poll is one; a picture that is none for Telegram is a document", async () => {
  const rooms = await open(0, [
    send({ text: "When?", choices: { options: ["now", "later"], poll: true } }),
    send({ text: "plan", media: { source: "chart.png" } }),
    { tool: "skip_response", input: {} },
  ]);
  rooms.server.world.takesPhoto = () => false;
  rooms.say("ann", "@scout_bot go");
  const [poll, file] = await rooms.answers(2);
  expect(poll).toMatchObject({ poll: { question: "When?", options: [{ text: "now" }, {}] } });
  expect(file).toMatchObject({ document: {}, caption: "plan" });
  expect(calls(rooms)).toEqual(["sendPoll", "sendPhoto", "sendDocument"]);
});

test("a poll that Telegram does not take there is a text", async () => {
  const rooms = await open(0, [
    send({ text: "When?", choices: { options: ["now", "later"], poll: true } }),
    { tool: "skip_response", input: {} },
  ]);
  rooms.server.faults.add("sendPoll", { kind: "refuse", status: 400 });
  rooms.say("ann", "@scout_bot go");
  const [asked] = await rooms.answers(1);
  expect(asked?.text).toMatch(/When\?.*now.*later/s);
  expect(calls(rooms)).toEqual(["sendPoll", "sendMessage"]);
});

test("kill -9 while a file is being sent keeps the order, and only the file is in doubt", async () => {
  const agent = join(tempFolder(), "agent.mjs");
  const daemon = await telegramDaemon({
    agents: { list: [{ id: "main", driver: { kind: "module", module: agent } }] },
    messages: { inbound: { debounceMs: 50 } },
  });
  const { server } = daemon;
  const folder = join(daemon.stateDir, "agents", "main");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "chart.png"), sampleFiles.png);
  writeFileSync(
    agent,
    `export default async function* () {
      yield { type: "text", text: "before" };
      yield { type: "media", source: "chart.png", caption: "the chart" };
      yield { type: "text", text: "after" };
    }`,
  );
  await daemon.start();
  server.faults.add("sendPhoto", { kind: "hang", done: true });
  daemon.say("ann", "hi");
  const shown = () =>
    server.world.answers(daemon.rooms.ann).map(({ text, caption }) => text ?? caption);
  await server.until(() => shown().length === 2, "the file");
  await daemon.kill();
  expect(shown()).toEqual(["before", "the chart"]);
  writeFileSync(join(folder, "chart.png"), "changed meanwhile");
  await daemon.start();
  await server.until(() => shown().includes("after"), "the rest");
  // Telegram cannot be asked whether it has the file: it is in doubt, and sent once more.
  expect(shown()).toEqual(["before", "the chart", "the chart", "after"]);
  expect([...server.world.files.values()]).toEqual([sampleFiles.png, sampleFiles.png]);
});
