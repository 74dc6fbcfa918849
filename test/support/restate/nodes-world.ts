/**
 * Nodes in processes of their own, with one address, on one Restate: a platform whose messages land on any of them,
 * an agent that answers with its input, and everything they have sent. Nodes and server can be killed.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { KeptRow } from "../../../src/domain/ports/index.ts";
import { conversationService } from "../../../src/engines/restate/wire.ts";
import { violations } from "../../crash/check.ts";
import { askBusy, type FromChild, type ToChild } from "../../crash/protocol.ts";
import type { Received } from "../../crash/world.ts";
import { childFlags } from "../child-flags.ts";
import { freePort } from "../free-port.ts";
import { type Balancer, openBalancer } from "./balancer.ts";
import { compared, quarantinedIn } from "./mirrored-rows.ts";
import { type RestateServer, spread, startRestate } from "./server.ts";

const rooms = 6;
/** What has made no progress for longer than this is left to the judge. */
const stuckMs = 120_000;

/** test/crash/child.ts, built or not. */
export interface Program {
  readonly file: string;
  readonly execArgv?: readonly string[];
}

interface Node {
  readonly port: number;
  readonly program: Program;
  process: ChildProcess | null;
}

export class NodesWorld {
  readonly said: string[] = [];
  readonly acked = new Set<string>();
  readonly received: (Received & { readonly node: number })[] = [];
  readonly logged: string[] = [];
  /** ms from a message's first delivery until it was acknowledged. */
  readonly ackMs: number[] = [];
  kills = 0;
  /** How long an agent takes to answer, ms; null: up to 15. */
  agentMs: number | null = null;
  /** By node, the most turns that it ran at a time; a test may empty it. */
  readonly turnsAtOnce: number[] = [];
  readonly #turns: number[] = [];
  readonly #saidAt = new Map<string, number>();
  readonly #program: Program;
  readonly #random: () => number;
  readonly #folder = mkdtempSync(join(tmpdir(), "earshot-nodes-"));
  readonly #nodes: Node[];
  /** Of the nodes, as the balancer has them. */
  readonly #ports: number[];
  readonly #balancer: Balancer;
  #server: RestateServer;
  /** By key, what was read last. */
  readonly #read = new Map<string, readonly KeptRow[]>();
  /** By room, what was not acknowledged, oldest first: of these only the first is under way. */
  readonly #queues = new Map<string, string[]>();

  private constructor(
    program: Program,
    random: () => number,
    server: RestateServer,
    ports: number[],
    balancer: Balancer,
  ) {
    this.#program = program;
    this.#random = random;
    this.#server = server;
    this.#ports = ports;
    this.#nodes = ports.map((port) => ({ port, program, process: null }));
    this.#balancer = balancer;
  }

  /** So many nodes of a program. */
  static async open(count: number, random: () => number, program: Program): Promise<NodesWorld> {
    const ports: number[] = [];
    while (ports.length < count) ports.push(await freePort());
    const balancer = await openBalancer(ports);
    const world = new NodesWorld(program, random, await startRestate(spread), ports, balancer);
    await Promise.all(ports.map((_, node) => world.start(node)));
    return world;
  }

  /** Numbers of the nodes that run. */
  running(): readonly number[] {
    return [...this.#nodes.keys()].filter((node) => alive(this.#nodes[node] as Node));
  }

  /** Starts one node more, of another program if one is given; resolves to its number. */
  async add(program = this.#program): Promise<number> {
    const port = await freePort();
    this.#ports.push(port);
    this.#nodes.push({ port, program, process: null });
    await this.start(this.#nodes.length - 1);
    return this.#nodes.length - 1;
  }

  /** Starts a node that does not run; resolves when it is ready. */
  async start(node: number): Promise<void> {
    const one = this.#nodes[node] as Node;
    if (alive(one)) return;
    const folder = join(this.#folder, String(node));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const engine = this.engine(one.port);
    const { file, execArgv = [] } = one.program;
    const started = fork(file, [folder], {
      execArgv: [...childFlags, ...execArgv],
      env: {
        ...process.env,
        EARSHOT_CRASH_ENGINE: JSON.stringify(engine),
        NODE_OPTIONS: "",
      },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    one.process = started;
    started.stderr?.on("data", (text) => this.logged.push(`node ${node}: ${text}`));
    await new Promise<void>((done, failed) => {
      started.once("exit", (code, signal) => {
        if (signal !== null) return done();
        failed(new Error(`node ${node} has ended (${code}): ${this.logged.join("")}`));
      });
      started.on("message", (message: FromChild) => {
        if (message.type === "ready") done();
        else this.#hear(node, started, message);
      });
    });
  }

  /** The section of the config of a node at a port. Conversations are active on the nodes of this world only. */
  engine(port: number): Record<string, unknown> {
    const { ingress, admin } = this.#server;
    const nodes = `http://127.0.0.1:${this.#balancer.port}`;
    return { kind: "restate", ingress, admin, port, nodes };
  }

  /** Starts those of these nodes that have ended; resolves to how many there were. */
  async revive(nodes: readonly number[]): Promise<number> {
    const ended = nodes.filter((node) => !alive(this.#nodes[node] as Node));
    await Promise.all(ended.map((node) => this.start(node)));
    return ended.length;
  }

  /** Says new things, each to any node, with a pause of half of `pauseMs` between two on average. */
  async traffic(count: number, pauseMs = 10): Promise<void> {
    this.redeliver();
    for (let said = 0; said < count; said += 1) {
      this.say(`m${String(this.said.length).padStart(5, "0")}`);
      if (pauseMs > 0) await new Promise((done) => setTimeout(done, this.#random() * pauseMs));
    }
  }

  /** Says one thing: "m" and a number, which decides on its room. */
  say(id: string): void {
    this.said.push(id);
    const queue = this.#queues.get(peerOf(id)) ?? [];
    this.#queues.set(peerOf(id), queue);
    queue.push(id);
    if (queue.length === 1) this.#say(id);
  }

  /** Resolves when everything said is acknowledged. */
  async acknowledged(): Promise<void> {
    while (this.acked.size < this.said.length) await new Promise((next) => setTimeout(next, 1));
  }

  /** Resolves when a node has sent an answer in each room since the call; asks in each once in two seconds. */
  async answeredBy(node: number): Promise<void> {
    const before = this.received.length;
    const answered = () =>
      new Set(this.received.slice(before).flatMap((one) => (one.node === node ? [one.chat] : [])));
    for (let looks = 0; answered().size < rooms; looks += 1) {
      if (looks % 8 === 0 && this.acked.size === this.said.length) await this.traffic(rooms);
      else this.redeliver();
      await new Promise((next) => setTimeout(next, 250));
    }
  }

  /**
   * Says one thing in each room, and resolves when all of them are answered: all that was said before is applied.
   * Between two kills, so that on a busy machine none of it is taken for what has ended one process after the other.
   */
  async caughtUp(): Promise<void> {
    await this.traffic(rooms, 0);
    const open = new Set(this.said.slice(-rooms));
    const isStuck = this.#watch();
    for (let seen = 0; open.size > 0 && !isStuck(); ) {
      for (const { text } of this.received.slice(seen))
        for (const id of open) if (text.includes(id)) open.delete(id);
      seen = this.received.length;
      this.redeliver();
      await new Promise((next) => setTimeout(next, 100));
    }
  }

  /** Says again what was not acknowledged: the node that got it may be dead. */
  redeliver(): void {
    for (const [id] of this.#queues.values()) if (id !== undefined) this.#say(id);
  }

  async kill(node: number): Promise<void> {
    const { process: running } = this.#nodes[node] as Node;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((done) => running.once("exit", done));
    running.kill("SIGKILL");
    await ended;
    this.kills += 1;
  }

  signal(node: number, name: "SIGSTOP" | "SIGCONT"): void {
    this.#nodes[node]?.process?.kill(name);
  }

  /** Ends a node as an operator does. */
  async stop(node: number): Promise<void> {
    const { process: running } = this.#nodes[node] as Node;
    if (running === null || !alive(this.#nodes[node] as Node)) return;
    const ended = new Promise((done) => running.once("exit", done));
    running.send({ type: "stop" } satisfies ToChild);
    await ended;
  }

  /** Kills the server and starts it on what it has stored, at the same ports. */
  async killServer(): Promise<void> {
    const { pid, ended } = this.#server;
    process.kill(pid, "SIGKILL");
    await ended;
    this.kills += 1;
    this.#server = await startRestate({ ...spread, after: this.#server });
  }

  /** Base URL of the server's ingress. */
  get ingress(): string {
    return this.#server.ingress;
  }

  /** Of the server and of the nodes that run. */
  pids(): { readonly server: number; readonly nodes: readonly number[] } {
    const nodes = this.#nodes.filter(alive).map(({ process: one }) => one?.pid ?? 0);
    return { server: this.#server.pid, nodes };
  }

  /** Waits until everything said is acknowledged and nothing is under way anywhere. */
  async quiet(): Promise<void> {
    const isStuck = this.#watch();
    for (let calm = 0; calm < 2 && !isStuck(); ) {
      this.redeliver();
      await new Promise((done) => setTimeout(done, 250));
      const running = this.#nodes.filter(alive).map((node) => node.process as ChildProcess);
      const busy = await Promise.all(running.map((one) => askBusy(one)));
      const isCalm =
        this.acked.size === this.said.length &&
        busy.every((count) => count === 0) &&
        (await this.#underWay()) === 0;
      calm = isCalm ? calm + 1 : 0;
    }
  }

  /** Every promise that was broken, in words. */
  async broken(): Promise<string[]> {
    const found: string[] = [];
    for (let room = 0; room < rooms; room += 1) {
      const isOf = (id: string) => peerOf(id) === `peer${room}`;
      const received = this.received.filter(({ chat }) => chat === `peer${room}`);
      const store = openKeptStore(await this.rows(`agent:main:direct:peer${room}`));
      const acked = new Set([...this.acked].filter(isOf));
      found.push(...(await violations(store, { acked, received })));
      await store.close();
    }
    return found;
  }

  /** Where the copy of a node that runs is not what the server has, in words; what differs is read again by the next call. */
  async copiesDiffer(): Promise<readonly string[]> {
    const found: string[] = [];
    for (let room = 0; room < rooms; room += 1) {
      const key = `agent:main:direct:peer${room}`;
      const stored = await this.lastRows(key);
      for (const [node, one] of this.#nodes.entries()) {
        if (!alive(one)) continue;
        const path = join(this.#folder, String(node), "mirror.db");
        const { has, should } = compared(path, key, stored);
        const rows = new Set(should);
        const others = has.filter((row) => !rows.has(row));
        if (has.length === should.length && others.length === 0) continue;
        found.push(`node ${node}, ${key}: ${has.length} rows of ${should.length}, ${others}`);
        this.#read.delete(key);
      }
    }
    return found;
  }

  /** What each node that runs shows as quarantined, whichever of them has the conversation. */
  quarantined(): readonly string[] {
    return [...this.#nodes.entries()].flatMap(([node, one]) =>
      alive(one) ? [quarantinedIn(join(this.#folder, String(node), "mirror.db")).join()] : [],
    );
  }

  /** Answers that came more than once. */
  twice(): readonly string[] {
    const ids = this.received.map(({ id }) => id);
    return ids.filter((id, place) => ids.indexOf(id) !== place);
  }

  /** The records of all rooms as they were read last, parsed. */
  async records(): Promise<readonly (readonly unknown[])[]> {
    const all = await Promise.all(
      Array.from({ length: rooms }, (_, room) => this.lastRows(`agent:main:direct:peer${room}`)),
    );
    return all.flat().flatMap(({ table, row }) => {
      const record = table === "conversation" ? row?.record : null;
      return typeof record === "string" ? [JSON.parse(record) as unknown[]] : [];
    });
  }

  async rows(key: string): Promise<readonly KeptRow[]> {
    const path = `${conversationService}/${encodeURIComponent(key)}/rows`;
    const answer = await fetch(`${this.#server.ingress}/${path}`, { method: "POST" });
    const rows = (await answer.json()) as KeptRow[];
    this.#read.set(key, rows);
    return rows;
  }

  /** What was read last, as by `broken`: where nothing is under way, a call that carries all rows says nothing new. */
  async lastRows(key: string): Promise<readonly KeptRow[]> {
    return this.#read.get(key) ?? this.rows(key);
  }

  async close(): Promise<void> {
    for (const node of this.#nodes.keys()) {
      this.signal(node, "SIGCONT");
      await this.kill(node);
    }
    await this.#server.stop();
    await this.#balancer.close();
    rmSync(this.#server.data, { recursive: true, force: true });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Calls that the server has not ended and that are not for later. */
  async #underWay(): Promise<number> {
    // Each node waits for news there all the time.
    const query =
      "SELECT count(*) AS calls FROM sys_invocation WHERE status NOT IN ('completed', 'scheduled') " +
      "AND target_service_name NOT IN ('feed', 'leases')";
    const answer = await fetch(`${this.#server.admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    const { rows } = (await answer.json()) as { rows: { calls: number }[] };
    return rows[0]?.calls ?? 0;
  }

  /** Whether nothing was acknowledged or sent for too long, looked at again and again. */
  #watch(): () => boolean {
    let [seen, since] = [-1, 0];
    return () => {
      const now = this.acked.size + this.received.length;
      if (now !== seen) [seen, since] = [now, performance.now()];
      return performance.now() - since > stuckMs;
    };
  }

  #since = (id: string) => performance.now() - (this.#saidAt.get(id) ?? 0);

  #say(id: string): void {
    const peer = peerOf(id);
    if (!this.#saidAt.has(id)) this.#saidAt.set(id, performance.now());
    const inbound = {
      channel: "telegram",
      chat: { id: peer, kind: "direct" },
      id,
      author: { id: peer, name: peer },
      text: id,
      sentAt: 1_700_000_000_000 + Number(id.slice(1)),
    } as const;
    const running = this.#nodes.filter(alive);
    const { process: to } = running[Math.floor(this.#random() * running.length)] ?? {};
    // One that is being killed takes nothing any more; what it missed is delivered again.
    to?.send({ type: "say", inbound } satisfies ToChild, () => undefined);
  }

  #acknowledge(id: string): void {
    if (!this.acked.has(id)) this.ackMs.push(this.#since(id));
    this.acked.add(id);
    const queue = this.#queues.get(peerOf(id)) ?? [];
    // A copy of an earlier one may be acknowledged late.
    if (queue[0] !== id) return;
    queue.shift();
    const [next] = queue;
    if (next !== undefined) this.#say(next);
  }

  #hear(node: number, from: ChildProcess, message: FromChild): void {
    if (message.type === "acked") this.#acknowledge(message.id);
    if (message.type === "log")
      this.logged.push(`node ${node}: ${message.event} ${JSON.stringify(message.fields)}`);
    if (message.type !== "ask") return;
    const { call, what, id, text, chat } = message;
    if (what === "send") this.received.push({ id, text, chat, node });
    const answer = what === "send" ? `p${this.received.length}` : `re ${text}`;
    if (what === "agent") {
      this.#turns[node] = (this.#turns[node] ?? 0) + 1;
      this.turnsAtOnce[node] = Math.max(this.turnsAtOnce[node] ?? 0, this.#turns[node]);
    }
    const isSlow = what === "agent" && this.agentMs !== null;
    const ms = isSlow ? (this.agentMs ?? 0) : this.#random() * 15;
    setTimeout(() => {
      if (what === "agent") this.#turns[node] = (this.#turns[node] ?? 1) - 1;
      if (from.connected) from.send({ type: "answer", call, answer }, () => undefined);
    }, ms);
  }
}

const peerOf = (id: string) => `peer${Number(id.slice(1)) % rooms}`;
const alive = ({ process: running }: Node) =>
  running !== null && running.exitCode === null && running.connected;
