/**
 * A command of the built `earshot`, as a terminal or a script calls it: see command-program.ts. All test files of a
 * process share the one that runs them.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { AskedCommand, CommandResult } from "./command-program.ts";
import { builtFile, builtMain } from "./files.ts";

export type { CommandResult };

let runner: ChildProcess | null = null;
/** The one that was asked last: they are answered in this order. */
let last: Promise<unknown> = Promise.resolve();

function running(): ChildProcess {
  if (runner?.connected === true) return runner;
  runner = fork(builtFile("test/command-program"), { execArgv: [] });
  runner.unref();
  return runner;
}

async function ask(asked: AskedCommand): Promise<CommandResult> {
  const child = running();
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
  const answer = last.then(() => ask(asked));
  last = answer.catch(() => undefined);
  return answer;
}
