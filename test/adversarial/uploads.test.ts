/**
 * A25 and A26 at the door where pages give files: who may, what it may be called, what it may be,
 * how large and how slow. A whole daemon, bytes by hand; after each of them a plain file is taken.
 */
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { limits } from "../../src/domain/limits.ts";
import { openPage } from "../support/daemon/page.ts";
import { openUploadDaemon, type UploadDaemon } from "../support/daemon/uploads.ts";
import { sampleFiles } from "../support/servers/media.ts";

const { png } = sampleFiles;
const kept = ({ stateDir }: UploadDaemon) => {
  const folder = join(stateDir, "uploads");
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.includes(".")) : [];
};
/** The positive twin of every refusal. */
async function expectTaken(world: UploadDaemon): Promise<void> {
  const { id } = await world.keep(png, "fine.png", "image/png");
  expect(kept(world)).toContain(id);
}

/** Writes a head and then what `write` says, until the server closes. */
function byHand(
  { daemon }: UploadDaemon,
  headers: readonly string[],
  write: (put: (bytes: string | Buffer) => void) => void,
): Promise<{ answer: string; ms: number }> {
  const { port, hostname } = new URL(daemon.base);
  const begun = Date.now();
  const head = [
    "POST /api/webchat/uploads?name=x HTTP/1.1",
    `Host: ${hostname}:${port}`,
    ...headers,
    "\r\n",
  ].join("\r\n");
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(head);
      write((bytes) => void (socket.destroyed || socket.write(bytes)));
    });
    socket.on("data", (data) => {
      answer += String(data);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve({ answer, ms: Date.now() - begun }));
  });
}
const statusIn = (answer: string) => Number(answer.split(" ")[1]);

describe("who may give and look at a file", () => {
  test("nobody without the token, with an old one, or with one in the query or a cookie", async () => {
    const world = await openUploadDaemon();
    const { id } = await world.keep(png, "hat.png", "image/png");
    const { base, token } = world.daemon;
    const url = `${base}/api/webchat/uploads`;
    for (const headers of [
      {},
      { authorization: "Bearer " },
      { authorization: `Bearer ${"x".repeat(token.length)}` },
      { cookie: `token=${token}` },
    ] as Record<string, string>[]) {
      const body = png as never;
      const query = `?token=${token}`;
      const answers = [
        await fetch(`${url}${query}`, { method: "POST", headers, body }),
        await fetch(`${url}/${id}${query}`, { headers }),
        await fetch(`${url}/${id}${query}`, { method: "DELETE", headers }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    }
    expect(kept(world)).toEqual([id]);
    await expectTaken(world);
  });

  test("no page of another site, and no name that is not ours, even with the token", async () => {
    const world = await openUploadDaemon();
    const { id } = await world.keep(png, "hat.png", "image/png");
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
    ]) {
      expect((await world.post(png, { headers })).status).toBe(403);
      const authorization = `Bearer ${world.daemon.token}`;
      expect((await world.get(id, { authorization, ...headers })).status).toBe(403);
    }
    const strange = ["Host: evil.example", `Authorization: Bearer ${world.daemon.token}`];
    const { answer } = await byHand(
      world,
      [...strange, "Content-Length: 3", "Connection: close"],
      (put) => put("abc"),
    );
    // Two Host lines are no request at all.
    expect([400, 421]).toContain(statusIn(answer));
    expect(kept(world)).toEqual([id]);
    await expectTaken(world);
  });

  test("a file of another room, or of another message, cannot be had by its name", async () => {
    const world = await openUploadDaemon();
    const mine = await world.keep("my words", "mine.txt");
    const page = await openPage(world.daemon.base, world.daemon.token);
    await page.wait("ready");
    page.say("here", "m1", [mine.id]);
    await page.wait("said");
    // Files that the media service fetched for the agent have another name, which is of no use
    // here.
    const media = join(world.stateDir, "media");
    const [fetched = ""] = existsSync(media) ? readdirSync(media) : [];
    for (const name of [
      fetched,
      "..%2fmedia%2f",
      "%2e%2e%2ftoken",
      "token",
      "%00",
      "x".repeat(300),
    ])
      if (name !== "") expect((await world.get(name)).status).toBe(404);
    const id = page.say("and here", "m2", [mine.id]);
    expect((await page.wait("error", (one) => one.id === id)).final).toBe(true);
    expect((await world.get(mine.id)).status).toBe(200);
  });
});

describe("A25 what a file may be called", () => {
  test("anything: it is shown as one line, and leads nowhere", async () => {
    const world = await openUploadDaemon();
    for (const [name, shown] of [
      ["../../../etc/passwd", "passwd"],
      ["C:\\Windows\\x.txt", "x.txt"],
      ["a%2fb.txt", "a%2fb.txt"],
      ["nul\u0000l.txt", "null.txt"],
      ["two\nlines\r\nx-evil: 1.txt", "two lines x-evil: 1.txt"],
      ["\u202egnp.exe", "gnp.exe"],
      ['quote".png; filename=evil.html', 'quote".png; filename=evil.html'],
      ["__proto__", "__proto__"],
      ["", null],
    ] as const) {
      const file = await world.keep("words", name);
      expect(file.name).toBe(shown);
      const answer = await world.get(file.id);
      const disposition = answer.headers.get("content-disposition") ?? "";
      expect(disposition).toMatch(/^attachment; filename\*=UTF-8''[A-Za-z0-9%._~-]+$/);
      const said = decodeURIComponent(disposition.split("''")[1] ?? "");
      expect(said).toBe(shown ?? file.id);
      expect(answer.headers.get("x-evil")).toBeNull();
    }
    const long = await world.keep("words", "n".repeat(4_000));
    expect(long.name?.length).toBeLessThanOrEqual(120);
    expect(readdirSync(world.stateDir)).not.toContain("passwd");
  });
});

describe("A26 what a file may be", () => {
  test("only a plain picture is shown in place; nothing that could run ever is", async () => {
    const world = await openUploadDaemon();
    for (const [bytes, type] of [
      ["<html><script>alert(1)</script></html>", "text/html"],
      ["<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/svg+xml"],
      [
        "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'/>",
        "application/xhtml+xml",
      ],
      ["alert(1)", "text/javascript"],
      ["%PDF-1.7 alert(1)", "application/pdf"],
      [sampleFiles.mp4, "video/mp4"],
      [Buffer.from("BM\0\0\0\0\0\0\0\0", "latin1"), "image/bmp"],
    ] as const) {
      const { id } = await world.keep(bytes as string, "x.png", type);
      const { headers } = await world.get(id);
      expect(headers.get("content-type")).toBe("application/octet-stream");
      expect(headers.get("content-disposition")).toMatch(/^attachment;/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'; sandbox");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("cache-control")).toBe("no-store");
    }
    const { id } = await world.keep(png, "hat.png", "image/png");
    const { headers } = await world.get(id);
    const url = `${world.daemon.base}/api/webchat/uploads/${id}`;
    const authorization = `Bearer ${world.daemon.token}`;
    const head = await fetch(url, { method: "HEAD", headers: { authorization } });
    expect(head.headers.get("content-length")).toBe(String(png.length));
    expect(head.headers.get("content-disposition")).toBe(headers.get("content-disposition"));
    expect(headers.get("content-type")).toBe("image/png");
    expect(headers.get("content-disposition")).toMatch(/^inline;/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("what is announced as a picture and is none is refused with the reason", async () => {
    const world = await openUploadDaemon();
    for (const [bytes, type] of [
      ["<script>alert(1)</script>", "image/png"],
      ["<svg onload='alert(1)'/>", "image/jpeg"],
      [sampleFiles.zip, "image/png"],
      ["#!/bin/sh", "audio/mpeg"],
    ] as const) {
      const answer = await world.post(bytes, { headers: { "content-type": type } });
      expect(answer.status).toBe(415);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe("wrong-type");
      expect(error.message).toContain(`declared as ${type}, but it is`);
    }
    expect(kept(world)).toEqual([]);
    await expectTaken(world);
  });

  test("a form, packed bytes and nothing at all are no file", async () => {
    const world = await openUploadDaemon();
    const form = { "content-type": "multipart/form-data; boundary=x" };
    expect((await world.post("--x--", { headers: form })).status).toBe(415);
    for (const encoding of ["gzip", "br"])
      expect((await world.post(png, { headers: { "content-encoding": encoding } })).status).toBe(
        415,
      );
    const empty = await world.post("");
    expect(empty.status).toBe(400);
    expect(await empty.text()).toContain("empty");
    expect(kept(world)).toEqual([]);
    await expectTaken(world);
  });
});

describe("how much and how slowly", () => {
  const bearer = ({ daemon }: UploadDaemon) => `Authorization: Bearer ${daemon.token}`;

  test("over the limit it is refused, declared or not, and nothing is left of it", async () => {
    const world = await openUploadDaemon({ maxBytes: 100_000 });
    const part = Buffer.alloc(65_536, "x");
    const chunk = Buffer.concat([Buffer.from("10000\r\n"), part, Buffer.from("\r\n")]);
    const over = [
      { how: "Content-Length: 10000000000", piece: part },
      { how: "Transfer-Encoding: chunked", piece: chunk },
    ];
    for (const { how, piece } of over) {
      const { answer } = await byHand(world, [bearer(world), how], (put) => {
        for (let n = 0; n < 10; n += 1) put(piece);
      });
      expect(statusIn(answer)).toBe(413);
      expect(answer).toContain("media.maxBytes");
    }
    expect(readdirSync(join(world.stateDir, "uploads"))).toEqual([]);
    await expectTaken(world);
  });

  test("who goes in the middle leaves nothing, and is no error of ours", async () => {
    const world = await openUploadDaemon();
    const { port, hostname } = new URL(world.daemon.base);
    const head = [
      "POST /api/webchat/uploads HTTP/1.1",
      `Host: ${hostname}:${port}`,
      bearer(world),
      "Content-Length: 1000000",
      "\r\n",
    ];
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(head.join("\r\n"));
        socket.write(Buffer.alloc(10_000), () => setTimeout(() => socket.destroy(), 50));
      });
      socket.on("close", () => resolve());
    });
    await expect.poll(() => readdirSync(join(world.stateDir, "uploads"))).toEqual([]);
    await expectTaken(world);
    expect(world.log.join("")).not.toContain("api.failed");
  });

  test("a byte now and then is cut; one that keeps coming may take longer than other requests", async () => {
    const world = await openUploadDaemon();
    const steady = Buffer.alloc(16_384, "x");
    const every: NodeJS.Timeout[] = [];
    const drip =
      (bytes: string | Buffer, ms: number) => (put: (bytes: string | Buffer) => void) => {
        every.push(setInterval(() => put(bytes), ms));
      };
    const length = steady.length * 50;
    const slow = byHand(world, [bearer(world), "Content-Length: 1000000"], drip("x", 100));
    const strange = byHand(world, ["Content-Length: 1000000"], drip("x", 100));
    const patient = byHand(
      world,
      [bearer(world), `Content-Length: ${length}`, "Connection: close"],
      drip(steady, 240),
    );
    const answers = await Promise.all([slow, strange, patient]);
    for (const timer of every) clearInterval(timer);
    const [cut, refused, taken] = answers.map(({ answer }) => statusIn(answer));
    expect([cut, refused, taken]).toEqual([408, 401, 200]);
    // It took longer than anything else may.
    expect(answers[2].ms).toBeGreaterThan(limits.bodyMsMax);
    expect(kept(world)).toHaveLength(1);
  });

  test("more files at the same time than there may be wait for their turn", async () => {
    const world = await openUploadDaemon();
    let isOver = false;
    // A byte now and then, as the daemon cuts a body that rests for too long on a busy machine.
    const endless = () =>
      new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (isOver) return controller.close();
          controller.enqueue(Buffer.from("more "));
          await new Promise((resolve) => setTimeout(resolve, 100));
        },
      });
    const all = Array.from({ length: limits.uploadsAtOnceMax + 1 }, () => world.post(endless()));
    // Whichever comes last.
    expect((await Promise.race(all)).status).toBe(429);
    isOver = true;
    const answers = (await Promise.all(all)).map(({ status }) => status);
    expect(answers.filter((status) => status === 200)).toHaveLength(limits.uploadsAtOnceMax);
    await expectTaken(world);
  });
});
