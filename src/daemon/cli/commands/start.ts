/**
 * `earshot start`: runs the daemon in the foreground until a signal. The first signal lets turns
 * and sends finish; the second ends the process immediately, which loses nothing acknowledged.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { LogLevel } from "../../../domain/ports/index.ts";
import type { DaemonOptions } from "../../daemon.ts";
import { type RestartableDaemon, startRestartableDaemon } from "../../restartable-daemon.ts";
import { version } from "../../state/package-files.ts";
import { action, fail, print, withStateDir } from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

interface StartOptions {
  readonly stateDir?: string;
  readonly config?: string;
  readonly port?: number;
  readonly workers?: number;
  readonly logLevel?: LogLevel;
  readonly logFormat?: "pretty" | "json";
}

const levels = ["trace", "debug", "info", "warn", "error", "fatal"];
const help: HelpText = {
  about:
    "Prints the page's address on stdout and logs to stderr. Without a config file it uses " +
    "embedded defaults: the web page, the terminal and HTTP as channels, and the guide as agent. " +
    "Create a config file with `earshot init`; changes to it apply without a restart.\n\n" +
    "SIGTERM or Ctrl-C lets turns and sends finish, then stops with 0. A second signal ends it " +
    "immediately, which loses nothing that was acknowledged.",
  examples: [
    "earshot start",
    ["earshot start --port 0 --state-dir /tmp/try", "in addition to another daemon"],
    "EARSHOT_CONFIG=./earshot.json5 earshot start --log-format json",
  ],
  exits:
    "0 stopped on request, 1 failed, 2 cannot start: the config, the port or the state directory.",
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
      new Option("--port <n>", "port of the page and the API; 0: any")
        .env("PORT")
        .argParser(whole(0, 65_535)),
    )
    .addOption(new Option("--workers <n>", "worker threads; 0: none").argParser(whole(0, 64)))
    .addOption(new Option("--log-level <level>", "what is logged").choices(levels))
    .addOption(
      new Option("--log-format <format>", "log for people or programs").choices(["pretty", "json"]),
    )
    .action(action(start));
}

/** The daemon's options from the command line. */
export function daemonOptions(options: StartOptions): DaemonOptions {
  const { logFormat, ...rest } = options;
  const pretty = logFormat === undefined ? process.stderr.isTTY === true : logFormat === "pretty";
  return { ...rest, logPretty: pretty };
}

async function start(options: StartOptions): Promise<void> {
  let asked = false;
  let daemon: RestartableDaemon | null = null;
  // Before the start: a signal may come as soon as the address is printed.
  const stop = (signal: NodeJS.Signals) => {
    if (asked) {
      // Without listeners the signal ends the process immediately, like a crash.
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
      return;
    }
    asked = true;
    process.stderr.write("earshot: stopping; repeat the signal to stop immediately\n");
    daemon?.stop().catch(fail);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  try {
    daemon = await startRestartableDaemon(daemonOptions(options), {
      restarted: ({ page }) => print(`earshot ${version}: ${page}`),
      failed(error) {
        process.off("SIGTERM", stop);
        process.off("SIGINT", stop);
        fail(error);
      },
    });
  } catch (error) {
    process.off("SIGTERM", stop);
    process.off("SIGINT", stop);
    throw error;
  }
  if (asked) return daemon.stop();
  print(`earshot ${version}: ${daemon.current().page}`);
}
