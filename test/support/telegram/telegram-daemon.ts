/**
 * A daemon on a Telegram
 * ======================
 * The real process, started as a user starts it, on a Bot API server of this process: what people
 * see survives whatever happens to the daemon. It can be killed and started again on the same state
 * directory. A life that no test kills may run in the test's own process (`startHere`), which costs a
 * quarter of a process's start.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { callApi, type DaemonAddress, findDaemon } from "../../../src/daemon/cli/lib/api-client.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { type CommandResult, runCommand } from "../built/command.ts";
import { builtMain } from "../built/files.ts";
import { childFlags } from "../child-flags.ts";
import { sampleToken, startTelegramServer, type TelegramServer } from "../servers/telegram.ts";
import type { Room } from "../servers/telegram-world.ts";

interface Status {
  readonly turns: { readonly running: number; readonly waiting: number };
  readonly outbox: Readonly<Record<string, number>>;
}

export class TelegramDaemon {
  readonly server: TelegramServer;
  readonly stateDir: string;
  /** A direct chat each. */
  readonly rooms: Readonly<Record<"ann" | "bob", Room>>;
  #child: ChildProcess | null = null;
  /** Where the life that runs answers; null: nobody has asked it yet. */
  #address: DaemonAddress | null = null;
  /** The life in this process. */
  #here: Daemon | null = null;
  #output = "";

  constructor(server: TelegramServer, config: Record<string, unknown>) {
    this.server = server;
    this.stateDir = mkdtempSync(join(tmpdir(), "earshot-telegram-"));
    const { world } = server;
    this.rooms = { ann: world.direct(world.user("Ann")), bob: world.direct(world.user("Bob")) };
    const account = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 5 };
    const channels = { telegram: { accounts: { default: account } } };
    // A host is a start more: what is claimed of hosts says how many.
    const workers = { count: 0 };
    const whole = { channels, workers, access: { dmPolicy: "open" }, ...config };
    writeFileSync(join(this.stateDir, "earshot.json5"), JSON.stringify(whole), { mode: 0o600 });
  }

  say(who: "ann" | "bob", text: string): number {
    const room = this.rooms[who];
    const user = this.server.world.users.get(room.chat.id);
    if (user === undefined) throw new Error(`nobody is called ${who}`);
    return this.server.world.say(room, user, text).message_id;
  }

  /** Starts the process; resolves when it answers. */
  async start(): Promise<void> {
    const child = this.#spawn("start", "--state-dir", this.stateDir, "--port", "0");
    this.#child = child;
    const ended = once(child, "exit").then(() => {
      this.#address = null;
      throw new Error(`the daemon ended by itself:\n${this.#output}`);
    });
    ended.catch(() => undefined);
    const ready = async () => {
      while ((await findDaemon(this.stateDir).catch(() => null)) === null)
        await new Promise((go) => setTimeout(go, 50));
    };
    await Promise.race([ready(), ended]);
  }

  /** Starts it in this process, which nothing can kill; resolves when it answers. */
  async startHere(): Promise<void> {
    const env = { PATH: process.env.PATH, HOME: this.stateDir };
    const writeLog = (line: string) => this.#keep(line);
    this.#here = await startDaemon({ stateDir: this.stateDir, port: 0, env, writeLog });
  }

  /** Ends the life in this process, as SIGTERM ends a process. */
  async stop(): Promise<void> {
    await this.#here?.stop();
    this.#here = null;
    this.#address = null;
  }

  /** Resolves to how it ended; null: it had ended before. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<number | NodeJS.Signals | null> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return null;
    const ended = once(child, "exit");
    child.kill(signal);
    const [code, by] = (await ended) as [number | null, NodeJS.Signals | null];
    return code ?? by;
  }

  /** Runs another command of the program beside it. */
  async run(...args: string[]): Promise<CommandResult> {
    const env = { HOME: this.stateDir, NO_COLOR: "1" };
    const result = await runCommand([...args, "--state-dir", this.stateDir], { env });
    this.#keep(result.out + result.err);
    return result;
  }

  async get<Answer>(path: string): Promise<Answer> {
    return (await callApi<Answer>(await this.#running(), path)) as Answer;
  }

  /** Null: there is no such thing. */
  async post<Answer>(path: string, body?: unknown): Promise<Answer | null> {
    return callApi<Answer>(await this.#running(), path, {
      method: "POST",
      ...(body === undefined ? {} : { body }),
    });
  }

  async #running(): Promise<DaemonAddress> {
    this.#address ??= await findDaemon(this.stateDir);
    if (this.#address === null) throw new Error(`no daemon answers:\n${this.#output}`);
    return this.#address;
  }

  /** Waits until everything said was taken, every turn has ended and nothing waits to be sent. */
  async quiet(): Promise<void> {
    for (let calm = 0; calm < 3; ) {
      const { turns, outbox } = await this.get<Status>("/api/status");
      const open = ["pending", "sending", "waiting"].some((state) => (outbox[state] ?? 0) > 0);
      const busy = turns.running + turns.waiting > 0 || open;
      calm = busy || this.server.world.queue.length > 0 ? 0 : calm + 1;
      await new Promise((go) => setTimeout(go, 700));
    }
  }

  /** The messages that still carry a reaction of ours. */
  reacted(): string[] {
    return Object.values(this.rooms).flatMap(({ reactions }) =>
      [...reactions].filter(([, list]) => list.length > 0).map(([id, list]) => `${id} ${list}`),
    );
  }

  #spawn(...args: string[]): ChildProcess {
    const env = { PATH: process.env.PATH, HOME: this.stateDir, NO_COLOR: "1" };
    const child = spawn(process.execPath, [...childFlags, builtMain, ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (data) => this.#keep(String(data)));
    return child;
  }

  #keep(text: string): void {
    this.#output = (this.#output + text).slice(-20_000);
  }

  async end(): Promise<void> {
    await this.kill();
    await this.#here?.stop({ drainMs: 0 });
    await this.server.close();
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}

/**
 * A daemon that is not started yet; it and its Telegram are gone when the test ends. A test that runs
 * at the same time as others of its file gives its own `atEnd`, as Vitest asks.
 */
export async function telegramDaemon(
  config: Record<string, unknown>,
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<TelegramDaemon> {
  const daemon = new TelegramDaemon(await startTelegramServer(), config);
  atEnd(() => daemon.end());
  return daemon;
}
