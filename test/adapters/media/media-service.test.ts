/**
 * The media service: real files in a real folder, real programs, models over real sockets.
 */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pictureSize } from "../../../src/adapters/media/picture-size.ts";
import { property } from "../../support/property.ts";
import {
  item,
  never,
  openService,
  program,
  settingsOf,
  tempFolder,
} from "../../support/runtime/media-service.ts";
import { sampleFiles, startMediaServer } from "../../support/servers/media.ts";

const { ogg, png, mp4 } = sampleFiles;

describe("fetching", () => {
  test("a file is kept under our name, for us alone, and fetched once", async () => {
    const { service: mediaService, folder, fetched } = openService({ f1: ogg });
    const voice = item({ kind: "audio", name: "../../x.ogg" });
    const settings = settingsOf({ audio: { kind: "command", ...program("console.log('hi')") } });
    expect(await mediaService.read(voice, settings, never)).toMatchObject({
      text: "hi",
      bytes: 64,
    });
    expect(await mediaService.read(voice, settings, never)).toMatchObject({ text: "hi" });
    expect(fetched()).toBe(1);
    expect(readdirSync(folder).sort()).toEqual([voice.id, `${voice.id}.json`]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  test("what was read is not read again after a restart, unless by another converter", async () => {
    const first = openService({ f1: ogg });
    const voice = item({ kind: "audio" });
    const says = (word: string) =>
      settingsOf({ audio: { kind: "command", ...program(`console.log('${word}', Date.now())`) } });
    const before = await first.service.read(voice, says("one"), never);
    const again = openService({}, { folder: first.folder });
    expect(await again.service.read(voice, says("one"), never)).toEqual(before);
    expect((await again.service.read(voice, says("two"), never)).text).toMatch(/^two /);
  });

  test("a file torn by a crash is fetched again, a whole one is not", async () => {
    const { service: mediaService, folder, fetched } = openService({ f1: png });
    const shown = item({ kind: "image" });
    const look = async () => (await mediaService.picture(shown, settingsOf({}), never)).image;
    await look();
    await look();
    expect(fetched()).toBe(1);
    truncateSync(join(folder, shown.id), 3);
    expect(Buffer.from((await look())?.data ?? [])).toEqual(png);
    expect(fetched()).toBe(2);
  });

  test("a channel that cannot fetch, and one that fails, are told in one line", async () => {
    const { service: mediaService, logs } = openService({
      f2: async function* () {
        yield png;
        throw new Error("https://api.example/bot-canary-token/x broke");
      },
    });
    const none = await mediaService.read(item({ kind: "image" }), settingsOf({}), never);
    expect(none).toMatchObject({ text: null, note: "telegram cannot fetch files" });
    const broken = await mediaService.read(
      item({ kind: "image", id: "f2" }),
      settingsOf({}),
      never,
    );
    expect(broken.note).toBe("not fetched: Error");
    expect(logs.join()).not.toContain("canary");
  });

  test("an address that came with the message is fetched by the guarded client", async () => {
    const server = await startMediaServer();
    server.serve("/x.txt", "from the web");
    const { service: mediaService } = openService({}, { allowPrivate: [server.origin] });
    const file = item({ kind: "file", url: `${server.origin}/x.txt` });
    expect(await mediaService.read(file, settingsOf({}), never)).toMatchObject({
      text: "from the web",
    });
  });

  test("old files go, then the oldest beyond the size; what is new stays", async () => {
    const { service: mediaService, folder } = openService({ f1: Buffer.alloc(1_000, 0x61) });
    const made = [];
    for (let n = 0; n < 4; n += 1) {
      const file = item({ kind: "file" });
      await mediaService.read(file, settingsOf({}), never);
      const at = 1_000 + n;
      for (const name of [file.id, `${file.id}.json`]) utimesSync(join(folder, name), at, at);
      made.push(file.id);
    }
    const left = () => readdirSync(folder).filter((name) => !name.includes("."));
    await mediaService.prune(1_001_000, 1_000_000);
    expect(left().sort()).toEqual(made.slice(1).sort());
    const one = statSync(join(folder, `${made[3]}.json`)).size + 1_000;
    await mediaService.prune(0, one * 2 + 100);
    expect(left().sort()).toEqual(made.slice(2).sort());
  });

  test("what a crash left half-written is no file, and goes after a while", async () => {
    const { service: mediaService, folder } = openService({ f1: png });
    await mediaService.read(item({ kind: "image" }), settingsOf({}), never);
    for (const [name, ageMs] of [
      ["old.part", 7_200_000],
      ["new.part", 0],
    ] as const) {
      writeFileSync(join(folder, name), "half");
      const at = (Date.now() - ageMs) / 1_000;
      utimesSync(join(folder, name), at, at);
    }
    await mediaService.prune(0, 10_000_000);
    expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual(["new.part"]);
  });

  test("the size of all files is kept while they come in", async () => {
    const { service: mediaService, folder } = openService({ f1: Buffer.alloc(400_000, 0x61) });
    const settings = settingsOf({ storeBytesMax: 1_048_576 });
    for (let n = 0; n < 5; n += 1) await mediaService.read(item({ kind: "file" }), settings, never);
    const bytes = readdirSync(folder).reduce(
      (sum, name) => sum + statSync(join(folder, name)).size,
      0,
    );
    expect(bytes).toBeLessThan(1_048_576);
    expect(bytes).toBeGreaterThan(400_000);
  });

  test("a folder that others may enter, or that is a link, keeps nothing", async () => {
    for (const prepare of [
      (folder: string) => {
        mkdirSync(folder);
        chmodSync(folder, 0o755);
      },
      (folder: string) => symlinkSync(tempFolder(), folder),
    ]) {
      const folder = join(tempFolder(), "media");
      prepare(folder);
      const { service: mediaService } = openService({ f1: png }, { folder });
      const { note } = await mediaService.read(item({ kind: "image" }), settingsOf({}), never);
      expect(note).toMatch(/other users may enter it|it is not a directory/);
      expect(readdirSync(folder)).toEqual([]);
    }
  });
});

describe("converters", () => {
  test("a program reads the file and prints words; the path is its argument, whole", async () => {
    const { service: mediaService } = openService({ f1: ogg });
    const code = "console.log(process.argv.length, require('fs').statSync(process.argv[1]).size)";
    const settings = settingsOf({ audio: { kind: "command", ...program(code) } });
    expect(await mediaService.read(item({ kind: "audio" }), settings, never)).toMatchObject({
      text: "2 64",
      words: "transcript",
    });
  });

  test.each([
    ["exits badly", "console.error('no model'); process.exit(1)", /exited with code 1: no model/],
    ["hangs", "setInterval(() => {}, 1000)", /took longer than 400 ms/],
    ["floods", "for (;;) require('fs').writeSync(1, 'x'.repeat(65536))", /printed more than/],
    ["says nothing", "", /no words in it/],
  ])("a program that %s leaves the reason and no process", async (_what, code, note) => {
    const { service: mediaService } = openService({ f1: ogg });
    const settings = settingsOf({
      timeoutMs: code.includes("setInterval") ? 400 : 10_000,
      audio: { kind: "command", ...program(code) },
    });
    const reading = await mediaService.read(item({ kind: "audio" }), settings, never);
    expect(reading.text).toBeNull();
    expect(reading.note).toMatch(note);
  });

  test("a program that is not there is named", async () => {
    const { service: mediaService } = openService({ f1: ogg });
    const command = "/nowhere/whisper";
    const settings = settingsOf({ audio: { kind: "command", command, args: ["{file}"] } });
    const { note } = await mediaService.read(item({ kind: "audio" }), settings, never);
    expect(note).toBe("/nowhere/whisper could not be started (ENOENT)");
  });

  test("it sees no variable but those named", async () => {
    process.env.EARSHOT_TEST_CANARY = "canary";
    const { service: mediaService } = openService({ f1: ogg });
    const show = program("console.log(process.env.EARSHOT_TEST_CANARY ?? 'unseen')");
    const plain = settingsOf({ audio: { kind: "command", ...show } });
    const named = settingsOf({
      audio: { kind: "command", ...show, env: ["EARSHOT_TEST_CANARY"] },
    });
    expect((await mediaService.read(item({ kind: "audio" }), plain, never)).text).toBe("unseen");
    expect((await mediaService.read(item({ kind: "audio" }), named, never)).text).toBe("canary");
    delete process.env.EARSHOT_TEST_CANARY;
  });

  test("a model writes down a sound", async () => {
    const server = await startMediaServer();
    server.serve("/v1/audio/transcriptions", JSON.stringify({ text: " Good morning " }));
    const { service: mediaService } = openService({ f1: ogg });
    const settings = settingsOf({
      audio: {
        kind: "model",
        baseUrl: `${server.origin}/v1/`,
        model: "whisper-1",
        apiKey: "key-canary",
        language: "en",
      },
    });
    const reading = await mediaService.read(item({ kind: "audio" }), settings, never);
    expect(reading).toMatchObject({ text: "Good morning", words: "transcript", note: null });
    const [request] = server.requests;
    expect(request?.headers.authorization).toBe("Bearer key-canary");
    expect(request?.headers["content-type"]).toContain("multipart/form-data; boundary=");
    const body = request?.body.toString("latin1") ?? "";
    for (const part of ["whisper-1", 'name="language"', 'filename="sound.ogg"', "OggS"])
      expect(body).toContain(part);
  });

  test("a model describes a picture, and a frame of a film", async () => {
    const server = await startMediaServer();
    const answer = { choices: [{ message: { content: "a red cat" } }] };
    server.serve("/v1/chat/completions", JSON.stringify(answer));
    const { service: mediaService } = openService({ f1: png, f2: mp4 });
    const model = { kind: "model", baseUrl: `${server.origin}/v1`, model: "eyes" };
    const frame = program(
      `process.stdout.write(Buffer.from('${png.toString("base64")}', 'base64'))`,
    );
    const settings = settingsOf({ image: model, video: { ...model, frame } });
    for (const one of [item({ kind: "image" }), item({ kind: "video", id: "f2" })]) {
      const reading = await mediaService.read(one, settings, never);
      expect(reading).toMatchObject({ text: "a red cat", words: "description" });
    }
    for (const { body } of server.requests) {
      const { messages, model: named } = JSON.parse(body.toString());
      expect(named).toBe("eyes");
      expect(messages[0].content[1].image_url.url).toBe(
        `data:image/png;base64,${png.toString("base64")}`,
      );
    }
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ["answers 500", 500, "oh no", /answered 500/],
    ["answers no JSON", 200, "<html>", /unexpected form/],
    ["answers something else", 200, '{"text":5}', /unexpected form/],
  ])("a model that %s leaves the reason, without the key", async (_what, status, body, note) => {
    const server = await startMediaServer();
    server.on("/v1/audio/transcriptions", (_request, response) =>
      response.writeHead(status).end(body),
    );
    const { service: mediaService, logs } = openService({ f1: ogg });
    const audio = {
      kind: "model",
      baseUrl: `${server.origin}/v1`,
      model: "w",
      apiKey: "key-canary",
    };
    const reading = await mediaService.read(item({ kind: "audio" }), settingsOf({ audio }), never);
    expect(reading.note).toMatch(note);
    expect(JSON.stringify([reading, logs])).not.toContain("key-canary");
  });

  test("a model that stalls is given up, and its connection closed", async () => {
    const server = await startMediaServer();
    server.on("/v1/audio/transcriptions", () => undefined);
    const { service: mediaService } = openService({ f1: ogg });
    const audio = { kind: "model", baseUrl: `${server.origin}/v1`, model: "w" };
    const settings = settingsOf({ timeoutMs: 200, audio });
    const reading = await mediaService.read(item({ kind: "audio" }), settings, never);
    expect(reading.note).toMatch(/connection failed/);
    await expect.poll(() => server.open()).toBe(0);
  });

  test("a failure is not remembered, a reading is", async () => {
    const server = await startMediaServer();
    const { service: mediaService } = openService({ f1: ogg });
    const audio = { kind: "model", baseUrl: `${server.origin}/v1`, model: "w" };
    const voice = item({ kind: "audio" });
    const read = () => mediaService.read(voice, settingsOf({ audio }), never);
    expect((await read()).note).toMatch(/answered 404/);
    server.serve("/v1/audio/transcriptions", JSON.stringify({ text: "now" }));
    expect((await read()).text).toBe("now");
    expect((await read()).text).toBe("now");
    expect(server.requests).toHaveLength(2);
  });

  test("without a converter there is the file, and text is its own reading", async () => {
    const { service: mediaService } = openService({
      f1: ogg,
      f2: Buffer.from("a,b\n1,2\n\u202ehidden"),
    });
    const voice = await mediaService.read(item({ kind: "audio" }), settingsOf({}), never);
    expect(voice).toMatchObject({ text: null, note: null, mime: "audio/ogg", bytes: 64 });
    const table = await mediaService.read(item({ kind: "file", id: "f2" }), settingsOf({}), never);
    expect(table).toMatchObject({ text: "a,b\n1,2\nhidden", words: "content" });
  });

  test("of a long text the beginning is kept, and said to be one", async () => {
    const { service: mediaService } = openService({ f1: Buffer.from("word ".repeat(10_000)) });
    const reading = await mediaService.read(item({ kind: "file" }), settingsOf({}), never);
    expect(reading).toMatchObject({ note: "only its beginning", bytes: 50_000 });
    expect(reading.text?.length).toBeLessThanOrEqual(16_000);
    expect(reading.text?.length).toBeGreaterThan(15_000);
  });

  test("an abort ends the program at once", async () => {
    const { service: mediaService } = openService({ f1: ogg });
    const stop = new AbortController();
    const audio = { kind: "command", ...program("setInterval(() => {}, 1000)") };
    const reading = mediaService.read(item({ kind: "audio" }), settingsOf({ audio }), stop.signal);
    setTimeout(() => stop.abort(new Error("enough")), 150);
    await expect(reading).rejects.toThrow("enough");
  });
});

describe("pictures and pages", () => {
  test("a picture is handed over with what its bytes say it is", async () => {
    const { service: mediaService } = openService({ f1: png });
    const shown = item({ kind: "image", mime: "image/jpeg", name: "a\nb.jpg" });
    const { image, note } = await mediaService.picture(shown, settingsOf({}), never);
    expect(note).toBeNull();
    expect(image).toMatchObject({ mime: "image/png", name: "a b.jpg" });
    expect(Buffer.from(image?.data ?? [])).toEqual(png);
  });

  test.each([
    ["broken", png.subarray(0, 20), "not shown: it is broken"],
    [
      "too large for any model",
      Buffer.concat([png, Buffer.alloc(4_000_000)]),
      "not shown: it is larger than 3750000 bytes",
    ],
  ])("a picture that is %s is named, not handed over", async (_what, bytes, why) => {
    const { service: mediaService } = openService({ f1: bytes });
    const { image, note } = await mediaService.picture(
      item({ kind: "image" }),
      settingsOf({}),
      never,
    );
    expect([image, note]).toEqual([null, why]);
  });

  test.each([
    ["image/png", "iVBORw0KGgoAAAANSUhEUgAAAAMAAAAC", 3, 2],
    ["image/gif", "R0lGODlhAwACAIAAAA==", 3, 2],
    // A comment before the frame.
    ["image/jpeg", "/9j//gAGYWJjZP/AABEIAAIAAwMBIgACEQEDEQE=", 3, 2],
    ["image/webp", "UklGRiYAAABXRUJQVlA4WAoAAAAAAAAAAgAAAQAAVlA4", 3, 2],
    ["image/webp", "UklGRiYAAABXRUJQVlA4TBkAAAAvAkAAAAcQEf0PRET/Aw==", 3, 2],
  ])("the size of a %s is read from its front", (mime, base64, width, height) => {
    const data = Buffer.from(base64, "base64");
    expect(pictureSize(data, mime)).toEqual({ width, height });
    // Whatever is cut off or changed: an answer, and no end that is not reached.
    for (let length = 0; length < data.length; length += 1)
      pictureSize(data.subarray(0, length), mime);
  });

  const heads = ["/9j/", "UklGRiYAAABXRUJQVlA4IA==", "R0lGODlh", "iVBORw0KGgo="];
  property([
    fc.constantFrom("image/jpeg", "image/webp", "image/gif", "image/png"),
    fc.constantFrom(...heads),
    fc.uint8Array({ maxLength: 200 }),
  ])("whatever bytes say about a size, it is a size or none", (mime, head, rest) => {
    const size = pictureSize(Buffer.concat([Buffer.from(head, "base64"), rest]), mime);
    if (size !== null) expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
  });

  test("a page has a title and a beginning, without its scripts", async () => {
    const server = await startMediaServer();
    server.serve(
      "/page",
      "<html><head><title> A &amp; B\n</title><style>p{}</style></head><body><nav>menu</nav>" +
        "<h1>Hello</h1><script>alert(1)</script><p>first   line</p><p>second</p></body>",
      "text/html; charset=utf-8",
    );
    const { service: mediaService } = openService({}, { allowPrivate: [server.origin] });
    const settings = settingsOf({ links: { kind: "extract", extractChars: 17 } });
    const link = { id: "page1", url: `${server.origin}/page` };
    const reading = await mediaService.follow(link, settings, never);
    expect(reading).toMatchObject({ title: "A & B", text: "Hello\nfirst line", words: "page" });
    await mediaService.follow(link, settings, never);
    expect(server.requests).toHaveLength(1);
  });

  test("what is no page is not read, and a long one only as far as it is of use", async () => {
    const server = await startMediaServer();
    server.serve("/x.png", png, "image/png");
    server.on("/endless", (_request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.write("<title>long</title>");
      const more = setInterval(() => response.write("<p>more".repeat(10_000)), 1);
      response.on("close", () => clearInterval(more));
    });
    const { service: mediaService } = openService({}, { allowPrivate: [server.origin] });
    const settings = settingsOf({ links: { kind: "extract" } });
    const picture = await mediaService.follow(
      { id: "p1", url: `${server.origin}/x.png` },
      settings,
      never,
    );
    expect(picture).toMatchObject({ text: null, note: "it is neither HTML nor plain text" });
    const long = await mediaService.follow(
      { id: "p2", url: `${server.origin}/endless` },
      settings,
      never,
    );
    expect(long.title).toBe("long");
    expect(long.text?.length).toBeLessThanOrEqual(800);
    await expect.poll(() => server.open()).toBe(0);
  });
});
