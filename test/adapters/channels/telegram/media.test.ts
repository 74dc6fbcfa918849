/**
 * Files from a Telegram room, end to end: the Bot API on a socket, the real channel, runtime and
 * media service, a program that reads the files.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TelegramChats } from "../../../../src/adapters/channels/telegram/chats.ts";
import { createTelegramClient } from "../../../../src/adapters/channels/telegram/client.ts";
import { program, tempFolder } from "../../../support/runtime/media-service.ts";
import { sampleFiles } from "../../../support/servers/media.ts";
import { sampleToken } from "../../../support/servers/telegram.ts";
import { openTelegramRooms } from "../../../support/telegram/telegram-rooms.ts";

const { png, ogg } = sampleFiles;
const sized = program("console.log('a thing of', require('fs').statSync(process.argv[1]).size)");
const command = { kind: "command", ...sized };
const photo = (file_id: string) => ({ photo: [{ file_id: `${file_id}-small` }, { file_id }] });

async function open(workers: number) {
  const mediaFolder = join(tempFolder(), "media");
  const rooms = await openTelegramRooms({
    workers,
    mediaFolder,
    config: {
      media: { image: command, audio: command },
      messages: { inbound: { debounceMs: 400, debounceMaxMs: 1_000 }, queue: { debounceMs: 50 } },
    },
  });
  return { rooms, mediaFolder };
}

describe.each([0, 1])("with %d workers", (workers) => {
  test("an album is one turn with all its pictures, a voice message is its words", async () => {
    const { rooms, mediaFolder } = await open(workers);
    rooms.server.world.files.set("p1", png);
    rooms.server.world.files.set("p2", Buffer.concat([png, png]));
    rooms.server.world.files.set("v1", ogg);
    const caption = "@scout_bot look";
    const entities = [{ type: "mention", offset: 0, length: 10 }];
    const album = { media_group_id: "g1" };
    rooms.say("ann", "", { extra: { text: undefined, ...photo("p1"), ...album } });
    const captioned = rooms.say("ann", "", {
      extra: { text: undefined, caption, caption_entities: entities, ...photo("p2"), ...album },
    });
    const [answer] = await rooms.answers(1);
    expect(answer?.reply_to_message?.message_id).toBe(captioned.message_id);
    const [prompt = ""] = rooms.prompts();
    const addressed = prompt.split("## Current message(s)")[1] ?? "";
    expect(addressed.match(/a thing of \d+/g)).toEqual(["a thing of 70", "a thing of 140"]);
    expect(addressed.match(/attachment_id:a\d+-\d/g)).toHaveLength(2);
    expect(addressed).not.toContain("attachment_id:p1");
    rooms.say("ann", "", {
      extra: { text: undefined, voice: { file_id: "v1", mime_type: "audio/ogg", file_size: 64 } },
    });
    await rooms.answers(2);
    expect(rooms.prompts().at(-1)).toMatch(/audio, audio\/ogg, 64 bytes\n +transcript:\n +a thing/);
    expect(readdirSync(mediaFolder).filter((name) => !name.endsWith(".json"))).toHaveLength(3);
    expect(JSON.stringify([rooms.lines, rooms.logs])).not.toContain(sampleToken);
  });
});

test("a file that Telegram will not give costs the message nothing", async () => {
  const { rooms } = await open(0);
  rooms.say("ann", "", {
    extra: {
      text: undefined,
      caption: "@scout_bot look",
      ...photo("gone"),
      caption_entities: [{ type: "mention", offset: 0, length: 10 }],
    },
  });
  await rooms.answers(1);
  expect(rooms.prompts()[0]).toMatch(/image, image\/jpeg, not fetched: /);
  expect(JSON.stringify([rooms.lines, rooms.logs])).not.toContain(sampleToken);
});

test("where Telegram says a file is never leaves the bot's own folder", () => {
  const client = createTelegramClient(
    {
      botToken: "1:a",
      apiRoot: "http://api.test",
      pollSeconds: 1,
      allowedUpdates: [],
      business: false,
    },
    new TelegramChats(),
  );
  const base = "http://api.test/file/bot1:a";
  expect(client.fileUrl("photos/file 1.jpg")).toBe(`${base}/photos/file%201.jpg`);
  for (const path of ["../../botX/getMe", "/etc/passwd", "a?b#c", "..%2f..%2fx", "//evil.test/x"]) {
    const url = new URL(client.fileUrl(path));
    expect(url.href.startsWith(`${base}/`)).toBe(true);
    expect([url.host, url.search, url.hash]).toEqual(["api.test", "", ""]);
  }
});
