/** `earshot inspect --stately`: the address it prints opens, and says what it will show. */
import { spawn } from "node:child_process";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Daemon, startDaemon } from "../../../../src/daemon/daemon.ts";
import { inboundSchema } from "../../../../src/domain/message.ts";
import { runCommand } from "../../../support/built/command.ts";
import { builtMain } from "../../../support/built/files.ts";
import { newFolder } from "../../../support/daemon/folder.ts";

const stateDir = newFolder();
let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ stateDir, port: 0, workers: 0, env: {}, logLevel: "fatal" });
});
afterAll(() => daemon.stop());

const run = (...args: readonly string[]) =>
  runCommand(["inspect", ...args], { env: { HOME: stateDir, EARSHOT_STATE_DIR: stateDir } });

test("prints the address of the page, and asks for words only when told to", async () => {
  const key = "agent:main:webhook:group:kitchen";
  const [plain, words] = await Promise.all([
    run("--stately"),
    run("--stately", "--text", "--key", key, "--json"),
  ]);
  expect(plain).toMatchObject({ code: 0, out: `${daemon.base}/inspect#token=${daemon.token}\n` });
  expect(plain.err).toContain("stately.ai/inspect");
  expect(plain.err).toContain("without what people say");
  const { address } = JSON.parse(words.out) as { address: string };
  const asked = new URL(address).searchParams;
  expect([asked.get("key"), asked.get("words")]).toEqual([key, "1"]);
  expect(new URL(address).search).not.toContain(daemon.token);
  expect((await fetch(address)).status).toBe(200);
});

test("refuses what makes no sense with it", async () => {
  const [key, both] = await Promise.all([
    run("--stately", "--key", "../x"),
    run("--stately", "--decision", "engage"),
  ]);
  expect([key.code, both.code]).toEqual([2, 2]);
});

test.each([[], ["--text"], ["--show-text"]])(
  "shows texts on a terminal with --text only: %j",
  async (...args) => {
    const env = { PATH: process.env.PATH, HOME: stateDir, EARSHOT_STATE_DIR: stateDir };
    const watching = spawn(process.execPath, [builtMain, "inspect", ...args], { env });
    onTestFinished(() => void watching.kill());
    let out = "";
    watching.stdout.on("data", (data) => {
      out += String(data);
    });
    const said = { channel: "webhook", author: { id: "ann" }, text: "a private word" };
    const chat = { id: "kitchen", kind: "direct" };
    let count = 0;
    await expect
      .poll(
        async () => {
          count += 1;
          const id = `${args.join("")}${count}`;
          const message = inboundSchema.parse({ ...said, chat, id });
          await daemon.runtime.ingest("webhook", "default", [{ type: "message", message }]);
          return out;
        },
        { timeout: 20_000, interval: 200 },
      )
      .toContain("#");
    await expect.poll(() => out, { timeout: 20_000 }).toContain("[send]");
    expect(out.includes("a private word")).toBe(args.length > 0);
  },
);
