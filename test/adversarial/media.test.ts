/**
 * Attacks by files and links, on loopback: A23 and A24 (addresses that lead inside), A25 (names that
 * are paths), A26 (files that are not what they claim). Each has its twin that shows the harmless
 * case goes through the same door.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHttpClient } from "../../src/adapters/http/http-client.ts";
import { openMediaService } from "../../src/adapters/media/media-service.ts";
import { composeTurnPrompt } from "../../src/machines/prompt/prompt.ts";
import {
  item,
  never,
  openService,
  program,
  settingsOf,
  tempFolder,
} from "../support/runtime/media-service.ts";
import { openMediaWorld } from "../support/runtime/media-world.ts";
import { sampleFiles, startMediaServer } from "../support/servers/media.ts";

const { png, ogg, zip } = sampleFiles;
const extract = settingsOf({ links: { kind: "extract" } });

describe("A23 addresses that lead inside", () => {
  const places = [
    "http://127.0.0.1:PORT/",
    "http://0:PORT/",
    "http://2130706433:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://localhost:PORT/",
    "http://me:secret@example.com/",
    "file:///etc/passwd",
    "data:text/html,<title>x</title>",
    "gopher://127.0.0.1:PORT/",
  ];

  test.each(places)("A23 neither a link nor an attachment reaches %s", async (place) => {
    const server = await startMediaServer();
    server.serve("/", "<title>inside</title>", "text/html");
    const url = place.replace("PORT", String(server.port));
    const { service: mediaService } = openService();
    const page = await mediaService.follow({ id: "link", url }, extract, never);
    expect(page).toMatchObject({ text: null, title: null });
    expect(page.note).not.toBeNull();
    const file = await mediaService.read(item({ kind: "file", url }), extract, never);
    expect(file).toMatchObject({ text: null, bytes: null });
    expect(server.connections()).toBe(0);
  });

  test("A23 the same link is read where it is allowed, so the refusals are refusals", async () => {
    const server = await startMediaServer();
    server.serve("/", "<title>inside</title>", "text/html");
    const { service: mediaService } = openService({}, { allowPrivate: [server.origin] });
    const page = await mediaService.follow(
      { id: "link", url: `${server.origin}/` },
      extract,
      never,
    );
    expect(page.title).toBe("inside");
  });
});

test("A23 an address that came with a message, or in it, is refused through the whole runtime", async () => {
  const server = await startMediaServer();
  server.serve("/x", "inside");
  const url = `http://127.0.0.1:${server.port}/x`;
  const world = await openMediaWorld({ config: { media: { links: { kind: "extract" } } } });
  await world.ask(`read ${url}`, { attachments: [{ id: "gone", kind: "file", url }] });
  const [prompt = ""] = world.prompts();
  expect(prompt).toContain(`[Attachment link] ${url}, it leads to a private place`);
  const [, name = ""] = /attachment_id:(a\d+-0)/.exec(prompt) ?? [];
  const reported = await world.ask(`call attachment_fetch {"attachment_id":"${name}"}`);
  expect(reported).toBe("file, not fetched: it leads to a private place.");
  expect(prompt + reported).not.toContain("inside");
  expect(server.connections()).toBe(0);
});

describe("A24 addresses that change on the way", () => {
  test("A24 a redirect from outside to inside is not followed", async () => {
    const inside = await startMediaServer();
    inside.serve("/", "<title>inside</title>", "text/html");
    const outside = await startMediaServer();
    outside.on("/", (_request, response) =>
      response.writeHead(302, { location: `${inside.origin}/` }).end(),
    );
    const { service: mediaService } = openService({}, { allowPrivate: [outside.origin] });
    const url = `${outside.origin}/`;
    const page = await mediaService.follow({ id: "link", url }, extract, never);
    const file = await mediaService.read(item({ kind: "file", url }), extract, never);
    expect([page.note, file.note]).toEqual([
      "it leads to a private place",
      "not fetched: it leads to a private place",
    ]);
    expect(outside.connections()).toBe(2);
    expect(inside.connections()).toBe(0);
  });

  test.each([
    ["answers differently the second time", [["93.184.216.34"], ["127.0.0.1"]]],
    ["mixes an inner address among outer ones", [["93.184.216.34", "127.0.0.1"]]],
  ])("A24 a name that %s reaches nobody inside", async (_what, answers) => {
    const inside = await startMediaServer();
    inside.serve("/", "<title>inside</title>", "text/html");
    let asked = 0;
    const http = createHttpClient({
      async resolve() {
        const found = answers[Math.min(asked, answers.length - 1)] as string[];
        asked += 1;
        return found.map((address) => ({ address, family: 4 }));
      },
    });
    const mediaService = openMediaService({
      folder: join(tempFolder(), "media"),
      log: () => undefined,
      unique: () => "u",
      download: async () => null,
      http,
    });
    const settings = settingsOf({ timeoutMs: 300, links: { kind: "extract" } });
    const url = `http://rebind.test:${inside.port}/`;
    const page = await mediaService.follow({ id: "link", url }, settings, never);
    expect(page).toMatchObject({ title: null, text: null });
    expect(asked).toBe(1);
    expect(inside.connections()).toBe(0);
  });
});

describe("A25 names that are paths", () => {
  const names = [
    "../../x",
    "C:\\x",
    "a%2fb",
    "%2e%2e%2f%2e%2e%2fx",
    "a\0b",
    "y".repeat(4_000),
    ".",
    "NUL:aux",
  ];

  test.each(names)("A25 a file named %j lies under a name of ours", async (name) => {
    const root = tempFolder();
    const folder = join(root, "media");
    const { service: mediaService } = openService({ f1: Buffer.from("words") }, { folder });
    const file = item({ kind: "file", name });
    expect((await mediaService.read(file, settingsOf({}), never)).text).toBe("words");
    expect(readdirSync(folder).sort()).toEqual([file.id, `${file.id}.json`]);
    expect(readdirSync(root)).toEqual(["media"]);
    expect(readFileSync(join(folder, `${file.id}.json`), "utf8")).not.toContain(name);
  });

  test.each(names)("A25 to an agent %j is one short line of its own", (name) => {
    const prompt = composeTurnPrompt({
      notices: { guard: false, nudge: false },
      context: [],
      current: [
        {
          id: "m1",
          at: 0,
          author: { name: "Ann", isBot: false },
          text: "",
          attachments: [{ id: "a1-0", kind: "file", name }],
          replyTo: null,
        },
      ],
      omitted: 0,
      droppedWhileBusy: [],
      afterAbort: false,
      introduce: false,
      activation: "ladder",
      room: null,
      silentToken: "NO_REPLY",
      headings: "sections",
      fence: "FENCE",
    });
    const [line, ...more] = prompt.split("\n").filter((one) => one.includes("attachment_id"));
    expect(more).toEqual([]);
    expect(line?.length).toBeLessThan(200);
    expect(line).not.toContain("\0");
  });

  test("A25 a link laid at the file's name is replaced, and what it leads to stays", async () => {
    const root = tempFolder();
    const folder = join(root, "media");
    const victim = join(root, "victim");
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(victim, "precious");
    const file = item({ kind: "file" });
    symlinkSync(victim, join(folder, file.id));
    symlinkSync(victim, join(folder, `${file.id}.json`));
    const { service: mediaService } = openService({ f1: Buffer.from("words") }, { folder });
    expect((await mediaService.read(file, settingsOf({}), never)).text).toBe("words");
    expect(readFileSync(victim, "utf8")).toBe("precious");
    expect(lstatSync(join(folder, file.id)).isSymbolicLink()).toBe(false);
  });

  test("A25 a link laid in the folder is not followed when files are removed", async () => {
    const root = tempFolder();
    const folder = join(root, "media");
    const precious = join(root, "precious");
    mkdirSync(folder, { mode: 0o700 });
    mkdirSync(precious);
    writeFileSync(join(precious, "kept"), "kept");
    symlinkSync(precious, join(folder, "link"));
    const { service: mediaService } = openService({}, { folder });
    await mediaService.prune(Date.now() + 1_000, 0);
    expect(readdirSync(folder)).toEqual([]);
    expect(existsSync(join(precious, "kept"))).toBe(true);
  });
});

describe("A26 files that are not what they claim", () => {
  test("A26 a stream without end stops at the cap, and nothing is left of it", async () => {
    let given = 0;
    let closed = false;
    const { service: mediaService, folder } = openService({
      f1: async function* () {
        try {
          for (;;) {
            given += 65_536;
            yield Buffer.alloc(65_536);
          }
        } finally {
          closed = true;
        }
      },
    });
    const endless = item({ kind: "video", bytes: 10 });
    const { note } = await mediaService.read(endless, settingsOf({ maxBytes: 1_000_000 }), never);
    expect(note).toBe("not fetched: it is larger than 1000000 bytes");
    expect(given).toBeLessThan(1_000_000 + 3 * 65_536);
    expect(readdirSync(folder)).toEqual([]);
    await expect.poll(() => closed).toBe(true);
  });

  test("A26 a file that says itself that it is too large is not begun", async () => {
    const { service: mediaService, fetched } = openService({ f1: png });
    const huge = item({ kind: "image", bytes: 10_000_000_000 });
    const { note } = await mediaService.read(huge, settingsOf({}), never);
    expect(note).toBe("not fetched: it is larger than 20971520 bytes");
    expect(fetched()).toBe(0);
  });

  test("A26 10 GB that were declared small, over a socket, stop at the cap", async () => {
    let written = 0;
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 10\r\n\r\n");
        const chunk = Buffer.concat([
          Buffer.from("10000\r\n"),
          Buffer.alloc(65_536),
          Buffer.from("\r\n"),
        ]);
        const more = () => {
          while (written < 10_000_000_000 && !socket.destroyed) {
            written += 65_536;
            if (!socket.write(chunk)) return void socket.once("drain", more);
          }
        };
        more();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const origin = `http://127.0.0.1:${port}`;
    const { service: mediaService, folder } = openService({}, { allowPrivate: [origin] });
    const big = item({ kind: "file", bytes: 10, url: `${origin}/` });
    const reading = await mediaService.read(big, settingsOf({ maxBytes: 2_000_000 }), never);
    expect(reading).toMatchObject({ text: null, bytes: null });
    expect(reading.note).toMatch(/^not fetched: /);
    expect(written).toBeLessThan(50_000_000);
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });

  test("A26 a source that stalls is given up in time", async () => {
    const { service: mediaService } = openService({
      f1: async function* () {
        yield png;
        await new Promise(() => undefined);
      },
    });
    const stuck = item({ kind: "image" });
    const { note } = await mediaService.read(stuck, settingsOf({ timeoutMs: 200 }), never);
    expect(note).toBe("not fetched: it took longer than 200 ms");
  });

  test.each([
    ["image", "image/png", zip, "announced as image/png, but it is application/zip"],
    ["audio", "audio/ogg", png, "announced as audio/ogg, but it is image/png"],
    [
      "video",
      "video/mp4",
      Buffer.from("%PDF-1.7"),
      "announced as video/mp4, but it is application/pdf",
    ],
    ["image", "image/png", Buffer.from("<?php"), "announced as image/png, but it is text"],
  ] as const)(
    "A26 a %s that is something else is handed to nobody",
    async (kind, mime, bytes, note) => {
      const { service: mediaService } = openService({ f1: bytes });
      const model = program("require('fs').writeFileSync(process.argv[1] + '.ran', '')");
      const command = { kind: "command", ...model };
      const settings = settingsOf({ audio: command, image: command, video: command });
      const liar = item({ kind, mime });
      expect(await mediaService.read(liar, settings, never)).toMatchObject({ text: null, note });
      expect(await mediaService.picture(liar, settings, never)).toMatchObject({ image: null });
      const honest = item({ kind: "audio", id: "f1" });
      const twin = openService({ f1: ogg });
      expect((await twin.service.read(honest, settings, never)).note).toBe("no words in it");
    },
  );

  test("A26 a bomb stays packed: what lies there is what came", async () => {
    // A PNG that says 50,000 by 50,000, and an archive: neither is decoded or unpacked.
    const bomb = Buffer.from(png);
    bomb.writeUInt32BE(50_000, 16);
    bomb.writeUInt32BE(50_000, 20);
    const { service: mediaService, folder } = openService({ f1: bomb, f2: zip });
    const before = process.memoryUsage().rss;
    const image = item({ kind: "image" });
    expect(await mediaService.picture(image, settingsOf({}), never)).toEqual({
      image: null,
      note: "not shown: it is 50000 by 50000 points",
    });
    expect(readFileSync(join(folder, image.id))).toEqual(bomb);
    const archive = item({ kind: "file", id: "f2" });
    const reading = await mediaService.read(archive, settingsOf({}), never);
    expect(reading).toMatchObject({ text: null, mime: "application/zip", bytes: zip.length });
    expect(readFileSync(join(folder, archive.id))).toEqual(zip);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });
});
