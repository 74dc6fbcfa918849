/**
 * Plugins of the config in a daemon of its own: what they deliver is checked at the edge, and what
 * they leave behind does not end the daemon.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { callApi, findDaemon } from "../../src/daemon/cli/lib/api-client.ts";
import { builtMain } from "../support/built/files.ts";
import { newFolder } from "../support/daemon/folder.ts";

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

interface LogLine {
  readonly msg: string;
  readonly level: string;
  readonly plugin?: string;
  readonly error?: string;
  readonly detail?: string;
}

/** A daemon with one plugin, whose source is `code`. */
async function daemonWith(code: string, channel?: string) {
  const stateDir = newFolder();
  writeFileSync(join(stateDir, "pigeon.mjs"), code);
  const config = {
    plugins: ["./pigeon.mjs"],
    access: { groupPolicy: "open" },
    ...(channel !== undefined && { channels: { [channel]: { accounts: { default: {} } } } }),
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config));
  const env = { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" };
  const args = ["start", "--state-dir", stateDir, "--port", "0", "--workers", "0"];
  const child = spawn(process.execPath, [builtMain, ...args], { env, stdio: "pipe" });
  running.add(child);
  const lines: LogLine[] = [];
  let rest = "";
  child.stderr.on("data", (data) => {
    const parts = `${rest}${data}`.split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part.startsWith("{")) lines.push(JSON.parse(part) as LogLine);
  });
  const logged = (msg: string) =>
    expect
      .poll(() => lines.find((line) => line.msg === msg), { message: `${msg} in the log` })
      .toBeDefined()
      .then(() => lines.filter((line) => line.msg === msg));
  await logged("daemon.ready");
  const daemon = await findDaemon(stateDir);
  if (daemon === null) throw new Error("no daemon answers");
  return {
    logged,
    status: () => callApi<{ conversations: unknown }>(daemon, "/api/status"),
    async end() {
      child.kill("SIGTERM");
      const [code] = await once(child, "close");
      return code as number;
    },
  };
}

describe("a rejection that a plugin leaves behind", () => {
  test.each([
    ["while it is loaded", "void Promise.reject(new Error('lost feather'));", ""],
    ["after a timer", "setTimeout(() => { void Promise.reject('lost feather'); }, 50);", ""],
    [
      "of its channel",
      "",
      "start: async (signal) => { reportState('live'); setTimeout(async () => " +
        "{ throw new Error('lost feather'); }, 20); await new Promise((end) => " +
        "signal.addEventListener('abort', end)); },",
    ],
  ])("%s is logged with its name, and the daemon goes on", async (_, top, start) => {
    const daemon = await daemonWith(
      `${top} export default { name: "pigeon"${channelWith(start)} };`,
      start === "" ? undefined : "pigeon",
    );
    const [line] = await daemon.logged("plugin.rejected");
    expect(line).toMatchObject({ level: "error", plugin: expect.stringContaining("pigeon") });
    expect(line?.error).toContain("lost feather");
    expect(await daemon.status()).toBeDefined();
    expect(await daemon.end()).toBe(0);
  });
});

describe("what a plugin's channel delivers", () => {
  const person = "author: { id: 'ann' }, chat: { id: 'room', kind: 'group' }, id: 'm1'";
  test.each([
    ["no message at all", "{ type: 'message' }", /event 0: message: /],
    [
      "a text that is no text",
      `{ type: 'message', message: { channel: 'pigeon', ${person}, text: 7 } }`,
      /event 0: message\.text: /,
    ],
    [
      "another channel's name",
      `{ type: 'message', message: { channel: 'telegram', ${person}, text: 'hi' } }`,
      /event 0: message\.channel: .*"pigeon"/,
    ],
    ["an event of no kind", "{ type: 'coo' }", /event 0: type: /],
  ])("%s is refused with its place, and the account shows why", async (_, event, why) => {
    const daemon = await daemonWith(
      `export default { name: "pigeon"${channelWith(startWith(event))} };`,
      "pigeon",
    );
    const [line] = await daemon.logged("connection.crashed");
    expect(line?.error).toMatch(why);
    expect(await daemon.end()).toBe(0);
  });

  test("the short form of a message gets its defaults", async () => {
    const event = `{ type: 'message', message: { channel: 'pigeon', ${person}, text: 'hi' } }`;
    const daemon = await daemonWith(
      `export default { name: "pigeon"${channelWith(startWith(event))} };`,
      "pigeon",
    );
    await daemon.logged("decision");
    expect(await daemon.end()).toBe(0);
  });
});

const startWith = (event: string) =>
  `start: async (signal) => { reportState('live'); await deliver([${event}]); ` +
  "await new Promise((end) => signal.addEventListener('abort', end)); },";

function channelWith(start: string): string {
  if (start === "") return "";
  return `, channels: [{ id: "pigeon", meta: { name: "Pigeon", description: "birds" },
    capabilities: { edits: false, deletes: false, reactions: false, typing: false, threads: false,
      membership: false, history: false, media: false, mentions: "unknown", replyAuthor: false,
      botFlag: false },
    textLimit: 100, typingIntervalMs: 5000, local: false,
    accountSchema: { safeParse: (data) => ({ success: true, data }) },
    open: ({ deliver, reportState }) => ({ ${start} outbound: {} }) }]`;
}
