// The packed-install smoke test: `npm pack`, install the tarball into an empty folder as a user would,
// weigh it, compile a file that uses its types, start the daemon from there, put one message through
// it, stop it. Argument: the Node binary to use.
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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

/** The bytes of all files below a folder, as npm counts an unpacked package: no blocks, no folders. */
function bytesIn(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  return bytes;
}

/**
 * Compiles a user's file that names each entry of the installed package. The peers and the
 * compiler are the checkout's; what they find in each other's declarations is not ours.
 */
function checkTypes(installed) {
  const user = join(folder, "user");
  mkdirSync(join(user, "node_modules"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")))
    if (name !== "earshot")
      symlinkSync(join(root, "node_modules", name), join(user, "node_modules", name));
  cpSync(installed, join(user, "node_modules", "earshot"), { recursive: true });
  writeFileSync(join(user, "package.json"), '{"name":"user","private":true,"type":"module"}');
  writeFileSync(join(user, "user.ts"), usersFile());
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const flags = "--ignoreConfig --noEmit --strict --target es2023 --module nodenext --types node";
  const done = spawnSync(process.execPath, [tsc, ...flags.split(" "), "user.ts"], {
    cwd: user,
    encoding: "utf8",
  });
  const ours = done.stdout
    .split("\n")
    .filter((line) => /^(user\.ts|node_modules\/earshot\/)/.test(line));
  if (ours.length > 0 || done.error)
    throw new Error(`types\n${ours.join("\n")}${done.error ?? ""}`);
}

/** Names every entry with types, and fails to compile where one of them has become `any`. */
function usersFile() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.keys(exports).filter((name) => exports[name].types);
  const lines = entries.map(
    (name, at) =>
      `import * as entry${at} from "${name.replace(".", "earshot")}";\n` +
      `const known${at}: Known<typeof entry${at}> = true;\nvoid known${at};`,
  );
  return [
    "type Known<T> = { [K in keyof T]: 0 extends 1 & T[K] ? false : true }[keyof T];",
    ...lines,
    'import { createEarshot, type EarshotConfigInput } from "earshot";',
    "const config: EarshotConfigInput = { agents: { defaults: { maxConcurrent: 1 } } };",
    "// @ts-expect-error A key that no section has.",
    "const wrong: EarshotConfigInput = { nonsense: true };",
    'void [createEarshot({ stateDir: "s" }).then(({ page }) => page.length), config, wrong];',
  ].join("\n");
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
  const size = bytesIn(join(app, "node_modules"));
  say(
    `installed, ${(size / 1e6).toFixed(1)} MB, version ${must(node, [bin, "--version"], { cwd: app })}`,
  );
  if (size >= 50e6) throw new Error(`an install is ${size} bytes, the limit is 50 MB`);
  checkTypes(join(app, "node_modules", "earshot"));
  say("the types of every entry resolve");

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
