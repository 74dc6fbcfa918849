/** The whole daemon on a Telegram with a photo in it: where the file lies, and who may see it. */
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { program } from "../support/runtime/media-service.ts";
import { sampleFiles } from "../support/servers/media.ts";
import { sampleToken, startTelegramServer } from "../support/servers/telegram.ts";

test("a photo lies in the state directory, for us alone, and the reply is said aloud", async () => {
  const server = await startTelegramServer();
  const ann = server.world.user("Ann");
  const room = server.world.group("Kitchen", [ann]);
  server.world.files.set("p1", sampleFiles.png);
  const stateDir = newFolder();
  const config = join(stateDir, "earshot.json5");
  const image = { kind: "command", ...program("console.log('a tap')") };
  const say =
    "process.stdin.resume().on('end', () => require('fs').writeFileSync(process.argv[1], 'OggS'))";
  const speech = { kind: "command", ...program(say) };
  const account = { botToken: sampleToken, apiRoot: server.apiRoot };
  const telegram = { groups: { [String(room.chat.id)]: {} }, accounts: { default: account } };
  const agents = { defaults: { driver: "scripted" } };
  writeFileSync(
    config,
    JSON.stringify({ agents, media: { image, speech }, channels: { telegram } }),
    {
      mode: 0o600,
    },
  );
  const logs: string[] = [];
  const daemon = await startDaemon({
    stateDir,
    config,
    port: 0,
    workers: 0,
    env: {},
    writeLog: (line) => void logs.push(line),
  });
  onTestFinished(async () => {
    await daemon.stop({ drainMs: 0 });
    await server.close();
  });
  const caption = "@scout_bot look";
  server.world.say(room, ann, "", {
    extra: {
      caption,
      caption_entities: [{ type: "mention", offset: 0, length: 10 }],
      photo: [{ file_id: "p1", file_size: 70 }],
    },
  });
  await server.until(() => server.world.answers(room).length === 1, "an answer");
  await server.until(() => server.calls("sendVoice").length === 1, "a voice message");
  const folder = join(stateDir, "media");
  const [file = "", notes = ""] = readdirSync(folder).sort();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  expect(file).toMatch(/^[0-9a-f]{40}$/);
  expect(notes).toBe(`${file}.json`);
  expect(logs.join("")).not.toContain(sampleToken);
});
