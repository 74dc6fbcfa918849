/**
 * Plugins of the config in a daemon of its own: what they deliver is checked at the edge, and what
 * they leave behind does not end the daemon.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { callApi, findDaemon } from "../../src/daemon/cli/lib/api-client.ts";
import { builtMain } from "../support/built/files.ts";
import { newFolder } from "../support/daemon/folder.ts";

interface LogLine {
  readonly msg: string;
  readonly level: string;
  readonly plugin?: string;
  readonly channel?: string;
  readonly error?: string;
  readonly detail?: string;
}

/** Plugins that each leave a rejection behind, by what it is of. */
const rejecting = [
  ["while it is loaded", "void Promise.reject(new Error('lost feather'));", ""],
  ["after a timer", "setTimeout(() => { void Promise.reject('lost feather'); }, 50);", ""],
  [
    "of its channel",
    "",
    "start: async (signal) => { reportState('live'); setTimeout(async () => " +
      "{ throw new Error('lost feather'); }, 20); await new Promise((end) => " +
      "signal.addEventListener('abort', end)); },",
  ],
] as const;

const person = "author: { id: 'ann' }, chat: { id: 'room', kind: 'group' }, id: 'm1'";
const messageOf = (channel: string, text: string) =>
  `{ type: 'message', message: { channel: '${channel}', ${person}, text: ${text} } }`;

/** What the channel of a plugin delivers, and why it is refused. */
const refused = [
  ["no message at all", () => "{ type: 'message' }", /event 0: message: /],
  ["a text that is no text", (own: string) => messageOf(own, "7"), /event 0: message\.text: /],
  [
    "another channel's name",
    () => messageOf("telegram", "'hi'"),
    /event 0: message\.channel: .*"refused2"/,
  ],
  ["an event of no kind", () => "{ type: 'coo' }", /event 0: type: /],
] as const;

/** Their sources by the names of their files, which are those of their channels. */
const sources = new Map<string, string>([
  ...rejecting.map(([, top, start], n): [string, string] => [
    `rejecting${n}`,
    `${top} export default { name: "rejecting${n}"${channelWith(`rejecting${n}`, start)} };`,
  ]),
  ...refused.map(([, event], n): [string, string] => [
    `refused${n}`,
    delivering(`refused${n}`, event(`refused${n}`)),
  ]),
  ["short", delivering("short", messageOf("short", "'hi'"))],
]);

/** A daemon with all of these plugins: what one of them does harms no other. */
async function startWithAll() {
  const stateDir = newFolder();
  const names = [...sources.keys()];
  for (const [name, code] of sources) writeFileSync(join(stateDir, `${name}.mjs`), code);
  const withChannel = names.filter((name) => sources.get(name)?.includes("channels:"));
  const config = {
    plugins: names.map((name) => `./${name}.mjs`),
    access: { groupPolicy: "open" },
    channels: Object.fromEntries(withChannel.map((name) => [name, { accounts: { default: {} } }])),
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config));
  const env = { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" };
  const args = ["start", "--state-dir", stateDir, "--port", "0", "--workers", "0"];
  const child = spawn(process.execPath, [builtMain, ...args], { env, stdio: "pipe" });
  const lines: LogLine[] = [];
  let rest = "";
  child.stderr.on("data", (data) => {
    const parts = `${rest}${data}`.split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part.startsWith("{")) lines.push(JSON.parse(part) as LogLine);
  });
  /** The first line of this name that speaks of this plugin. */
  const logged = async (msg: string, about: string) => {
    const find = () => {
      const found = lines.find((line) => line.msg === msg && JSON.stringify(line).includes(about));
      if (found === undefined) throw new Error(`${msg} of ${about} is not in the log`);
      return found;
    };
    return vi.waitFor(find, { timeout: 60_000 });
  };
  await logged("daemon.ready", "");
  const daemon = await findDaemon(stateDir);
  if (daemon === null) throw new Error("no daemon answers");
  return {
    child,
    logged,
    status: () => callApi<{ conversations: unknown }>(daemon, "/api/status"),
  };
}

let daemon: Awaited<ReturnType<typeof startWithAll>>;
beforeAll(async () => {
  daemon = await startWithAll();
});
afterAll(() => daemon.child.kill("SIGKILL"));

describe("a rejection that a plugin leaves behind", () => {
  test.each(rejecting.map(([when], n) => [when, `rejecting${n}`] as const))(
    "%s is logged with its name, and the daemon goes on",
    async (_, plugin) => {
      const line = await daemon.logged("plugin.rejected", plugin);
      expect(line).toMatchObject({ level: "error", plugin: expect.stringContaining(plugin) });
      expect(line.error).toContain("lost feather");
      expect(await daemon.status()).toBeDefined();
    },
  );
});

describe("what a plugin's channel delivers", () => {
  test.each(refused.map(([what, , why], n) => [what, `refused${n}`, why] as const))(
    "%s is refused with its place, and the account shows why",
    async (_, channel, why) => {
      const line = await daemon.logged("connection.crashed", channel);
      expect(line).toMatchObject({ channel });
      expect(line.error).toMatch(why);
    },
  );

  test("the short form of a message gets its defaults", async () => {
    expect(await daemon.logged("decision", "short")).toBeDefined();
  });
});

test("with all of that, the daemon ends with 0 when it is told to", async () => {
  daemon.child.kill("SIGTERM");
  const [code] = await once(daemon.child, "close");
  expect(code).toBe(0);
});

function delivering(channel: string, event: string): string {
  const start =
    `start: async (signal) => { reportState('live'); await deliver([${event}]); ` +
    "await new Promise((end) => signal.addEventListener('abort', end)); },";
  return `export default { name: "${channel}"${channelWith(channel, start)} };`;
}

function channelWith(id: string, start: string): string {
  if (start === "") return "";
  return `, channels: [{ id: "${id}", meta: { name: "Pigeon", description: "birds" },
    capabilities: { edits: false, deletes: false, reactions: false, typing: false, threads: false,
      membership: false, history: false, media: false, mentions: "unknown", replyAuthor: false,
      botFlag: false },
    textLimit: 100, typingIntervalMs: 5000, local: false,
    accountSchema: { safeParse: (data) => ({ success: true, data }) },
    open: ({ deliver, reportState }) => ({ ${start} outbound: {} }) }]`;
}
