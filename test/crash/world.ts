/**
 * The world outside the process that crashes: a platform that redelivers what was not acknowledged
 * and records every send, an agent that answers with its input, and a nemesis that kills the
 * process.
 */
import { type ChildProcess, fork } from "node:child_process";
import { builtFile } from "../support/built/files.ts";
import { childFlags } from "../support/child-flags.ts";
import { askBusy, type FromChild, type ToChild } from "./protocol.ts";
import { standsInFile } from "./transcripts.ts";

const rooms = 6;
/** Lines that are said and not acknowledged: at this many the next one waits, as a platform keeps it. */
const unackedMax = 20;
/** On a loaded machine a turn may take seconds; where nothing moves for longer than this, it is stuck. */
const stuckMs = 60_000;

/** A small seeded source of chance (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Received {
  readonly id: string;
  readonly text: string;
  readonly chat: string;
}

export class CrashWorld {
  readonly said: string[] = [];
  readonly acked = new Set<string>();
  readonly received: Received[] = [];
  /** Sent before they stood in a transcript file. */
  readonly unwritten: string[] = [];
  readonly logged: string[] = [];
  kills = 0;
  readonly #folder: string;
  readonly #random: () => number;
  readonly #workers: number;
  #process: ChildProcess | null = null;
  #next = 0;

  constructor(folder: string, random: () => number, workers: number) {
    this.#folder = folder;
    this.#random = random;
    this.#workers = workers;
  }

  /** Starts the process; resolves when it is ready, or has already killed itself. */
  async start(crashAt = ""): Promise<void> {
    const process_ = fork(builtFile("test/crash-child"), [this.#folder], {
      execArgv: [...childFlags],
      env: {
        ...process.env,
        EARSHOT_CRASH_AT: crashAt,
        EARSHOT_CRASH_WORKERS: String(this.#workers),
        NODE_OPTIONS: "",
      },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#process = process_;
    process_.stderr?.on("data", (text) => this.logged.push(String(text)));
    await new Promise<void>((done, failed) => {
      process_.once("exit", (code) => {
        if (code === null) done();
        else failed(new Error(`the process ended by itself (${code}): ${this.logged.join("")}`));
      });
      process_.on("message", (message: FromChild) => {
        if (message.type === "ready") done();
        else this.#hear(process_, message);
      });
    });
  }

  /** Says new things, and everything again that was never acknowledged, until `ms` are over. */
  async traffic(ms: number): Promise<void> {
    const until = performance.now() + ms;
    this.redeliver();
    for (; performance.now() < until && this.alive; await this.#moment()) {
      // What a busy machine has not taken yet would only make the rest longer.
      if (this.said.length - this.acked.size >= unackedMax) continue;
      const n = this.#next++;
      const id = `m${String(n).padStart(5, "0")}`;
      this.said.push(id);
      this.#say(id);
    }
  }

  #moment(): Promise<void> {
    return new Promise((done) => setTimeout(done, this.#random() * 10));
  }

  redeliver(): void {
    for (const id of this.said) if (!this.acked.has(id)) this.#say(id);
  }

  /** Delivers things again that were said before, acknowledged or not. */
  async storm(copies: number): Promise<void> {
    for (let n = 0; n < copies && this.alive; n += 1) {
      this.#say(this.said[Math.floor(this.#random() * this.said.length)] as string);
      if (n % 500 === 0) await new Promise(setImmediate);
    }
  }

  get alive(): boolean {
    return this.#process !== null && this.#process.exitCode === null && this.#process.connected;
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#process?.kill(name);
  }

  async kill(): Promise<void> {
    if (this.alive) this.#process?.kill("SIGKILL");
    await this.ended();
    this.kills += 1;
  }

  async ended(): Promise<void> {
    const process_ = this.#process;
    if (process_ === null || process_.exitCode !== null || process_.signalCode !== null) return;
    await new Promise((done) => process_.once("exit", done));
  }

  /**
   * Waits until everything said is acknowledged and, asked several times, the process knows of
   * nothing that is not over: what waits for others to be said after it (20 ms at most) is in no
   * table. What is stuck for a minute is left to the judge.
   */
  async quiet(): Promise<void> {
    let until = performance.now() + stuckMs;
    for (let calm = 0, seen = -1, known = -1; calm < 4; ) {
      const now = this.acked.size + this.received.length;
      const busy = await askBusy(this.#process as ChildProcess);
      if (seen !== now || known !== busy) until = performance.now() + stuckMs;
      const still = seen === now && this.acked.size === this.said.length;
      [seen, known] = [now, busy];
      const isCalm = still && (busy === 0 || performance.now() > until);
      calm = isCalm ? calm + 1 : 0;
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async stop(): Promise<void> {
    this.#process?.send({ type: "stop" } satisfies ToChild);
    await this.ended();
  }

  #say(id: string): void {
    const peer = `peer${Number(id.slice(1)) % rooms}`;
    const inbound = {
      channel: "telegram",
      chat: { id: peer, kind: "direct" },
      id,
      author: { id: peer, name: peer },
      text: id,
      sentAt: 1_700_000_000_000 + Number(id.slice(1)),
    } as const;
    this.#notify(this.#process, { type: "say", inbound });
  }

  #notify(to: ChildProcess | null, message: ToChild): void {
    // A process that is being killed takes nothing any more; what it missed is delivered again.
    if (to?.connected === true) to.send(message, () => undefined);
  }

  #hear(from: ChildProcess, message: FromChild): void {
    if (message.type === "acked") this.acked.add(message.id);
    if (message.type === "log")
      this.logged.push(`${message.event} ${JSON.stringify(message.fields)}`);
    if (message.type !== "ask") return;
    const { call, what, id, text, chat } = message;
    if (what === "send") {
      this.received.push({ id, text, chat });
      if (!standsInFile(this.#folder, text)) this.unwritten.push(text);
    }
    const answer = what === "send" ? `p${this.received.length}` : `re ${text}`;
    setTimeout(() => this.#notify(from, { type: "answer", call, answer }), this.#random() * 15);
  }
}
