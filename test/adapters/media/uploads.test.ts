/**
 * The cache of uploads, by its own clock: a file's owner, its type, and how long it is kept.
 */
import { existsSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openUploads, type Uploads } from "../../../src/adapters/media/uploads.ts";
import { limits } from "../../../src/domain/limits.ts";
import { anyCharacter, property } from "../../support/property.ts";
import { tempFolder } from "../../support/runtime/media-service.ts";
import { sampleFiles } from "../../support/servers/media.ts";

const hourMs = 3_600_000;

async function* parts(...all: (Uint8Array | string)[]) {
  for (const part of all) yield Buffer.from(part);
}
const terms = { name: "a.txt", declared: "", bytesMax: 10_000, totalMax: 1_000_000 };

/** Uploads with a clock that a test moves. */
function openRig(folder = join(tempFolder(), "uploads")) {
  const time = { now: 1_000_000_000_000 };
  let count = 0;
  const unique = () => {
    count += 1;
    return `${Math.random().toString(36).slice(2, 8)}${count}`;
  };
  const open = () => openUploads({ folder, now: () => time.now, unique });
  const rig = {
    folder,
    time,
    uploads: open(),
    reopen: () => Object.assign(rig, { uploads: open() }),
  };
  return rig;
}
const keep = (uploads: Uploads, words: Uint8Array | string, more: Partial<typeof terms> = {}) =>
  uploads.keep(parts(words), { ...terms, ...more });

describe("whose a file is", () => {
  test("the first message that names it, and no other, whoever asks at the same time", async () => {
    const { uploads } = openRig();
    const { id } = await keep(uploads, "words");
    const asked = await Promise.allSettled(["m1", "m2", "m3"].map((m) => uploads.send([id], m)));
    expect(asked.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
    expect((await uploads.find(id))?.owner).toEqual({ of: "message", id: "m1" });
    expect(await uploads.send([id], "m1")).toHaveLength(1);
  });

  test("of several that are named all are given, or none", async () => {
    const { uploads } = openRig();
    const { id } = await keep(uploads, "words");
    await expect(uploads.send([id, "nothing"], "m1")).rejects.toThrow("Attach it again");
    expect((await uploads.find(id))?.owner).toBeNull();
    expect(await uploads.drop(id)).toBe(true);
  });

  test("is known after a restart", async () => {
    const rig = openRig();
    const { id } = await keep(rig.uploads, "words");
    await rig.uploads.send([id], "m1");
    const { uploads } = rig.reopen();
    expect(await uploads.find(id)).toMatchObject({ owner: { of: "message", id: "m1" } });
    expect(await uploads.ofAnswer("m1")).toEqual([]);
    await expect(uploads.send([id], "m2")).rejects.toThrow("no longer here");
  });
});

describe("how long it is kept", () => {
  test("what was not sent goes after its time, what was sent with its message", async () => {
    const rig = openRig();
    const { uploads, time } = rig;
    const unsent = await keep(uploads, "unsent");
    const sent = await keep(uploads, "sent");
    await uploads.send([sent.id], "m1");
    time.now += limits.uploadUnsentMsMax;
    await uploads.deleteOld(time.now - 48 * hourMs, 1_000_000);
    expect(await uploads.find(unsent.id)).not.toBeNull();
    time.now += 1;
    await rig.reopen().uploads.deleteOld(time.now - 48 * hourMs, 1_000_000);
    expect(existsSync(join(rig.folder, unsent.id))).toBe(false);
    expect(existsSync(join(rig.folder, sent.id))).toBe(true);
    time.now += 48 * hourMs;
    await rig.reopen().uploads.deleteOld(time.now - 48 * hourMs, 1_000_000);
    expect(existsSync(join(rig.folder, sent.id))).toBe(false);
  });

  test("more that were not sent than there may be: the oldest of them go", async () => {
    const { uploads, time } = openRig();
    const sent = await keep(uploads, "sent");
    await uploads.send([sent.id], "m1");
    const ids: string[] = [];
    for (let n = 0; n < limits.uploadsUnsentMax + 3; n += 1) {
      time.now += 1;
      ids.push((await keep(uploads, `words ${n}`)).id);
    }
    const left = await Promise.all(ids.map((id) => uploads.find(id)));
    expect(left.slice(0, 3)).toEqual([null, null, null]);
    expect(left.slice(3)).not.toContain(null);
    expect(await uploads.find(sent.id)).not.toBeNull();
  });

  test("a file that is larger than it may be, empty, or breaks off leaves nothing", async () => {
    const { uploads, folder } = openRig();
    await expect(keep(uploads, "x".repeat(10_001))).rejects.toMatchObject({
      code: "EAR_HTTP_REFUSED",
    });
    await expect(keep(uploads, "")).rejects.toThrow("empty");
    async function* broken() {
      yield Buffer.from("half");
      throw new Error("the line went");
    }
    await expect(uploads.keep(broken(), terms)).rejects.toThrow("the line went");
    expect(readdirSync(folder)).toEqual([]);
    expect((await keep(uploads, "x".repeat(10_000))).bytes).toBe(10_000);
  });

  test("a file that was cut or replaced by a link is not what was kept", async () => {
    const rig = openRig();
    const cut = await keep(rig.uploads, "whole words");
    const linked = await keep(rig.uploads, "my own words");
    truncateSync(join(rig.folder, cut.id), 3);
    const secret = join(tempFolder(), "secret");
    writeFileSync(secret, "my own words");

    rmSync(join(rig.folder, linked.id));
    symlinkSync(secret, join(rig.folder, linked.id));
    await expect(rig.uploads.open(linked.id)).rejects.toThrow();
    const { uploads } = rig.reopen();
    expect(await uploads.find(cut.id)).toBeNull();
    expect(await uploads.find(linked.id)).toBeNull();
    expect(existsSync(secret)).toBe(true);
  });
});

describe("what it is", () => {
  const { png, ogg, mp4 } = sampleFiles;

  test.each([
    ["a picture", png, "image/png", "image", "image/png"],
    ["a picture under no type", png, "", "image", "image/png"],
    ["a picture of another kind", png, "image/jpeg", "image", "image/png"],
    ["a sound", ogg, "audio/ogg", "audio", "audio/ogg"],
    ["a film", mp4, "video/mp4", "video", "video/mp4"],
    ["a film that is said to be a sound", mp4, "audio/mp4", "audio", "video/mp4"],
    ["words", "hello", "text/plain", "file", "text/plain"],
    ["a page", "<script>alert(1)</script>", "text/html", "file", "text/plain"],
    ["a drawing", "<svg onload='alert(1)'/>", "image/svg+xml", "file", "text/plain"],
    ["bytes", "\x00\x01\x02\x03", "", "file", "application/octet-stream"],
    [
      "a picture of no known kind",
      "\x00\x01\x02",
      "image/x-new",
      "file",
      "application/octet-stream",
    ],
  ] as const)("%s", async (_what, bytes, declared, kind, mime) => {
    const upload = await keep(openRig().uploads, bytes as Uint8Array | string, { declared });
    expect(upload).toMatchObject({ kind, mime });
  });

  test.each([
    ["words that are said to be a picture", "hello", "image/png"],
    ["a page that is said to be a sound", "<html>", "audio/mpeg"],
    ["a drawing that is said to be a plain picture", "<svg/>", "image/png"],
    ["a picture that is said to be a film", sampleFiles.png, "video/mp4"],
    ["a picture that is said to be a drawing in words", "%PDF-1.7", "image/svg+xml"],
  ] as const)("%s is refused", async (_what, bytes, declared) => {
    const { uploads } = openRig();
    const kept = keep(uploads, bytes as Uint8Array | string, { declared });
    await expect(kept).rejects.toThrow(/declared as .*, but it is/);
  });

  property([fc.string({ unit: anyCharacter, maxLength: 300 })], { numRuns: 60 })(
    "whatever it is called, its name is one short line that leads nowhere",
    async (name) => {
      const { uploads, folder } = openRig();
      const upload = await keep(uploads, "words", { name });
      const shown = upload.name ?? "none";
      expect(shown).not.toMatch(/[/\\\n\r\p{Cc}\p{Bidi_C}]/u);
      expect(shown.length).toBeLessThanOrEqual(120);
      expect(existsSync(join(folder, upload.id))).toBe(true);
    },
  );

  test("a plain name stays as it is", async () => {
    const { uploads } = openRig();
    for (const name of ["Brief an Zoë (2).pdf", "日本.txt", ".profile"])
      expect((await keep(uploads, "words", { name })).name).toBe(name);
    expect((await keep(uploads, "words", { name: "C:\\Users\\me\\a.txt" })).name).toBe("a.txt");
    expect((await keep(uploads, "words", { name: "../../../" })).name).toBeNull();
  });
});
