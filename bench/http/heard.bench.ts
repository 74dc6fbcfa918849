/**
 * Lines that a program posts to a built daemon, as a process of its own with its defaults: one line a
 * request and 32, over 64 connections that stay open, with the token and signed at the account's hook;
 * how long one waits for the decision at 2,000 requests a second; and 64 people who each ask again
 * when the answer of the agent has been posted back. The load is another process on the same cores, so
 * what is heard a second is of both; the processor time is the daemon's alone.
 *
 * With `--beside=<checkout>` rounds of another built checkout take turns with ours; with
 * `--only=<part of a name>` only those cases run.
 */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../test/support/free-port.ts";
import { busyMs, untilReady } from "../child-process.ts";
import { quantile, report, round, short } from "../support.ts";
import type { Load, Loaded } from "./load.ts";

const flag = (name: string) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const beside = flag("beside");
const only = flag("only");
const rounds = Number(flag("rounds") ?? (short ? 1 : 3));
const secret = "a secret of sixteen characters or more";
const loadCommand = [process.execPath, "--import", "tsx", join(import.meta.dirname, "load.ts")];

/** What one load differs in. */
type Case = Pick<Load, "lines" | "requests" | "path"> &
  Partial<Load> & { readonly signed?: boolean };
const many = (count: number) => (short ? count / 10 : count);
const cases: Readonly<Record<string, Case>> = {
  "one a request": { lines: 1, requests: many(20_000), path: "/api/inbound" },
  "one a request, to the decision": {
    lines: 1,
    requests: many(20_000),
    path: "/api/inbound?wait=decision",
  },
  "2,000/s, to the decision": {
    lines: 1,
    requests: many(10_000),
    path: "/api/inbound?wait=decision",
    perSecond: 2_000,
  },
  "32 a request": { lines: 32, requests: many(4_000), path: "/api/inbound" },
  "32 a request, to the decision": {
    lines: 32,
    requests: many(4_000),
    path: "/api/inbound?wait=decision",
  },
  // A hook takes 100 requests a second.
  "32 a request, signed, 90/s": {
    lines: 32,
    requests: many(1_000),
    path: "/hooks/webhook/default",
    perSecond: 90,
    signed: true,
  },
  "64 people, answered": {
    lines: 1,
    requests: many(6_000),
    path: "/api/inbound",
    answersAt: 0,
  },
};

type Figures = Record<string, number>;
const builds = new Map([["", resolve(import.meta.dirname, "..", "..")]]);
if (beside !== undefined) builds.set("beside: ", resolve(beside));
const found = new Map([...builds.keys()].map((name) => [name, [] as Figures[]]));
for (let n = 0; n < rounds; n += 1)
  for (const [name, checkout] of builds) found.get(name)?.push(await measure(checkout));
const figures: Figures = {};
for (const [name, all] of found)
  for (const what of Object.keys(all[0] ?? {}))
    figures[`${name}${what}`] = round(
      quantile(
        all.map((one) => one[what] ?? Number.NaN),
        0.5,
      ),
    );
const ratios: Figures = {};
for (const [what, value] of Object.entries(figures))
  if (`beside: ${what}` in figures)
    ratios[`${what}, ours over beside`] = round(value / (figures[`beside: ${what}`] ?? 0));
const wanted = Object.entries(cases).filter(([name]) => only === undefined || name.includes(only));
const given = {
  load: loadCommand,
  cases: Object.fromEntries(
    wanted.map(([name, { signed: _, ...one }]) => [name, loadOf(name, one)]),
  ),
};
report({ bench: "heard", figures, ratios, given });

/** What every contestant gets; the port and what proves who speaks are its own. */
function loadOf(name: string, given: Omit<Case, "signed">): Omit<Load, "port"> {
  return {
    connections: 64,
    warm: many(given.requests / 10),
    rooms: 1_000,
    name: name.replaceAll(" ", "-"),
    ...given,
  };
}

/** All cases against one daemon, on a state directory of its own. */
async function measure(checkout: string): Promise<Figures> {
  const state = mkdtempSync(join(tmpdir(), "earshot-heard-"));
  const answersAt = await freePort();
  const token = "a-token-of-this-bench-that-is-long-enough";
  const account = { url: `http://127.0.0.1:${answersAt}/`, secret, hook: { secret } };
  const config = {
    agents: { defaults: { driver: { kind: "scripted" } } },
    session: { dmScope: "per-channel-peer" },
    channels: {
      webhook: { accounts: { default: account }, dmPolicy: "open", groupPolicy: "open" },
    },
    messages: { inbound: { debounceMs: 0, debounceMaxMs: 0 }, queue: { debounceMs: 0 } },
  };
  writeFileSync(join(state, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  writeFileSync(join(state, "token"), `${token}\n`, { mode: 0o600 });
  const daemon = await start(checkout, state);
  const figures: Figures = {};
  try {
    for (const [name, { signed, ...given }] of Object.entries(cases)) {
      if (only !== undefined && !name.includes(only)) continue;
      const load: Load = {
        ...loadOf(name, given),
        port: daemon.port,
        ...(signed ? { secret } : { token }),
        ...(given.answersAt === undefined ? {} : { answersAt }),
      };
      const before = busyMs(daemon.pid);
      const loaded = await run(load);
      const lines = load.lines * (load.requests + load.warm);
      figures[`${name}: ${load.answersAt === undefined ? "lines" : "turns"}/s`] =
        loaded.perSecond * load.lines;
      figures[`${name}: p50 ms`] = loaded.p50;
      figures[`${name}: p99 ms`] = loaded.p99;
      figures[`${name}: CPU us each`] = ((busyMs(daemon.pid) - before) * 1_000) / lines;
    }
  } finally {
    await daemon.stop();
    rmSync(state, { recursive: true, force: true });
  }
  return figures;
}

async function start(checkout: string, state: string) {
  const bin = join(checkout, "dist", "daemon", "cli", "main.js");
  const port = await freePort();
  const flags = ["--max-semi-space-size=64", ...(flag("node-flags")?.split(" ") ?? [])];
  const child = spawn(process.execPath, [...flags, bin, "start"], {
    env: { ...process.env, EARSHOT_STATE_DIR: state, PORT: String(port) },
    stdio: ["ignore", "ignore", openSync(join(state, "daemon.log"), "a")],
  });
  const ended = new Promise((done) => child.once("exit", done));
  await untilReady(child, port);
  return {
    port,
    pid: child.pid as number,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function run(load: Load): Promise<Loaded> {
  const [program = "", ...args] = loadCommand;
  const { stdout } = await promisify(execFile)(program, [...args, JSON.stringify(load)]);
  return JSON.parse(stdout) as Loaded;
}
