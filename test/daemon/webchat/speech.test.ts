/**
 * Answers as speech: after the text, in its order, where the channel can, and never in its way.
 */
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { TelegramChats } from "../../../src/adapters/channels/telegram/chats.ts";
import { createTelegramClient } from "../../../src/adapters/channels/telegram/client.ts";
import { createTelegramOutbound } from "../../../src/adapters/channels/telegram/outbound.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { createSpeech } from "../../../src/daemon/webchat/speech.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import type { ChannelOutbound } from "../../../src/domain/ports/index.ts";
import {
  defaultSessionSettings,
  type Session,
  type TtsLevel,
} from "../../../src/domain/session.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import {
  never,
  openService,
  program,
  settingsOf,
  tempFolder,
} from "../../support/runtime/media-service.ts";
import { sampleFiles } from "../../support/servers/media.ts";
import { sampleToken, startTelegramServer } from "../../support/servers/telegram.ts";

/** Writes an Ogg file that holds what it gets. */
const say = program(
  "let text = ''; process.stdin.on('data', (part) => text += part).on('end', () => " +
    "require('fs').writeFileSync(process.argv[1], 'OggS' + text))",
);
const speech = { kind: "command", ...say };
const key = "agent:main:telegram:group:-1";
const line = (text: string, more: object = {}): StreamLine => ({
  t: 0,
  out: "send",
  key,
  channel: "telegram",
  account: "default",
  chat: "-1",
  thread: "7",
  replyTo: null,
  text,
  id: "t1:0",
  status: "sent",
  ...more,
});
const spoken = () => readdirSync(tmpdir()).filter((name) => name.startsWith("earshot-speech-"));

describe("the program that speaks", () => {
  test("is given the text and writes a file, of which nothing is left", async () => {
    const { service } = openService();
    const file = await service.speak("good morning", settingsOf({ speech }), never);
    expect(file).toMatchObject({ mime: "audio/ogg", name: "answer.ogg" });
    expect(Buffer.from(file?.data ?? []).toString()).toBe("OggSgood morning");
    expect(await service.speak("x", settingsOf({}), never)).toBeNull();
  });

  test.each([
    ["fails", "process.exit(3)", /exited with code 3/],
    ["writes nothing", "", /wrote no file/],
    [
      "writes too much",
      "require('fs').writeFileSync(process.argv[1], 'x'.repeat(2000))",
      /more than/,
    ],
    ["hangs", "setInterval(() => {}, 1000)", /took longer than 300 ms/],
  ])("that %s says why, and leaves nothing behind", async (what, code, why) => {
    // Where no other test file speaks at the same time.
    vi.stubEnv("TMPDIR", tempFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { service } = openService();
    const timeoutMs = what === "hangs" ? 300 : 10_000;
    const broken = { kind: "command", ...program(code) };
    const settings = settingsOf({ speech: broken, maxBytes: 1_000, timeoutMs });
    await expect(service.speak("x", settings, never)).rejects.toThrow(why);
    expect(spoken()).toEqual([]);
  });
});

function openSpeaker(
  media: object,
  sendMedia?: ChannelOutbound["sendMedia"],
  tts: () => TtsLevel | null = () => null,
) {
  const logs: string[] = [];
  const outbound = { ...(sendMedia === undefined ? {} : { sendMedia }) } as ChannelOutbound;
  const speaker = createSpeech({
    clock: createSystemClock(),
    log: (_level, event) => void logs.push(event),
    config: () => parseConfig({ media }),
    media: openService().service,
    directory: { outbound: () => outbound },
    session: async () => ({ settings: { ...defaultSessionSettings, tts: tts() } }) as Session,
  });
  return { speaker: speaker.line, stop: speaker.stop, logs };
}

describe("answers", () => {
  test("are said in their order, to where the text went, and nothing else is said", async () => {
    const said: string[] = [];
    const { speaker } = openSpeaker({ speech }, async ({ route, data, id }) => {
      said.push(`${route.chat.id}/${route.thread?.id} ${id} ${Buffer.from(data).toString()}`);
      return { messageIds: ["1"] };
    });
    for (const streamLine of [
      line("one"),
      line("a draft", { draft: true }),
      line("a thought", { aside: "reasoning" }),
      line("never arrived", { status: "expired" }),
      line("sales\n[image: chart.png]", { media: "image" }),
      line("Which?\n1. tea", { choices: ["tea"] }),
      line("two", { id: "t1:1" }),
    ])
      speaker(streamLine);
    await expect.poll(() => said.length, { timeout: 60_000 }).toBe(2);
    expect(said).toEqual(["-1/7 t1:0:speech OggSone", "-1/7 t1:1:speech OggStwo"]);
  });

  test("are text only while the session says so", async () => {
    const said: string[] = [];
    let level: TtsLevel | null = "off";
    const sendMedia: ChannelOutbound["sendMedia"] = async ({ id }) => {
      said.push(id);
      return { messageIds: ["1"] };
    };
    const { speaker, logs } = openSpeaker({ speech }, sendMedia, () => level);
    speaker(line("one"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    level = "on";
    speaker(line("two", { id: "t1:1" }));
    await expect.poll(() => said, { timeout: 60_000 }).toEqual(["t1:1:speech"]);
    expect(logs).toEqual([]);
  });

  test("are text only where nothing speaks, or the channel cannot send files", async () => {
    let asked = 0;
    const silent = openSpeaker({}, async () => {
      asked += 1;
      return { messageIds: [] };
    });
    silent.speaker(line("one"));
    const deaf = openSpeaker({ speech: { kind: "command", ...program("process.exit(1)") } });
    deaf.speaker(line("one"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([asked, silent.logs, deaf.logs]).toEqual([0, [], []]);
  });

  test("a program that fails costs one sound, and the next is said", async () => {
    const said: string[] = [];
    const failing = program(
      "let text = ''; process.stdin.on('data', (part) => text += part).on('end', () => " +
        "text === 'one' ? process.exit(1) : require('fs').writeFileSync(process.argv[1], 'OggS'))",
    );
    const { speaker, logs } = openSpeaker(
      { speech: { kind: "command", ...failing } },
      async ({ id }) => {
        said.push(id);
        return { messageIds: [] };
      },
    );
    speaker(line("one"));
    speaker(line("two", { id: "t1:1" }));
    await expect.poll(() => said, { timeout: 60_000 }).toEqual(["t1:1:speech"]);
    expect(logs).toEqual(["speech.failed"]);
  });
});

test("the end of the daemon ends the program, and nothing more is said", async () => {
  const said: string[] = [];
  const slow = { kind: "command", ...program("setInterval(() => {}, 1000)") };
  const { speaker, stop, logs } = openSpeaker({ speech: slow }, async ({ id }) => {
    said.push(id);
    return { messageIds: [] };
  });
  const before = spoken().length;
  speaker(line("one"));
  speaker(line("two"));
  await expect.poll(() => spoken().length).toBe(before + 1);
  stop();
  await expect.poll(() => spoken().length).toBe(before);
  speaker(line("three"));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([said, logs, spoken().length]).toEqual([[], [], before]);
});

test("Telegram shows Ogg as a voice message and the rest as what it is", async () => {
  const server = await startTelegramServer();
  const room = server.world.group("Kitchen", []);
  const client = createTelegramClient(
    {
      botToken: sampleToken,
      apiRoot: server.apiRoot,
      pollSeconds: 1,
      allowedUpdates: [],
      business: false,
    },
    new TelegramChats(),
  );
  const { sendMedia } = createTelegramOutbound(client, new TelegramChats());
  const route = {
    channel: "telegram",
    account: "default",
    chat: { id: String(room.chat.id), kind: "group" as const },
    thread: null,
  };
  const data = sampleFiles.ogg;
  for (const [mime, name] of [
    ["audio/ogg", "answer.ogg"],
    ["audio/mpeg", "answer.mp3"],
  ] as const) {
    const sent = await sendMedia?.({ route, id: "t1:0:speech", mime, name, data, signal: never });
    expect(sent?.messageIds).toHaveLength(1);
  }
  const [voice] = server.calls("sendVoice") as { voice: { name: string; data: Buffer } }[];
  expect(voice?.voice.name).toBe("answer.ogg");
  expect(voice?.voice.data).toEqual(data);
  expect(server.calls("sendAudio")).toHaveLength(1);
  await server.close();
});
