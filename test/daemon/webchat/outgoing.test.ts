/**
 * Files and choices of an agent on the page of a whole daemon: the bytes of a file, stored once, and
 * buttons whose press is a message of the person.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openUploads } from "../../../src/adapters/media/uploads.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { startDaemon } from "../../../src/daemon/daemon.ts";
import { createWebchatUploads } from "../../../src/daemon/webchat/uploads.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { openPage } from "../../support/daemon/page.ts";
import { inTurn } from "../../support/rounds.ts";
import { sampleFiles } from "../../support/servers/media.ts";

test.each(inTurn([0, 1], 1))(
  "the page gets the file of an agent and its question, %d workers",
  async (workers) => {
    const stateDir = newFolder();
    const workspace = join(stateDir, "agents", "main");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "chart.png"), sampleFiles.png);
    writeFileSync(join(workspace, "data.bin"), Buffer.from([0, 1, 2, 0xff, 0xfe, 0]));
    const send = (input: object) => ({ tool: "channel_send", input });
    const steps = [
      send({ text: "sales", media: { source: "chart.png" } }),
      send({ media: { source: "data.bin" } }),
      send({ text: "Which?", choices: { options: ["tea", "coffee"] } }),
      { text: "done" },
    ];
    const driver = { kind: "scripted", runs: [{ steps }, { steps: [{ text: "coffee it is" }] }] };
    const config = join(stateDir, "earshot.json5");
    writeFileSync(config, JSON.stringify({ agents: { list: [{ id: "main", driver }] } }), {
      mode: 0o600,
    });
    const writeLog = () => undefined;
    const daemon = await startDaemon({ stateDir, config, port: 0, workers, env: {}, writeLog });
    onTestFinished(() => daemon.stop({ drainMs: 0 }));
    const page = await openPage(daemon.base, daemon.token, 0);
    await page.wait("ready");
    page.say("show me");
    await page.wait("said", ({ text }) => text === "done");
    const [file, data, question] = page.of("said");
    expect(file).toMatchObject({ text: "sales" });
    expect(file?.attachments).toMatchObject([
      { kind: "image", mime: "image/png", name: "chart.png" },
    ]);
    expect(data).toMatchObject({ text: "", attachments: [{ kind: "file", name: "data.bin" }] });
    const choices = { text: "Which?", options: ["tea", "coffee"] };
    expect(question).toMatchObject({ text: "Which?\n1. tea\n2. coffee", choices });
    const url = `${daemon.base}/api/webchat/uploads/${file?.attachments?.[0]?.id}`;
    const stored = await fetch(url, { headers: { authorization: `Bearer ${daemon.token}` } });
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(sampleFiles.png);

    page.say("coffee", "press-1", [], question?.id);
    await page.wait("said", ({ text }) => text === "coffee it is");
    const transcript = readdirSync(join(stateDir, "agents", "main", "sessions"))
      .map((name) => readFileSync(join(stateDir, "agents", "main", "sessions", name), "utf8"))
      .join("");
    expect(transcript).toContain("coffee");
    const later = await openPage(daemon.base, daemon.token, 0);
    await later.wait("said", ({ text }) => text === "coffee it is");
    expect(later.of("said")).toEqual(page.of("said"));
  },
);

test("a file whose delivery is repeated is stored once", async () => {
  const config = parseConfig({});
  const uploads = createWebchatUploads({
    clock: createSystemClock(),
    log: () => undefined,
    uploads: openUploads({
      folder: newFolder(),
      now: Date.now,
      unique: () => randomUUID().replaceAll("-", ""),
    }),
    config: () => config,
    route: () => ({ agent: { id: "main", name: "earshot" }, keys: ["agent:main:main"] }),
  });
  const chat = { id: "web", kind: "direct" } as const;
  const route = { channel: "webchat", account: "default", chat, thread: null };
  const { signal } = new AbortController();
  const about = { name: "chart.png", mime: "image/png", data: sampleFiles.png };
  const request = { route, id: "turn:0", signal, ...about };
  const first = await uploads.say(request);
  expect((await uploads.say(request)).upload).toEqual(first.upload);
  expect(await uploads.filesOf("turn:0", null, Date.now())).toHaveLength(1);
});
