/** A file and choices of an agent on the page of a whole daemon: the file's bytes, choices as text. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { openPage } from "../../support/daemon/page.ts";
import { sampleFiles } from "../../support/servers/media.ts";

test.each([0, 1])(
  "the page gets the file of an agent and its question, %d workers",
  async (workers) => {
    const stateDir = newFolder();
    const workspace = join(stateDir, "agents", "main");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "chart.png"), sampleFiles.png);
    const send = (input: object) => ({ tool: "channel_send", input });
    const steps = [
      send({ text: "sales", media: { source: "chart.png" } }),
      send({ text: "Which?", choices: { options: ["tea", "coffee"] } }),
      { text: "done" },
    ];
    const driver = { kind: "scripted", runs: [{ steps }] };
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
    const [file, question] = page.of("said");
    expect(file).toMatchObject({ text: "sales\n[image: chart.png]" });
    expect(file?.attachments).toMatchObject([
      { kind: "image", mime: "image/png", name: "chart.png" },
    ]);
    expect(question).toMatchObject({ text: "Which?\n1. tea\n2. coffee" });
    const url = `${daemon.base}/api/webchat/uploads/${file?.attachments?.[0]?.id}`;
    const stored = await fetch(url, { headers: { authorization: `Bearer ${daemon.token}` } });
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(sampleFiles.png);
  },
);
