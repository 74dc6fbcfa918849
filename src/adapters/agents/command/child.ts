/**
 * A subprocess of an agent
 * ========================
 * One program with its pipes, in a process group of its own, so that its children end with it. It
 * is stopped by SIGTERM and 0.3 s later by SIGKILL. If earshot's process is killed, a guard does
 * the same (guard.ts). The program itself is started without a shell.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { redactSecrets } from "../../../domain/redact-secrets.ts";
import { guard } from "./guard.ts";

export interface ChildSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Names of further environment variables passed to it. */
  readonly env: readonly string[];
}

/** How a program ended. */
export interface ChildEnd {
  /** Null: a signal ended it, or it never started. */
  readonly code: number | null;
  /** Description of a failure; null when it succeeded or was stopped on purpose. */
  readonly problem: string | null;
  /** The end of its standard error. */
  readonly stderr: string;
  /** The system's code where it could not be started (`ENOENT`). */
  readonly startCode?: string;
}

export interface Child {
  /** Its standard output. Backpressure: unread output blocks the program. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** Writes to its standard input. Unread input is lost when it ends. */
  write(text: string): void;
  closeInput(): void;
  /** Stops it and its children; resolves when it has ended. */
  stop(): Promise<void>;
}

const alwaysPassed = ["PATH", "HOME", "LANG", "TZ"];
const stderrBytesMax = 4_096;
/** Time between SIGTERM and SIGKILL, so that an abort takes less than a second. */
const termMs = 300;
/** Interval of checks of an ended program's pipes, ms. */
const drainMs = 100;
const grouped = process.platform !== "win32";

/** Signals a process group. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(grouped ? -pid : pid, signal);
  } catch (error) {
    // ESRCH: already gone. EPERM: it runs as another user, so only its input ends.
    if (!["ESRCH", "EPERM"].includes(codeOf(error as Error))) throw error;
  }
}

function environment(names: readonly string[]): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const name of [...alwaysPassed, ...names]) {
    const value = process.env[name];
    if (value !== undefined) allowed[name] = value;
  }
  return allowed;
}

/** Starts a program. A failure to start is reported as its end. */
export function startChild(spec: ChildSpec): Child {
  const env = environment(spec.env);
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env,
      detached: grouped,
      shell: false,
      windowsHide: true,
    });
  } catch (error) {
    return unstarted(Promise.resolve(error));
  }
  const { pid } = child;
  if (pid === undefined)
    return unstarted(new Promise((resolve) => void child.once("error", resolve)));
  const dismiss = grouped ? guard(pid) : () => undefined;
  let stopped = false;
  let kill: NodeJS.Timeout | null = null;
  // The program may close its input early; its output or exit explains more than a broken pipe.
  child.stdin.on("error", () => undefined);
  // Node discards what an ended program has said, unless somebody waits for it.
  child.stdout.on("readable", () => undefined);
  const ended = endOf(child, () => stopped).then((end) => {
    if (kill !== null) clearTimeout(kill);
    signalGroup(pid, "SIGKILL");
    dismiss();
    return { ...end, stderr: redactEnvironment(end.stderr, spec.env, env) };
  });
  return {
    output: outputOf(child),
    ended,
    write: (text) => void child.stdin.write(text),
    closeInput: () => void child.stdin.end(),
    async stop() {
      if (!stopped && child.exitCode === null && child.signalCode === null) {
        stopped = true;
        signalGroup(pid, "SIGTERM");
        kill = setTimeout(() => signalGroup(pid, "SIGKILL"), termMs);
      }
      // No one reads any more; an unread pipe would block the program.
      child.stdout.destroy();
      await ended;
    },
  };
}

/** The child of a program that could not be started. */
function unstarted(reason: Promise<unknown>): Child {
  return {
    output: (async function* (): AsyncGenerator<Uint8Array> {})(),
    ended: reason.then((error) => ({
      code: null,
      problem: `could not be started (${codeOf(error as Error)})`,
      stderr: "",
      startCode: codeOf(error as Error),
    })),
    write: () => undefined,
    closeInput: () => undefined,
    stop: async () => undefined,
  };
}

async function* outputOf(child: ChildProcessWithoutNullStreams): AsyncGenerator<Uint8Array> {
  try {
    yield* child.stdout;
  } catch (error) {
    // Closed on this side: the program's end explains the rest.
    if (codeOf(error as Error) !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
}

function endOf(child: ChildProcessWithoutNullStreams, stopped: () => boolean): Promise<ChildEnd> {
  let stderr = Buffer.alloc(0);
  child.stderr.on("data", (part: Buffer) => {
    stderr = Buffer.from(Buffer.concat([stderr, part]).subarray(-stderrBytesMax));
  });
  return new Promise((resolve) => {
    const end = (code: number | null, problem: string | null) => {
      const pipes = [child.stdout, child.stderr];
      const settle = () => resolve({ code, problem, stderr: stderr.toString("utf8") });
      if (pipes.every(({ closed }) => closed)) {
        settle();
        return;
      }
      const stopWaiting = closeWhenEmpty(pipes, settle);
      child.once("close", () => {
        stopWaiting();
        settle();
      });
    };
    child.once("exit", (code, signal) => {
      if (code === 0 || stopped()) end(code, null);
      else if (code === null) end(null, `was ended by ${signal ?? "a signal"}`);
      else end(code, `exited with code ${code}`);
    });
  });
}

/**
 * A process in its own session may hold the pipes open after the program has ended: they are closed
 * once no more output arrives. Unread output is not lost, whether it is here or in the system's
 * pipe, which is only read while somebody asks: a check asks, and sees the answer when the event
 * loop has polled. Two of them in a row must find nothing new; then `onQuiet` is called.
 */
function closeWhenEmpty(pipes: readonly Readable[], onQuiet: () => void): () => void {
  let before = -1;
  const check = () => {
    // A full pipe is not read on, and may hold back more.
    if (pipes.some((pipe) => pipe.readableLength >= pipe.readableHighWaterMark)) return;
    const bytes = pipes.reduce((sum, pipe) => sum + (pipe as Socket).bytesRead, 0);
    const isQuiet = bytes === before;
    before = bytes;
    if (!isQuiet) return;
    for (const pipe of pipes) if (pipe.readableLength === 0) pipe.destroy();
    onQuiet();
  };
  const timer = setInterval(() => {
    for (const pipe of pipes) pipe.read(0);
    setImmediate(check);
  }, drainMs);
  return () => clearInterval(timer);
}

const codeOf = (error: Error): string => (error as NodeJS.ErrnoException).code ?? error.message;

/** Redacts secrets that were passed in the environment. */
function redactEnvironment(
  text: string,
  names: readonly string[],
  env: Record<string, string>,
): string {
  return redactSecrets(
    text,
    names.flatMap((name) => env[name] ?? []),
  );
}
