/**
 * A real daemon with a heartbeat and a plugin: worker threads, files, config and all. Nothing here
 * waits for a moment, only for what has to come of it.
 */
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { EarshotError } from "../../src/domain/errors.ts";
import { inboundSchema } from "../../src/domain/message.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { rounds } from "../support/rounds.ts";

const patience = { timeout: 30_000, interval: 50 };

/** Says what it was asked, so that a test sees who was called, and for what. */
const agent = `
export default async function* (turn) {
  yield { type: "text", text: turn.heartbeat
    ? (turn.prompt.includes("ask me nothing") ? "HEARTBEAT_OK" : "The build is red.")
    : "You said " + turn.said };
}`;

const plugin = `
export default {
  name: "signing",
  hooks: { "message.sending": ({ text }) => ({ text: text + " (signed)" }) },
};`;

async function openDaemon(more: Record<string, unknown> = {}, workers = rounds(0, 1)) {
  const stateDir = newFolder();
  mkdirSync(join(stateDir, "home"));
  writeFileSync(join(stateDir, "agent.mjs"), agent);
  writeFileSync(join(stateDir, "plugin.mjs"), plugin);
  const config = {
    agents: {
      list: [
        { id: "main", workspace: "./home", driver: { kind: "module", module: "./agent.mjs" } },
      ],
    },
    access: { dmPolicy: "open" },
    ...more,
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const logged: string[] = [];
  const start = () =>
    startDaemon({
      stateDir,
      port: 0,
      workers,
      env: {},
      logLevel: "debug",
      writeLog: (line) => logged.push(line),
    });
  return { stateDir, logged, start, beat: join(stateDir, "home", "HEARTBEAT.md") };
}

type Daemon = Awaited<ReturnType<typeof startDaemon>>;

async function say(daemon: Daemon, id: string, text: string) {
  const chat = { id: "ann", kind: "direct" as const };
  const message = inboundSchema.parse({
    channel: "webhook",
    chat,
    id,
    author: { id: "ann" },
    text,
  });
  await daemon.runtime.ingest("webhook", "default", [{ type: "message", message }]);
}

async function sent(daemon: Daemon): Promise<string[]> {
  const answer = await fetch(`${daemon.base}/api/outbound`, {
    headers: { authorization: `Bearer ${daemon.token}` },
  });
  const { outbound } = (await answer.json()) as { outbound: { text: string }[] };
  return outbound.map(({ text }) => text);
}

test("without a workspace the file is read from the state directory", async () => {
  const driver = { kind: "module", module: "./agent.mjs" };
  const { start, stateDir } = await openDaemon({
    heartbeat: { everyMs: 1_000 },
    agents: { list: [{ id: "main", driver }] },
  });
  mkdirSync(join(stateDir, "agents", "main"), { recursive: true });
  writeFileSync(join(stateDir, "agents", "main", "HEARTBEAT.md"), "Look at the build.");
  const daemon = await start();
  await say(daemon, "m1", "hi");
  const news = async () => (await sent(daemon)).includes("The build is red.");
  await expect.poll(news, patience).toBe(true);
  await daemon.stop();
});

test("an agent is woken while its file asks for something, and heard if it has something to say", async () => {
  const { start, beat, logged } = await openDaemon({ heartbeat: { everyMs: 1_000 } }, 1);
  const daemon = await start();
  await say(daemon, "m1", "hi");
  await expect.poll(() => sent(daemon), patience).toEqual(["You said hi"]);
  const skipped = () => logged.filter((line) => line.includes("heartbeat.skipped")).length;
  await expect.poll(skipped, patience).toBeGreaterThan(0);
  const turns = () => logged.filter((line) => line.includes('"outcome"')).length;
  await expect.poll(turns, patience).toBe(1);

  symlinkSync("/etc/hostname", beat);
  const refused = () => logged.some((line) => line.includes("heartbeat.unread"));
  await expect.poll(refused, patience).toBe(true);
  expect(turns()).toBe(1);
  unlinkSync(beat);

  writeFileSync(beat, "ask me nothing, please");
  await expect.poll(turns, patience).toBeGreaterThan(1);
  expect(await sent(daemon)).toEqual(["You said hi"]);

  writeFileSync(beat, "Look at the build.");
  const news = async () => (await sent(daemon)).includes("The build is red.");
  await expect.poll(news, patience).toBe(true);
  await say(daemon, "m2", "still there?");
  const answered = async () => (await sent(daemon)).includes("You said still there?");
  await expect.poll(answered, patience).toBe(true);
  const metrics = await (await fetch(`${daemon.base}/metrics`)).text();
  expect(metrics).toMatch(/earshot_heartbeats_total\{result="woken"\} [1-9]/);
  expect(metrics).toMatch(/earshot_heartbeats_total\{result="skipped"\} [1-9]/);
  await daemon.stop();
});

test("a plugin that the config names has its word, also after a reload of the rest", async () => {
  const { start } = await openDaemon({ plugins: ["./plugin.mjs"] });
  const daemon = await start();
  await say(daemon, "m1", "hi");
  await expect.poll(() => sent(daemon), patience).toEqual(["You said hi (signed)"]);
  await daemon.stop();
});

test("one that cannot be loaded keeps the daemon from starting, and nothing stays behind", async () => {
  const { start, stateDir } = await openDaemon({ plugins: ["./plugin.mjs", "./nowhere.mjs"] });
  const refusal = await start().then(
    () => null,
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(EarshotError);
  expect((refusal as EarshotError).code).toBe("EAR_PLUGIN");
  expect((refusal as EarshotError).message).toContain("plugins[1]");
  expect((refusal as EarshotError).message).toContain(join(stateDir, "nowhere.mjs"));
  writeFileSync(join(stateDir, "nowhere.mjs"), plugin.replace("signing", "again"));
  const daemon = await start();
  await say(daemon, "m1", "hi");
  await expect.poll(() => sent(daemon), patience).toEqual(["You said hi (signed) (signed)"]);
  await daemon.stop();
});

test("a plugin's channel is a channel of the config, and no hook is given a secret", async () => {
  const { start, stateDir } = await openDaemon({
    plugins: ["./channel.mjs"],
    channels: { pigeon: { accounts: { default: { apiToken: "s3cret-pigeon" } } } },
    access: { dmPolicy: "open" },
  });
  const lines = join(stateDir, "told.txt");
  writeFileSync(
    join(stateDir, "channel.mjs"),
    `
import { appendFileSync } from "node:fs";
const tell = (event) => appendFileSync(${JSON.stringify(lines)}, JSON.stringify(event) + "\\n");
export default {
  name: "pigeon",
  hooks: {
    "message.received": tell, "turn.started": tell, "turn.ended": tell, "message.sending": tell,
  },
  channels: [{
    id: "pigeon",
    meta: { name: "Pigeon", description: "Carries words" },
    capabilities: { edits: false, deletes: false, reactions: false, typing: false, threads: false,
      membership: false, history: false, media: false, mentions: "unknown", replyAuthor: false,
      botFlag: false },
    textLimit: 500,
    typingIntervalMs: 5000,
    local: false,
    accountSchema: { safeParse: (data) => ({ success: true, data }) },
    open: ({ accountId, config, deliver, reportState }) => ({
      async start(signal) {
        reportState("live");
        await deliver([{ type: "message", message: {
          channel: "pigeon", account: accountId, chat: { id: "ann", kind: "direct" }, thread: null,
          id: "coo", author: { id: "ann", name: "Ann", isBot: false, isSelf: false }, text: "coo",
          mentions: [], mentionsEveryone: false, replyTo: null, attachments: [],
          explicitOnly: false } }]);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
      outbound: {
        async sendText({ text }) { tell({ flown: text, with: config.apiToken.length });
          return { messageIds: ["p1"] }; },
        async replyText({ text }) { tell({ flown: text }); return { messageIds: ["p1"] }; },
      },
    }),
  }],
};`,
  );
  const daemon = await start();
  const { readFileSync } = await import("node:fs");
  const all = () => {
    try {
      return readFileSync(lines, "utf8");
    } catch {
      return "";
    }
  };
  await expect.poll(all, patience).toContain('"flown":"You said coo"');
  expect(all()).toContain('"decision":"engage"');
  expect(all()).not.toContain("s3cret-pigeon");
  expect(all()).not.toContain(daemon.token);
  await daemon.stop();
}, 60_000);
