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
      const house = await openUploadDaemon({}, workers);
      const kept = await house.keep(png, "hat.png", "image/png");
      expect(kept).toMatchObject({ kind: "image", mime: "image/png", name: "hat.png" });
      expect(kept.bytes).toBe(png.length);
      const page = await pageOf(house);
      const other = await pageOf(house);
      const id = page.say("what is it?", undefined, [kept.id]);
      const taken = await other.wait("taken", (frame) => frame.id === id);
      expect(taken.attachments).toEqual([kept]);
      const said = await page.wait("said");
      expect(said.text).toContain("a green hat");
      expect(said.text).toContain("hat.png");
    },
  );

  test("needs no words beside it", async () => {
    const house = await openUploadDaemon();
    const kept = await house.keep("the recipe: two soups", "soup.txt", "text/plain");
    expect(kept).toMatchObject({ kind: "file", mime: "text/plain" });
    const page = await pageOf(house);
    const id = page.say("", undefined, [kept.id]);
    expect((await page.wait("said")).text).toContain("the recipe: two soups");
    expect(page.of("decided").at(-1)).toMatchObject({ id, decision: "engage", rule: "dm" });
  });

  test("goes with its message, in the order it was named in", async () => {
    const house = await openUploadDaemon();
    const files = [];
    for (const name of ["one.txt", "two.txt", "three.txt"])
      files.push(await house.keep(`words of ${name}`, name));
    const page = await pageOf(house);
    const ids = files.map(({ id }) => id).reverse();
    const message = page.say("these", undefined, ids);
    const taken = await page.wait("taken", ({ id }) => id === message);
    expect(taken.attachments?.map(({ name }) => name)).toEqual(["three.txt", "two.txt", "one.txt"]);
    const { text } = await page.wait("said");
    expect(text.match(/words of \w+/g)).toEqual(["words of three", "words of two", "words of one"]);
  });

  test("is the same message when it is sent again, before and after a restart", async () => {
    const house = await openUploadDaemon();
    const kept = await house.keep(png, "hat.png", "image/png");
    const page = await pageOf(house);
    const message = page.say("once", "the-id", [kept.id]);
    await page.wait("said");
    page.say("once", message, [kept.id]);
    await house.again();
    const later = await pageOf(house);
    later.say("once", message, [kept.id]);
    later.say("and on", "another-id");
    await later.wait("said", ({ text }) => text === "You said and on");
    const taken = later.of("taken").filter(({ id }) => id === message);
    expect(new Set(taken.map(({ n }) => n)).size).toBe(1);
    expect(taken[0]?.attachments).toEqual([kept]);
    expect(later.of("said")).toHaveLength(2);
    expect(later.of("error")).toEqual([]);
    const bytes = await (await house.get(kept.id)).arrayBuffer();
    expect(Buffer.from(bytes).equals(png)).toBe(true);
  });

  test("may be given before a restart and sent after it", async () => {
    const house = await openUploadDaemon();
    const kept = await house.keep("words that waited", "note.txt");
    await house.again();
    const page = await pageOf(house);
    page.say("", undefined, [kept.id]);
    expect((await page.wait("said")).text).toContain("words that waited");
  });
});

describe("an answer that is said aloud", () => {
  const say =
    "process.stdin.resume().on('end', () => require('fs').writeFileSync(process.argv[1], 'OggS'))";
  const speech = { kind: "command", ...program(say) };

  test("has its sound beside it, now and for pages that come later, once", async () => {
    const house = await openUploadDaemon({ speech });
    const page = await pageOf(house);
    page.say("speak");
    const said = await page.wait("said");
    const { id, attachments } = await page.wait("attached");
    expect(id).toBe(said.id);
    expect(attachments).toMatchObject([{ kind: "audio", mime: "audio/ogg", bytes: 4 }]);
    const file = attachments[0]?.id ?? "";
    expect(Buffer.from(await (await house.get(file)).arrayBuffer()).toString()).toBe("OggS");
    expect((await house.remove(file)).status).toBe(404);
    await house.again();
    const later = await pageOf(house);
    const again = await later.wait("said");
    expect(again.attachments).toEqual(attachments);
    expect(later.of("attached")).toEqual([]);
    // It is no file of a person's, whatever a page says.
    const mine = later.say("mine", undefined, [file]);
    await later.wait("error", (frame) => frame.id === mine);
  });

  test("is there as words alone where no sound is wanted", async () => {
    const house = await openUploadDaemon();
    const page = await pageOf(house);
    page.say("quiet");
    await page.wait("turn", ({ state }) => state === "end");
    expect(page.of("said")[0]).not.toHaveProperty("attachments");
    expect(page.of("attached")).toEqual([]);
  });
});

describe("what a page is told it may send", () => {
  test("is what the config says", async () => {
    const house = await openUploadDaemon({ maxBytes: 5_000 });
    const page = await openPage(house.daemon.base, house.daemon.token);
    const { uploads } = await page.wait("ready");
    expect(uploads).toEqual({ bytesMax: 5_000, countMax: limits.uploadsPerMessageMax });
    await house.keep("x".repeat(5_000), "just.txt");
    const refused = await house.post("x".repeat(5_001), { name: "more.txt" });
    expect(refused.status).toBe(413);
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("too-large");
    expect(error.message).toContain("media.maxBytes");
    expect(error.message).toContain("5000");
  });

  test("is no message when it names nothing that is here: it is refused for good", async () => {
    const house = await openUploadDaemon();
    const kept = await house.keep("mine", "mine.txt");
    const page = await pageOf(house);
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
    const house = await openUploadDaemon();
    for (const [text, count] of [
      ["", 0],
      ["x", limits.uploadsPerMessageMax + 1],
    ] as const) {
      const page = await pageOf(house);
      page.say(text, undefined, Array(count).fill("some"));
      expect(await page.closed).toBe(4_400);
    }
  });
});

describe("what lies on the disk", () => {
  const folderOf = ({ stateDir }: UploadDaemon) => join(stateDir, "uploads");
  const filesIn = (house: UploadDaemon) =>
    readdirSync(folderOf(house)).filter((name) => !name.includes("."));

  test("is for us alone, under a name that says nothing", async () => {
    const house = await openUploadDaemon();
    const { id } = await house.keep("words", "../../etc/passwd");
    expect(filesIn(house)).toEqual([id]);
    expect(id).toMatch(/^[0-9a-z]{26}$/);
    expect(statSync(folderOf(house)).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folderOf(house)))
      expect(statSync(join(folderOf(house), name)).mode & 0o777).toBe(0o600);
  });

  test("is gone when it is taken back, and cannot be once it was sent", async () => {
    const house = await openUploadDaemon();
    const back = await house.keep("never mind", "a.txt");
    expect((await house.remove(back.id)).status).toBe(200);
    expect((await house.remove(back.id)).status).toBe(404);
    expect((await house.get(back.id)).status).toBe(404);
    expect(filesIn(house)).toEqual([]);
    const sent = await house.keep("said", "b.txt");
    const page = await pageOf(house);
    page.say("", undefined, [sent.id]);
    await page.wait("taken");
    expect((await house.remove(sent.id)).status).toBe(404);
    expect((await house.get(sent.id)).status).toBe(200);
  });

  test("makes room for what is newer when all of it is too much", async () => {
    const house = await openUploadDaemon({ storeBytesMax: 1_048_576 });
    const ids = [];
    for (let n = 0; n < 4; n += 1)
      ids.push((await house.keep(Buffer.alloc(400_000, 120), `${n}.txt`)).id);
    expect(filesIn(house).sort()).toEqual(ids.slice(2).sort());
  });

  test("what is half written, or not ours, is cleared at the next start", async () => {
    const house = await openUploadDaemon();
    const whole = await house.keep("whole", "a.txt");
    const torn = await house.keep("torn", "b.txt");
    rmSync(join(folderOf(house), `${torn.id}.label`));
    writeFileSync(join(folderOf(house), "stranger"), "who?", { mode: 0o600 });
    const old = new Date(Date.now() - 7_200_000);
    utimesSync(join(folderOf(house), "stranger"), old, old);
    await house.again();
    expect((await house.get(whole.id)).status).toBe(200);
    expect((await house.get(torn.id)).status).toBe(404);
    await expect.poll(() => filesIn(house)).toEqual([whole.id]);
  });
});
