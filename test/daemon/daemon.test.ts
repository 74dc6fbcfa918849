/**
 * Starting and running a daemon in this process: what stands in its way is said in one line that names it,
 * and what a room says cannot forge a line of its log.
 */
import { chmod, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type DaemonOptions, startDaemon } from "../../src/daemon/daemon.ts";
import { ensureToken } from "../../src/daemon/state/token.ts";
import { EarshotError } from "../../src/domain/errors.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { openPage } from "../support/daemon/page.ts";

const quiet = { port: 0, workers: 0, env: {}, writeLog: () => undefined } satisfies DaemonOptions;

async function refusal(options: DaemonOptions): Promise<EarshotError> {
  try {
    const daemon = await startDaemon({ ...quiet, ...options });
    await daemon.stop();
  } catch (error) {
    if (error instanceof EarshotError) return error;
    throw error;
  }
  throw new Error("it started");
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

test("a new state directory, its token, journal and address are for the owner only", async () => {
  const stateDir = join(newFolder(), "made", "by", "it");
  const daemon = await startDaemon({ ...quiet, stateDir });
  expect(await modeOf(stateDir)).toBe("700");
  for (const name of ["token", "earshot.db", "address"])
    expect(await modeOf(join(stateDir, name))).toBe("600");
  await daemon.stop();
  const again = await startDaemon({ ...quiet, stateDir });
  expect(again.token).toBe(daemon.token);
  await again.stop();
});

test("a token file that others may read stops the start", async () => {
  const stateDir = newFolder();
  await writeFile(join(stateDir, "token"), "t".repeat(40), { mode: 0o644 });
  const { code, message } = await refusal({ stateDir });
  expect(code).toBe("EAR_STATE_UNSAFE");
  expect(message).toContain(`chmod 600 ${join(stateDir, "token")}`);
});

test("a state directory that is a link, or open to others, stops the start", async () => {
  const real = newFolder();
  const link = join(newFolder(), "link");
  await symlink(real, link);
  expect((await refusal({ stateDir: link })).message).toContain("symbolic link");
  const open = newFolder();
  await chmod(open, 0o755);
  expect((await refusal({ stateDir: open })).message).toContain(`chmod 700 ${open}`);
});

test("a state directory that cannot be made is one clear error", async () => {
  const file = join(newFolder(), "file");
  await writeFile(file, "");
  for (const stateDir of ["/proc/nothing/can/be/made", join(file, "below")]) {
    const { code, message } = await refusal({ stateDir });
    expect(code).toBe("EAR_STATE_UNSAFE");
    expect(message).toContain(stateDir);
  }
});

test("a second daemon on the same directory is refused by the first one's pid", async () => {
  const stateDir = newFolder();
  const first = await startDaemon({ ...quiet, stateDir });
  const { code, message } = await refusal({ stateDir });
  expect(code).toBe("EAR_STATE_LOCKED");
  expect(message).toContain(String(process.pid));
  await first.stop();
  await (await startDaemon({ ...quiet, stateDir })).stop();
});

test("a port that is taken is named, and nothing stays locked", async () => {
  const first = await startDaemon({ ...quiet, stateDir: newFolder() });
  const port = Number(new URL(first.base).port);
  const stateDir = newFolder();
  const { code, message } = await refusal({ stateDir, port });
  expect(code).toBe("EAR_PORT_TAKEN");
  expect(message).toContain(`127.0.0.1:${port}`);
  await first.stop();
  await (await startDaemon({ ...quiet, stateDir, port })).stop();
});

test("a broken config is refused with its file, its place and the nearest name", async () => {
  const stateDir = newFolder();
  const config = join(stateDir, "earshot.json5");
  await writeFile(config, "{\n  engagment: {},\n}");
  const unknown = await refusal({ stateDir });
  expect(unknown.code).toBe("EAR_CONFIG_UNKNOWN_KEY");
  expect(unknown.message).toContain(config);
  expect(unknown.message).toContain("engagement");
  await writeFile(config, "{ server: ");
  expect((await refusal({ stateDir })).code).toBe("EAR_CONFIG_SYNTAX");
  const missing = join(stateDir, "nowhere.json5");
  expect((await refusal({ stateDir, config: missing })).message).toContain(missing);
});

test.each(["0.0.0.0", "127.evil.com", "0x7f.1", "localhost."])(
  "listening on %s needs to be meant",
  async (host) => {
    const stateDir = newFolder();
    await writeFile(join(stateDir, "earshot.json5"), JSON.stringify({ server: { host } }));
    const { code, message } = await refusal({ stateDir });
    expect(code).toBe("EAR_CONFIG_UNSAFE");
    expect(message).toContain("exposed");
  },
);

test("a changed config is taken over without a restart, a broken one is not", async () => {
  const stateDir = newFolder();
  const file = join(stateDir, "earshot.json5");
  const named = (name: string) => JSON.stringify({ agents: { list: [{ id: "main", name }] } });
  await writeFile(file, named("Ada"));
  const lines: string[] = [];
  const daemon = await startDaemon({ ...quiet, stateDir, writeLog: (line) => lines.push(line) });
  const nameNow = async () => {
    const page = await openPage(daemon.base, daemon.token);
    const { agent } = await page.wait("ready");
    page.close();
    return agent.name;
  };
  expect(await nameNow()).toBe("Ada");
  await writeFile(file, named("Bea"));
  const logged = (event: string) => lines.some((line) => line.includes(event));
  const patient = { timeout: 60_000 };
  await expect.poll(() => logged("config.changed"), patient).toBe(true);
  expect(await nameNow()).toBe("Bea");
  await writeFile(file, "{ agents: 1 }");
  await expect.poll(() => logged("config.refused"), patient).toBe(true);
  expect(await nameNow()).toBe("Bea");
  await daemon.stop();
});

test("a module is looked for beside the config file", async () => {
  const stateDir = newFolder();
  const says = 'export default async function* () { yield { type: "text", text: "beside" }; }';
  await writeFile(join(stateDir, "agent.mjs"), says);
  const driver = { kind: "module", module: "./agent.mjs" };
  const config = { agents: { list: [{ id: "main", driver }] } };
  await writeFile(join(stateDir, "earshot.json5"), JSON.stringify(config));
  const daemon = await startDaemon({ ...quiet, stateDir });
  const page = await openPage(daemon.base, daemon.token);
  await page.wait("ready");
  page.say("hi");
  expect((await page.wait("said")).text).toBe("beside");
  page.close();
  await daemon.stop();
});

test("a first config written while the daemon runs is taken over, too", async () => {
  const stateDir = newFolder();
  const lines: string[] = [];
  const daemon = await startDaemon({ ...quiet, stateDir, writeLog: (line) => lines.push(line) });
  const written = { agents: { list: [{ id: "main", name: "Ada" }] } };
  await writeFile(join(stateDir, "earshot.json5"), JSON.stringify(written));
  await expect
    .poll(() => lines.some((line) => line.includes("config.changed")), { timeout: 60_000 })
    .toBe(true);
  const page = await openPage(daemon.base, daemon.token);
  expect((await page.wait("ready")).agent.name).toBe("Ada");
  page.close();
  expect(lines.filter((line) => line.includes("config.refused"))).toEqual([]);
  await daemon.stop();
});

test("what a room says cannot forge a log line or show on a terminal, and no secret is told", async () => {
  const lines: string[] = [];
  const stateDir = newFolder();
  const daemon = await startDaemon({
    ...quiet,
    stateDir,
    logLevel: "trace",
    writeLog: (line) => lines.push(line),
  });
  const evil = 'x\n{"level":"info","msg":"forged"}\r\u001b[2J\u009b31m\u202e\u0007';
  const answer = await fetch(`${daemon.base}/api/inbound?wait=decision`, {
    method: "POST",
    headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
    body: JSON.stringify({
      chat: { id: `room${evil}`, kind: "direct", title: evil },
      id: `id${evil}${daemon.token}`,
      author: { id: `ann${evil}`, name: evil },
      text: evil,
    }),
  });
  expect(answer.status).toBe(200);
  await daemon.stop();
  const text = lines.join("");
  expect(text).toContain('"msg":"decision"');
  for (const line of text.trimEnd().split("\n"))
    expect((JSON.parse(line) as { msg: string }).msg).not.toBe("forged");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the point
  expect(text.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  expect(text).not.toContain(daemon.token);
});

test("a folder in the way of the journal is one clear error", async () => {
  const stateDir = newFolder();
  await mkdir(join(stateDir, "earshot.db"));
  const { code, message } = await refusal({ stateDir });
  expect(code).toBe("EAR_STORE_FAILED");
  expect(message).toContain(join(stateDir, "earshot.db"));
});

test("a token that cannot be written is an error that names its file", async () => {
  await expect(ensureToken("/proc/self/fdinfo")).rejects.toThrow(
    /^Cannot write \/proc\/self\/fdinfo\/token \(\w+\): name another state directory$/,
  );
});
