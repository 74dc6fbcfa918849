/**
 * A subprocess of an agent
 * ========================
 * One program with its pipes, in a process group of its own, so that what it starts ends with it.
 * It is ended by SIGTERM and 0.3 s later by SIGKILL. When this process dies without a word,
 * a guard (a shell that only waits for its input to end) does the same. There is never a shell
 * between us and the program.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { redactSecrets } from "../../../domain/redact-secrets.ts";

export interface ChildSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Names of further environment variables it may see. */
  readonly env: readonly string[];
}

/** How a program ended. */
export interface ChildEnd {
  /** Null: a signal ended it, or it never started. */
  readonly code: number | null;
  /** In words, null when it ended well or was stopped by us. */
  readonly problem: string | null;
  /** The last of what it wrote to standard error. */
  readonly stderr: string;
}

export interface Child {
  /** Its standard output. Unread output holds the program back. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** To its standard input. What it does not read is lost with it. */
  write(text: string): void;
  closeInput(): void;
  /** Ends it and all it started; resolves when it is gone. */
  stop(): Promise<void>;
}

const everyone = ["PATH", "HOME", "LANG", "TZ"];
const stderrBytesMax = 4_096;
/** Between SIGTERM and SIGKILL, so that an abort is done within a second. */
const termMs = 300;
/** How often the pipes of an ended program are looked at. */
const drainMs = 200;
const grouped = process.platform !== "win32";

/** Ends a process group, or what is left of it. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(grouped ? -pid : pid, signal);
  } catch (error) {
    // Nobody is left: what was wanted. Or it runs as somebody else: then only its input ends.
    if (!["ESRCH", "EPERM"].includes(codeOf(error as Error))) throw error;
  }
}

const guardScript = 'read -r _ && exit; kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"';

/** Waits beside a program for our death. Gives the way to dismiss it. */
function guard(pid: number): () => void {
  if (!grouped) return () => undefined;
  const watcher = spawn("/bin/sh", ["-c", guardScript, "earshot-guard", String(pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
  });
  // A machine without a shell, or short of processes, has no guard; everything else works.
  watcher.on("error", () => undefined);
  watcher.stdin?.on("error", () => undefined);
  return () => void watcher.stdin?.end("\n");
}

function environment(names: readonly string[]): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const name of [...everyone, ...names]) {
    const value = process.env[name];
    if (value !== undefined) allowed[name] = value;
  }
  return allowed;
}

/** Starts a program. One that cannot be started has ended, with the reason as its problem. */
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
  const dismiss = guard(pid);
  let stopped = false;
  let kill: NodeJS.Timeout | null = null;
  // It may close its input early; what it then says or its exit tells more than a broken pipe.
  child.stdin.on("error", () => undefined);
  const ended = endOf(child, () => stopped).then((end) => {
    if (kill !== null) clearTimeout(kill);
    signalGroup(pid, "SIGKILL");
    dismiss();
    return { ...end, stderr: without(end.stderr, spec.env, env) };
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
      // Nobody reads on; an unread pipe would keep the program in a write.
      child.stdout.destroy();
      await ended;
    },
  };
}

/** A program that never was. */
function unstarted(reason: Promise<unknown>): Child {
  return {
    output: (async function* (): AsyncGenerator<Uint8Array> {})(),
    ended: reason.then((error) => ({
      code: null,
      problem: `could not be started (${codeOf(error as Error)})`,
      stderr: "",
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
    // Closed from this side: how the program ended says the rest.
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
      // A process in a session of its own may hold the pipes open after the program has ended:
      // they are closed once nothing more comes. What waits to be read is not lost.
      const late = setInterval(() => {
        if (child.stdout.readableLength > 0) return;
        for (const pipe of pipes) pipe.destroy();
      }, drainMs);
      child.once("close", () => {
        clearInterval(late);
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

const codeOf = (error: Error): string => (error as NodeJS.ErrnoException).code ?? error.message;

/** Secrets handed over by the environment do not come back through its complaints. */
function without(text: string, names: readonly string[], env: Record<string, string>): string {
  return redactSecrets(
    text,
    names.flatMap((name) => env[name] ?? []),
  );
}
