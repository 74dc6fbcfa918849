/**
 * A command of the built `earshot`, as a terminal or a script calls it: see command-program.ts. All test files of a
 * process share the one that runs them.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { AskedCommand, CommandResult } from "./command-program.ts";
import { builtFile, builtMain } from "./files.ts";

export type { CommandResult };

/** Programs look once whether there are colours: with other variables they run in another process. */
const colours = ["FORCE_COLOR", "NO_COLOR", "TERM", "CI"];

interface Runner {
  readonly child: ChildProcess;
  /** The one that was asked last: they are answered in this order. */
  last: Promise<unknown>;
}
const runners = new Map<string, Runner>();

function runnerFor(env: Readonly<Record<string, string>>): Runner {
  const name = JSON.stringify(colours.map((one) => env[one] ?? null));
  const known = runners.get(name);
  if (known?.child.connected === true) return known;
  const child = fork(builtFile("test/command-program"), { execArgv: [] });
  child.unref();
  const runner = { child, last: Promise.resolve() };
  runners.set(name, runner);
  return runner;
}

async function ask(child: ChildProcess, asked: AskedCommand): Promise<CommandResult> {
  child.channel?.ref();
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const answered = once(child, "message", { signal });
    const gone = once(child, "exit", { signal }).then(([code]) => {
      throw new Error(
        `the program that runs commands has ended (${code}): ${asked.args.join(" ")}`,
      );
    });
    child.send(asked);
    const [result] = (await Promise.race([answered, gone])) as [CommandResult];
    return result;
  } finally {
    ended.abort();
    child.channel?.unref();
  }
}

export interface CommandOptions {
  /** @default `earshot` itself */
  readonly program?: string;
  /** Besides PATH; where the state is, mostly. */
  readonly env?: Readonly<Record<string, string>>;
  /** On its standard input. @default nothing */
  readonly input?: string | Uint8Array;
}

/** Runs it to its end. Nothing of this process's environment but PATH and TMPDIR is passed on. */
export function runCommand(
  args: readonly string[],
  { program = builtMain, env = {}, input = "" }: CommandOptions = {},
): Promise<CommandResult> {
  const { PATH = "", TMPDIR = "/tmp" } = process.env;
  const bytes = Buffer.from(input as string).toString("base64");
  const asked = { program, args, env: { PATH, TMPDIR, ...env }, input: bytes };
  const runner = runnerFor(env);
  const answer = runner.last.then(() => ask(runner.child, asked));
  runner.last = answer.catch(() => undefined);
  return answer;
}
