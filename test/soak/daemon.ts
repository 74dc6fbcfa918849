/**
 * The built daemon as a process of its own, with a plugin and an agent (inside/) that measure it. What it
 * logs goes to a file, as under systemd.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, copyFileSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const main = resolve(import.meta.dirname, "../../dist/daemon/cli/main.js");
const inside = join(import.meta.dirname, "inside");

/** Of one thread after a garbage collection, bytes. */
interface Memory {
  readonly heap: number;
  readonly external: number;
}
/** What probe.mjs answers. */
export interface Measured {
  readonly main: Memory & {
    readonly rss: number;
    readonly timers: number;
    readonly handles: number;
  };
  readonly host: Memory;
}

export interface SoakDaemon {
  readonly pid: number;
  readonly base: string;
  readonly token: string;
  /** What it holds now; null: it does not answer within ten seconds. */
  measure(): Promise<Measured | null>;
  /** Sends SIGTERM; resolves to the exit code or the signal that ended it. */
  stop(): Promise<number | NodeJS.Signals>;
  /** Ends it whatever it does. */
  kill(): void;
}

/** How long one answer of the probe may take; a host that restarts gives none. */
const measureMsMax = 10_000;

export interface SoakSetup {
  readonly stateDir: string;
  /** Where its answers are posted. */
  readonly answersUrl: string;
  /** Conversations that stay in memory; the others are passivated. */
  readonly live: number;
  readonly retentionMs: number;
}

/** Writes the config; a daemon can be started there more than once. */
export function prepare({ stateDir, answersUrl, live, retentionMs }: SoakSetup): void {
  for (const name of ["agent.mjs", "probe.mjs"])
    copyFileSync(join(inside, name), join(stateDir, name));
  const config = {
    agents: {
      list: [{ id: "main", name: "Scout", driver: { kind: "module", module: "./agent.mjs" } }],
    },
    plugins: ["./probe.mjs"],
    channels: {
      webhook: {
        accounts: {
          default: { url: answersUrl, secret: "a secret of the soak", also: ["typing"] },
        },
      },
    },
    context: { size: 5 },
    messages: { dedupe: { retentionMs } },
    workers: { count: 1, liveConversations: live },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
}

/** Resolves when it takes messages. @throws Error with what it logged, when it ends first. */
export async function start(stateDir: string): Promise<SoakDaemon> {
  const logFile = join(stateDir, "daemon.log");
  const log = openSync(logFile, "a");
  const args = ["--expose-gc", "--max-semi-space-size=64", main, "start", "--log-format", "json"];
  const child: ChildProcess = spawn(
    process.execPath,
    [...args, "--state-dir", stateDir, "--port", "0"],
    {
      stdio: ["ignore", "pipe", log, "ipc"],
      env: { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" },
    },
  );
  closeSync(log);
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  let printed = "";
  await new Promise<void>((ready, failed) => {
    child.stdout?.on("data", (data) => {
      printed += String(data);
      if (/http:\S+\/(?= \(for)/.test(printed)) ready();
    });
    child.on("close", () => failed(new Error(`it ended: ${readFileSync(logFile, "utf8")}`)));
  });
  const base = /http:\S+(?=\/ \(for)/.exec(printed)?.[0] ?? "";
  return {
    pid: child.pid as number,
    base,
    token: readFileSync(join(stateDir, "token"), "utf8").trim(),
    async measure() {
      const answer = new Promise<Measured>((done) => {
        child.once("message", (measured) => done(measured as Measured));
      });
      child.send("measure");
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<null>((done) => {
        timer = setTimeout(done, measureMsMax, null);
      });
      const first = await Promise.race([answer, late]);
      clearTimeout(timer);
      return first;
    },
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
