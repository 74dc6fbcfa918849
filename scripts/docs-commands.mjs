// Every command of the README, the manual and the examples, run as a newcomer runs it: in a fresh clone
// of what is committed, with an empty home, in the order of the page. A command that fails, or prints
// JSON of another form than the page shows, fails this.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";
import {
  examples,
  onChannels,
  onDefaults,
  readme,
  testing,
  tutorial,
} from "./docs-commands/pages.mjs";
import { commandsOf, runLines, wrongWith } from "./docs-commands/shell.mjs";
import { root } from "./prepare.mjs";

const temp = mkdtempSync(join(tmpdir(), "earshot-docs-"));
const clone = join(temp, "earshot");
const home = join(temp, "home");
const prefix = join(temp, "global");
const started = [];
const failures = [];
const say = (line) => process.stderr.write(`docs: ${line}\n`);
// What this machine needs to reach the registry stays; what a developer has set for earshot does not.
const foreign = Object.entries(process.env).filter(([name]) => !/^(EARSHOT|TELEGRAM)_/u.test(name));
const env = {
  ...Object.fromEntries(foreign),
  PATH: `${join(prefix, "bin")}:${process.env.PATH}`,
  HOME: home,
  LANG: "C.UTF-8",
  NO_COLOR: "1",
  CI: "1",
  SEED: "4",
  PORT: "0",
  SHOP_SECRET: "a secret of at least 32 characters",
  npm_config_prefix: prefix,
};

async function until(what, probe, ms = 240_000) {
  for (const end = Date.now() + ms; ; await passed(100)) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > end) throw new Error(`gave up waiting for ${what}`);
  }
}

/** A process that stays, with what it has printed so far. */
function start(command, args, cwd) {
  const child = spawn(command, args, { cwd, env: { ...env, ...channelEnv }, detached: true });
  const process_ = { child, said: "", ended: false };
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => {
      process_.said += String(data);
    });
  child.once("exit", () => {
    process_.ended = true;
  });
  started.push(process_);
  process_.until = (pattern) =>
    until(`${pattern} of ${command} ${args.join(" ")}`, () => {
      if (process_.ended) throw new Error(`${command} ended:\n${process_.said}`);
      return pattern.exec(process_.said);
    });
  return process_;
}

/** A page with commands that nobody follows would rot. */
function checkAllFollowed() {
  const followed = [readme, testing, tutorial, ...onDefaults, ...onChannels, ...examples];
  const listed = spawnSync("git", ["ls-files", "*.md"], { cwd: clone, encoding: "utf8" });
  for (const path of listed.stdout.split("\n").filter((name) => name !== ""))
    if (commandsOf(readFileSync(join(clone, path), "utf8")).length > 0)
      if (!followed.some((page) => page.path === path))
        failures.push(`${path} has commands, and scripts/docs-commands/pages.mjs does not name it`);
}

/** Further variables that the lines of pages see, such as the id of a group. */
let channelEnv = {};

function end({ child, ended }, signal = "SIGTERM") {
  if (!ended) process.kill(-child.pid, signal);
}

async function startDaemon(command, args) {
  rmSync(join(home, ".earshot/address"), { force: true });
  const daemon = start(command, args, clone);
  const [, port] = await daemon.until(/http:\/\/127\.0\.0\.1:(\d+)\//u);
  await until(
    "the daemon",
    async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok,
  );
  return { ...daemon, port, stop: () => stop(daemon) };
}

async function stop(daemon) {
  end(daemon);
  await until("the end of the daemon", () => daemon.ended, 30_000);
}

/** Runs the commands of one page. */
async function follow(page, { cwd = clone, port = "4747" } = {}) {
  const { path, swap = [], codes = [] } = page;
  const commands = commandsOf(readFileSync(join(clone, path), "utf8"));
  const swapped = commands.map(({ line }) =>
    [...swap, [/127\.0\.0\.1:4747/gu, `127.0.0.1:${port}`]].reduce(
      (now, [pattern, by]) => now.replace(pattern, by),
      line,
    ),
  );
  const done = await runLines(swapped, { cwd, env: { ...env, ...channelEnv }, temp });
  for (const [n, result] of done.entries()) {
    const { line, shown } = commands[n];
    const allowed = codes.find(([pattern]) => pattern.test(line))?.[1] ?? [0];
    const found = page.finds?.find(([pattern]) => pattern.test(line))?.[1] ?? [];
    const missing = found.filter((part) => !part.test(result.out + result.err));
    const wrong =
      wrongWith(result, { codes: allowed, shown }) ??
      (missing.length === 0 ? null : `${missing} is not in\n${result.out}${result.err}`);
    if (wrong !== null)
      failures.push(`${path}: ${line}\n  ${wrong.trim().replaceAll("\n", "\n  ")}`);
  }
  say(`${path}: ${commands.length} commands`);
}

const inClone = {
  write: (name, data) => writeFileSync(join(clone, name), data),
  /** The first block of a language on a page. */
  blockOf: (path, language) =>
    new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "mu").exec(
      readFileSync(join(clone, path), "utf8"),
    )[1],
  copy: (from, to) => copyFileSync(join(clone, from), join(clone, to)),
  /** Runs a command of the program until it prints what is wanted. */
  printed: (args, pattern) =>
    until(`${pattern} of earshot ${args}`, () =>
      pattern.test(spawnSync("earshot", args, { env, encoding: "utf8" }).stdout),
    ),
};

async function followDefaults() {
  const daemon = await startDaemon("npm", ["start"]);
  say("npm start: installed, built and ready");
  await follow(readme, { port: daemon.port });
  for (const page of onDefaults) {
    await page.before?.(inClone);
    await follow(page, { port: daemon.port });
  }
  await daemon.stop();
}

async function followChannels() {
  const fakes = [0, 1].map(() =>
    start("npm", ["run", "--silent", "fake", "telegram", "--", "--port", "0"], clone),
  );
  const accounts = [];
  for (const fake of fakes) {
    const [, config] = await fake.until(/^earshot\.json5: (.*)$/mu);
    accounts.push(JSON.parse(config).channels.telegram);
  }
  const groups = Object.assign({}, ...accounts.map(({ groups: of }) => of));
  const [GROUP, WORK] = accounts.map(({ groups: of }) => Object.keys(of)[0]);
  channelEnv = { GROUP, WORK };
  const [first, work] = accounts.map(({ accounts: { default: account } }) => account);
  const config = {
    channels: {
      telegram: { accounts: { default: first, work }, groups },
      webhook: {
        accounts: { default: {}, shop: { hook: { secret: "${" + "SHOP_SECRET}" } } },
        groups: { orders: {} },
      },
    },
    agents: { list: [{ id: "main", name: "Scout", driver: { kind: "scripted" } }] },
  };
  writeFileSync(join(home, ".earshot/earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const daemon = await startDaemon("earshot", ["start"]);
  const write = (line) => fakes[0].child.stdin.write(`${line}\n`);
  for (const fake of fakes) fake.child.stdin.write("ann: hello\n");
  for (const page of onChannels) {
    const run = (command, args) => start(command, args, clone);
    await page.before?.({ ...inClone, say: write, run });
    await follow(page, { port: daemon.port });
  }
  await daemon.stop();
  for (const fake of fakes) end(fake);
  channelEnv = {};
}

/** The tutorial's own config, with this machine's model and Telegram. */
async function followTutorial() {
  const [model, telegram] = ["model", "telegram"].map((name) =>
    start("npm", ["run", "--silent", "fake", name, "--", "--port", "0"], clone),
  );
  const [, baseUrl] = await model.until(/(http:\S+)/u);
  const [, config] = await telegram.until(/^earshot\.json5: (.*)$/mu);
  const { accounts, groups } = JSON.parse(config).channels.telegram;
  const agents = inClone
    .blockOf(tutorial.path, "json5")
    .replace("http://127.0.0.1:11434/v1", baseUrl);
  const text = agents.replace(
    /\}\s*$/u,
    `channels: { telegram: ${JSON.stringify({ accounts })} } }`,
  );
  rmSync(join(home, ".earshot"), { recursive: true });
  mkdirSync(join(home, ".earshot"), { mode: 0o700 });
  writeFileSync(join(home, ".earshot/earshot.json5"), text, { mode: 0o600 });
  const say = join(temp, "say");
  writeFileSync(say, "");
  channelEnv = { GROUP: Object.keys(groups)[0], SAY: say };
  const daemon = await startDaemon("earshot", ["start"]);
  telegram.child.stdin.write("ann: is anybody here?\n");
  let sent = 0;
  const timer = setInterval(() => {
    const lines = readFileSync(say, "utf8");
    telegram.child.stdin.write(lines.slice(sent));
    sent = lines.length;
  }, 200);
  await inClone.printed(["needs"], /group:telegram:default:/u);
  await follow(tutorial, { port: daemon.port });
  clearInterval(timer);
  await daemon.stop();
  for (const one of [model, telegram]) end(one);
  channelEnv = {};
}

async function followExamples() {
  for (const page of examples) await follow(page, { cwd: join(clone, page.path, "..") });
  mkdirSync(join(temp, "library"));
  writeFileSync(join(temp, "library/package.json"), '{"name":"library","private":true}');
  await follow(testing, { cwd: join(temp, "library") });
}

try {
  mkdirSync(join(home, ".earshot"), { recursive: true, mode: 0o700 });
  mkdirSync(prefix);
  spawnSync("git", ["clone", "-q", root, clone], { stdio: "inherit" });
  checkAllFollowed();
  await followDefaults();
  await followChannels();
  await followTutorial();
  await followExamples();
} catch (error) {
  failures.push(String(error));
} finally {
  for (const one of started) end(one, "SIGKILL");
  rmSync(temp, { recursive: true, force: true });
}
for (const failure of failures) say(`FAILED ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
