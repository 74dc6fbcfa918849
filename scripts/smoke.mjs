// The packed-install smoke test: `npm pack`, install the tarball into an empty folder as a user would,
// start the daemon from there, put one message through it, stop it. Argument: the Node binary to use.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./prepare.mjs";

const node = process.argv[2] ?? process.execPath;
const folder = mkdtempSync(join(tmpdir(), "earshot-smoke-"));
const say = (line) => process.stderr.write(`smoke: ${line}\n`);

function must(command, args, options) {
  const done = spawnSync(command, args, { encoding: "utf8", ...options });
  if (done.status === 0) return done.stdout.trim();
  throw new Error(`${command} ${args.join(" ")} failed\n${done.stdout}\n${done.stderr}`);
}

async function until(what, probe, ms = 20_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await probe().catch(() => null);
    if (found) return found;
    if (Date.now() > end) throw new Error(`gave up waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function main() {
  const tarball = must("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root });
  const app = join(folder, "app");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{"name":"app","private":true}');
  must("npm", ["install", "--silent", "--ignore-scripts", "--omit=dev", join(folder, tarball)], {
    cwd: app,
  });
  const bin = join(app, "node_modules", "earshot", "dist", "daemon", "cli", "main.js");
  const size = Number(
    must("du", ["-sk", "--apparent-size", "node_modules"], { cwd: app }).split("\t")[0],
  );
  say(
    `installed, ${Math.round(size / 1024)} MB, version ${must(node, [bin, "--version"], { cwd: app })}`,
  );
  if (size > 80 * 1024) throw new Error(`a production install is ${size} kB, the limit is 80 MB`);

  const state = join(folder, "state");
  const env = { ...process.env, HOME: folder, EARSHOT_STATE_DIR: state, PORT: "4879" };
  const daemon = spawn(node, [bin, "start"], {
    cwd: app,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const exited = new Promise((resolve) =>
    daemon.on("exit", (code, signal) => resolve(code ?? signal)),
  );
  try {
    const base = "http://127.0.0.1:4879";
    await until("readiness", async () => (await fetch(`${base}/readyz`)).ok);
    const token = readFileSync(join(state, "token"), "utf8").trim();
    const page = await (await fetch(`${base}/`)).text();
    if (!/<html/i.test(page)) throw new Error("no page at /");
    const answer = await fetch(`${base}/api/inbound?wait=decision`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        channel: "webhook",
        chat: { id: "smoke", kind: "direct" },
        id: "m1",
        author: { id: "u1", name: "Ann" },
        text: "hello",
      }),
    });
    const body = await answer.text();
    if (!answer.ok || !body.includes("engage"))
      throw new Error(`inbound answered ${answer.status}: ${body}`);
    say("one message through: engaged");
    daemon.kill("SIGTERM");
    const code = await Promise.race([
      exited,
      new Promise((resolve) => setTimeout(() => resolve("late"), 15_000)),
    ]);
    if (code !== 0) throw new Error(`SIGTERM ended the daemon with ${code}`);
    say("stopped with exit code 0");
  } finally {
    daemon.kill("SIGKILL");
  }
}

try {
  await main();
  say(`ok on ${must(node, ["--version"])}`);
} catch (error) {
  say(`failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
