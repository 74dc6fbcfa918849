/**
 * `earshot start`: runs the daemon in the foreground until a signal. The first signal lets turns
 * and sends finish; the second ends the process immediately, which loses nothing acknowledged.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { afterStart } from "../../../actors/util/start-garbage.ts";
import { EarshotError } from "../../../domain/errors.ts";
import type { LogLevel } from "../../../domain/ports/index.ts";
import type { Daemon, DaemonOptions } from "../../daemon.ts";
import { createLog } from "../../observability/log.ts";
import { writeToStderr } from "../../observability/stderr-lines.ts";
import { type RestartableDaemon, startRestartableDaemon } from "../../restartable-daemon.ts";
import { version } from "../../state/package-files.ts";
import { action, exitCodeOf, fail, print, withStateDir } from "../lib/command.ts";
import { releaseYoungSpace } from "../lib/young-space.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

interface StartOptions {
  readonly stateDir?: string;
  readonly config?: string;
  readonly port?: number;
  readonly workers?: number;
  readonly logLevel?: LogLevel;
  readonly logFormat?: "pretty" | "json";
}

const signals = ["SIGTERM", "SIGINT"] as const;
/** After the stop, what plugins and agents left open may end by itself for this long, ms. */
const exitMsMax = 500;
/** From readiness until this thread gives back what the start left, ms: its hosts did it a second before. */
const restMs = 7_000;
/** Ends the process also if a timer or a socket of a plugin is left. */
const exitSoon = () => void setTimeout(() => process.exit(), exitMsMax).unref();
const levels = ["trace", "debug", "info", "warn", "error", "fatal"];
const help: HelpText = {
  about:
    "Prints the address of the pages to stdout and logs to stderr. Without a config file it " +
    "uses the built-in defaults: the web page, the terminal and HTTP as channels, and the guide " +
    "as the agent. Create a config file with `earshot init`; changes to it apply without a " +
    "restart.\n\nSIGTERM or Ctrl-C waits for running turns and sends, then exits with 0. A " +
    "second signal stops immediately; nothing that was acknowledged is lost.",
  examples: [
    "earshot start",
    ["earshot start --port 0 --state-dir /tmp/try", "next to another daemon"],
    "EARSHOT_CONFIG=./earshot.json5 earshot start --log-format json",
  ],
  exits:
    "0 stopped on request; 1 failed; 2 could not start because of the config, the port or the " +
    "state directory.",
};

/** A whole number from `min` to `max`. */
function whole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}`);
  };
}

export function addStartCommand(program: Command): void {
  addHelp(withStateDir(program.command("start")), help)
    .description("Run the daemon in the foreground")
    .addOption(new Option("--config <file>", "config file").env("EARSHOT_CONFIG"))
    .addOption(
      new Option("--port <n>", "port of the pages and the API; 0 picks a free one")
        .env("PORT")
        .argParser(whole(0, 65_535)),
    )
    .addOption(
      new Option(
        "--workers <n>",
        "number of worker threads; 0 runs everything on the main thread",
      ).argParser(whole(0, 64)),
    )
    .addOption(new Option("--log-level <level>", "least severe level to log").choices(levels))
    .addOption(new Option("--log-format <format>", "log format").choices(["pretty", "json"]))
    .action(action(start));
}

/** The daemon's options from the command line. */
export function daemonOptions(options: StartOptions): DaemonOptions {
  const { logFormat, ...rest } = options;
  const pretty = logFormat === undefined ? process.stderr.isTTY === true : logFormat === "pretty";
  return { ...rest, logPretty: pretty };
}

async function start(options: StartOptions): Promise<void> {
  const how = daemonOptions(options);
  const voice = how.logPretty === true ? plainVoice : await jsonVoice(options.logLevel);
  let asked = false;
  let daemon: RestartableDaemon | null = null;
  // Without listeners the next signal ends the process immediately, even while it is busy.
  const unlisten = () => {
    for (const signal of signals) process.removeAllListeners(signal);
  };
  const endBy = (signal: NodeJS.Signals) => {
    unlisten();
    process.kill(process.pid, signal);
  };
  // Before the start: a signal may come as soon as the address is printed.
  const stop = (signal: NodeJS.Signals) => {
    if (asked) return endBy(signal);
    asked = true;
    // Signals of a time in which this thread was busy come together. One that arrives while its listener
    // is removed is lost, so it is asked for only afterwards.
    setImmediate(() => {
      unlisten();
      voice.stopping();
    });
    daemon?.stop().catch(voice.failed).finally(exitSoon);
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    daemon = await startRestartableDaemon(how, {
      restarted: (again) => print(announcement(again, process.stdout.isTTY === true)),
      failed(error) {
        unlisten();
        voice.failed(error);
      },
    });
    releaseYoungSpace();
    setTimeout(afterStart(), restMs).unref();
    if (asked) return await daemon.stop().finally(exitSoon);
  } catch (error) {
    unlisten();
    voice.failed(error);
    return;
  }
  print(announcement(daemon.current(), process.stdout.isTTY === true));
}

/**
 * The address of the page. Its token is for a person at a terminal: what a service prints is kept
 * in a log that others may read.
 */
export function announcement(
  { page, base, stateDir }: Pick<Daemon, "page" | "base" | "stateDir">,
  isTerminal: boolean,
): string {
  if (isTerminal) return `earshot ${version}: ${page}`;
  const command = `earshot status --state-dir ${stateDir}`;
  return `earshot ${version}: ${base}/ (for the address with the token: ${command})`;
}

/** What this command says on stderr besides the daemon's log. */
interface Voice {
  stopping(): void;
  failed(error: unknown): void;
}

const hint = "repeat the signal to stop immediately";
const plainVoice: Voice = {
  stopping: () => void process.stderr.write(`earshot: stopping; ${hint}\n`),
  failed: fail,
};

/** Where the log is JSON, every line on stderr is: also the warnings and the last words of Node. */
async function jsonVoice(level: LogLevel = "info"): Promise<Voice> {
  const { log } = await createLog({ level, pretty: false, write: writeToStderr });
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    log("warn", "process.warning", { name, message });
  });
  process.on("uncaughtException", (error, origin) => {
    const stack = error instanceof Error ? error.stack : undefined;
    log("fatal", "daemon.crashed", { origin, error: String(error), stack });
    process.exit(1);
  });
  return {
    stopping: () => log("info", "daemon.stopping", { hint }),
    failed(error) {
      const code = error instanceof EarshotError ? error.code : undefined;
      const message = error instanceof Error ? error.message : String(error);
      log("fatal", "daemon.failed", { code, error: message });
      process.exitCode = exitCodeOf(error);
    },
  };
}
