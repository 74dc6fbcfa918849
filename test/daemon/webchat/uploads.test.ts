/**
 * Files of the webchat against a whole daemon: given, sent, answered, shown again, and forgotten.
 */
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import { openPage } from "../../support/daemon/page.ts";
import { openUploadDaemon, type UploadDaemon } from "../../support/daemon/uploads.ts";
import { program } from "../../support/runtime/media-service.ts";
import { sampleFiles } from "../../support/servers/media.ts";

const { png } = sampleFiles;

async function pageOf({ daemon }: UploadDaemon, after = 0) {
  const page = await openPage(daemon.base, daemon.token, after);
  await page.wait("ready");
  return page;
}

describe("a file that is sent", () => {
  test.each([0, 1])(
    "is kept as what it is, answered about, and told to every page, %d workers",
    async (workers) => {
      const server = await openUploadDaemon({}, workers);
      const kept = await server.keep(png, "hat.png", "image/png");
      expect(kept).toMatchObject({ kind: "image", mime: "image/png", name: "hat.png" });
      expect(kept.bytes).toBe(png.length);
      const page = await pageOf(server);
      const other = await pageOf(server);
      const id = page.say("what is it?", undefined, [kept.id]);
      const taken = await other.wait("taken", (frame) => frame.id === id);
      expect(taken.attachments).toEqual([kept]);
      const said = await page.wait("said");
      expect(said.text).toContain("a green hat");
      expect(said.text).toContain("hat.png");
    },
  );

  test("needs no words beside it", async () => {
    const server = await openUploadDaemon();
    const kept = await server.keep("the recipe: two soups", "soup.txt", "text/plain");
    expect(kept).toMatchObject({ kind: "file", mime: "text/plain" });
    const page = await pageOf(server);
    const id = page.say("", undefined, [kept.id]);
    expect((await page.wait("said")).text).toContain("the recipe: two soups");
    expect(page.of("decided").at(-1)).toMatchObject({ id, decision: "engage", rule: "dm" });
  });

  test("goes with its message, in the order it was named in", async () => {
    const server = await openUploadDaemon();
    const files = [];
    for (const name of ["one.txt", "two.txt", "three.txt"])
      files.push(await server.keep(`words of ${name}`, name));
    const page = await pageOf(server);
    const ids = files.map(({ id }) => id).reverse();
    const message = page.say("these", undefined, ids);
    const taken = await page.wait("taken", ({ id }) => id === message);
    expect(taken.attachments?.map(({ name }) => name)).toEqual(["three.txt", "two.txt", "one.txt"]);
    const { text } = await page.wait("said");
    expect(text.match(/words of \w+/g)).toEqual(["words of three", "words of two", "words of one"]);
  });

  test("is the same message when it is sent again, before and after a restart", async () => {
    const server = await openUploadDaemon();
    const kept = await server.keep(png, "hat.png", "image/png");
    const page = await pageOf(server);
    const message = page.say("once", "the-id", [kept.id]);
    await page.wait("said");
    page.say("once", message, [kept.id]);
    await server.again();
    const later = await pageOf(server);
    later.say("once", message, [kept.id]);
    later.say("and on", "another-id");
    await later.wait("said", ({ text }) => text === "You said and on");
    const taken = later.of("taken").filter(({ id }) => id === message);
    expect(new Set(taken.map(({ n }) => n)).size).toBe(1);
    expect(taken[0]?.attachments).toEqual([kept]);
    expect(later.of("said")).toHaveLength(2);
    expect(later.of("error")).toEqual([]);
    const bytes = await (await server.get(kept.id)).arrayBuffer();
    expect(Buffer.from(bytes).equals(png)).toBe(true);
  });

  test("may be given before a restart and sent after it", async () => {
    const server = await openUploadDaemon();
    const kept = await server.keep("words that waited", "note.txt");
    await server.again();
    const page = await pageOf(server);
    page.say("", undefined, [kept.id]);
    expect((await page.wait("said")).text).toContain("words that waited");
  });
});

describe("an answer that is said aloud", () => {
  const say =
    "process.stdin.resume().on('end', () => require('fs').writeFileSync(process.argv[1], 'OggS'))";
  const speech = { kind: "command", ...program(say) };

  test("has its sound beside it, now and for pages that come later, once", async () => {
    const server = await openUploadDaemon({ speech });
    const page = await pageOf(server);
    page.say("speak");
    const said = await page.wait("said");
    const { id, attachments } = await page.wait("attached");
    expect(id).toBe(said.id);
    expect(attachments).toMatchObject([{ kind: "audio", mime: "audio/ogg", bytes: 4 }]);
    const file = attachments[0]?.id ?? "";
    expect(Buffer.from(await (await server.get(file)).arrayBuffer()).toString()).toBe("OggS");
    expect((await server.remove(file)).status).toBe(404);
    await server.again();
    const later = await pageOf(server);
    const again = await later.wait("said");
    expect(again.attachments).toEqual(attachments);
    expect(later.of("attached")).toEqual([]);
    // It is no file of a person's, whatever a page says.
    const mine = later.say("mine", undefined, [file]);
    await later.wait("error", (frame) => frame.id === mine);
  });

  test("is there as words alone where no sound is wanted", async () => {
    const server = await openUploadDaemon();
    const page = await pageOf(server);
    page.say("quiet");
    await page.wait("turn", ({ state }) => state === "end");
    expect(page.of("said")[0]).not.toHaveProperty("attachments");
    expect(page.of("attached")).toEqual([]);
  });
});

describe("what a page is told it may send", () => {
  test("is what the config says", async () => {
    const server = await openUploadDaemon({ maxBytes: 5_000 });
    const page = await openPage(server.daemon.base, server.daemon.token);
    const { uploads } = await page.wait("ready");
    expect(uploads).toEqual({ bytesMax: 5_000, countMax: limits.uploadsPerMessageMax });
    await server.keep("x".repeat(5_000), "just.txt");
    const refused = await server.post("x".repeat(5_001), { name: "more.txt" });
    expect(refused.status).toBe(413);
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("too-large");
    expect(error.message).toContain("media.maxBytes");
    expect(error.message).toContain("5000");
  });

  test("is no message when it names nothing that is here: it is refused for good", async () => {
    const server = await openUploadDaemon();
    const kept = await server.keep("mine", "mine.txt");
    const page = await pageOf(server);
    page.say("first", "first-id", [kept.id]);
    await page.wait("taken", ({ id }) => id === "first-id");
    // Another message has it; nobody has this one; this one is no name at all.
    for (const wrong of [kept.id, "01arz3ndektsv4rrffq69g5fav", "../token", "__proto__"]) {
      const id = page.say("again", undefined, [wrong]);
      const error = await page.wait("error", (frame) => frame.id === id);
      expect(error).toMatchObject({ code: "EAR_INBOUND_INVALID", final: true });
      expect(page.of("taken").some((frame) => frame.id === id)).toBe(false);
    }
  });

  test("an empty message without a file is no frame of ours, and neither is one with too many", async () => {
    const server = await openUploadDaemon();
    for (const [text, count] of [
      ["", 0],
      ["x", limits.uploadsPerMessageMax + 1],
    ] as const) {
      const page = await pageOf(server);
      page.say(text, undefined, Array(count).fill("some"));
      expect(await page.closed).toBe(4_400);
    }
  });
});

describe("what lies on the disk", () => {
  const folderOf = ({ stateDir }: UploadDaemon) => join(stateDir, "uploads");
  const filesIn = (server: UploadDaemon) =>
    readdirSync(folderOf(server)).filter((name) => !name.includes("."));

  test("is for us alone, under a name that says nothing", async () => {
    const server = await openUploadDaemon();
    const { id } = await server.keep("words", "../../etc/passwd");
    expect(filesIn(server)).toEqual([id]);
    expect(id).toMatch(/^[0-9a-z]{26}$/);
    expect(statSync(folderOf(server)).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folderOf(server)))
      expect(statSync(join(folderOf(server), name)).mode & 0o777).toBe(0o600);
  });

  test("is gone when it is taken back, and cannot be once it was sent", async () => {
    const server = await openUploadDaemon();
    const back = await server.keep("never mind", "a.txt");
    expect((await server.remove(back.id)).status).toBe(200);
    expect((await server.remove(back.id)).status).toBe(404);
    expect((await server.get(back.id)).status).toBe(404);
    expect(filesIn(server)).toEqual([]);
    const sent = await server.keep("said", "b.txt");
    const page = await pageOf(server);
    page.say("", undefined, [sent.id]);
    await page.wait("taken");
    expect((await server.remove(sent.id)).status).toBe(404);
    expect((await server.get(sent.id)).status).toBe(200);
  });

  test("makes room for what is newer when all of it is too much", async () => {
    const server = await openUploadDaemon({ storeBytesMax: 1_048_576 });
    const ids = [];
    for (let n = 0; n < 4; n += 1)
      ids.push((await server.keep(Buffer.alloc(400_000, 120), `${n}.txt`)).id);
    expect(filesIn(server).sort()).toEqual(ids.slice(2).sort());
  });

  test("what is half written, or not ours, is cleared at the next start", async () => {
    const server = await openUploadDaemon();
    const whole = await server.keep("whole", "a.txt");
    const torn = await server.keep("torn", "b.txt");
    rmSync(join(folderOf(server), `${torn.id}.label`));
    writeFileSync(join(folderOf(server), "stranger"), "who?", { mode: 0o600 });
    const old = new Date(Date.now() - 7_200_000);
    utimesSync(join(folderOf(server), "stranger"), old, old);
    await server.again();
    expect((await server.get(whole.id)).status).toBe(200);
    expect((await server.get(torn.id)).status).toBe(404);
    await expect.poll(() => filesIn(server)).toEqual([whole.id]);
  });
});
