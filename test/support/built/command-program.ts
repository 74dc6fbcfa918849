/**
 * Commands in one process
 * =======================
 * Runs commands of the built `earshot` one after the other: for each, the program's own entry is evaluated
 * again, with arguments, environment, input and output of its own. What it imports is loaded once, which is most
 * of what a short command costs. A command is over when its entry is; what it leaves running is not waited for,
 * so tests of how a process ends start one (test/daemon/process, test/daemon/cli/output/terminal).
 */
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";

/** What a command is given. */
export interface AskedCommand {
  /** The file of the program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** In base64. */
  readonly input: string;
}

/** What it left. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const [node = ""] = process.argv;
let count = 0;

type Written = { write: NodeJS.WriteStream["write"] };

/** Keeps what is written to a stream, until `end` gives it back. */
function keep(stream: NodeJS.WriteStream): () => string {
  const parts: Buffer[] = [];
  const take = (part: string | Uint8Array, ...more: unknown[]): boolean => {
    const [how] = more;
    parts.push(
      typeof part === "string"
        ? Buffer.from(part, typeof how === "string" ? (how as BufferEncoding) : "utf8")
        : Buffer.from(part),
    );
    const done = more.find((one) => typeof one === "function") as (() => void) | undefined;
    if (done !== undefined) process.nextTick(done);
    return true;
  };
  const own = stream as Written;
  const { write } = own;
  own.write = take as Written["write"];
  return () => {
    own.write = write;
    return Buffer.concat(parts).toString();
  };
}

async function run({ program, args, env, input }: AskedCommand): Promise<CommandResult> {
  count += 1;
  process.argv = [node, program, ...args];
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = 0;
  const stdin = Readable.from(input === "" ? [] : [Buffer.from(input, "base64")]);
  Object.defineProperty(process, "stdin", { value: stdin, configurable: true });
  const [out, err] = [keep(process.stdout), keep(process.stderr)];
  try {
    await import(/* @vite-ignore */ `${pathToFileURL(program).href}?command=${count}`);
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.removeAllListeners(name);
    process.stdout.removeAllListeners("error");
  }
  return { code: Number(process.exitCode), out: out(), err: err() };
}

let last: Promise<unknown> = Promise.resolve();
process.on("message", (asked: AskedCommand) => {
  last = last.then(async () => process.send?.(await run(asked)));
});
