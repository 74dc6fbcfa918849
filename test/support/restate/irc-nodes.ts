/**
 * Daemons as processes of their own, with one address, on one Restate and one IRC account: a person asks in rooms,
 * another one hears what the bot says there. A node can be killed, stopped in order and frozen.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeEvent } from "../../../src/actors/protocol/event-codec.ts";
import { sourceOf, withoutFormatting } from "../../../src/adapters/channels/irc/wire.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { EngineStatus } from "../../../src/daemon/api-types/engine.ts";
import type { Need, NeedsAnswer } from "../../../src/daemon/api-types/needs.ts";
import type { KeptRow, Store } from "../../../src/domain/ports/index.ts";
import { conversationService } from "../../../src/engines/restate/wire.ts";
import { violations } from "../../crash/check.ts";
import { crashConfig } from "../../crash/protocol.ts";
import type { Received } from "../../crash/world.ts";
import { runCommand } from "../built/command.ts";
import { freePort } from "../free-port.ts";
import { type Ircd, startInspircd } from "../irc/ircd.ts";
import { IrcPerson } from "../irc/person.ts";
import { type Balancer, openBalancer } from "./balancer.ts";
import { isRunning, startProcess } from "./daemon-process.ts";
import { type RestateServer, spread, startRestate } from "./server.ts";

export const rooms = ["#tea0", "#tea1", "#tea2"] as const;
/** The account is there, too. Nobody asks in it, and what is said while nobody is connected cannot be read back. */
export const forgetful = "#cellar";
const nick = "scout";
/** Each look asks every node; leases take ten seconds to lapse. */
const lookMs = 250;
const agent = `
export default async function* (turn) {
  yield { type: "text", text: "re " + turn.said.match(/q[0-9]+/g).join(" ") };
}
`;

/** What a node shows of the account. */
interface Shown {
  readonly state: string;
  readonly detail: string | null;
  readonly holder: { readonly node: string; readonly epoch: number } | null;
}

interface Node {
  readonly name: string;
  readonly folder: string;
  readonly api: number;
  readonly port: number;
  process: ChildProcess | null;
}

export class IrcNodes {
  /** Ids of questions, by room, in their order. */
  readonly asked = new Map<string, string[]>(rooms.map((room) => [room, []]));
  logged = "";
  readonly nodes: readonly Node[];
  readonly ann: IrcPerson;
  readonly bob: IrcPerson;
  readonly #restate: RestateServer;
  readonly #ircd: Ircd;
  readonly #balancer: Balancer;
  readonly #folder: string;
  #count = 0;

  private constructor(parts: {
    readonly folder: string;
    readonly nodes: readonly Node[];
    readonly restate: RestateServer;
    readonly ircd: Ircd;
    readonly balancer: Balancer;
    readonly people: readonly [IrcPerson, IrcPerson];
  }) {
    this.#folder = parts.folder;
    this.nodes = parts.nodes;
    this.#restate = parts.restate;
    this.#ircd = parts.ircd;
    this.#balancer = parts.balancer;
    [this.ann, this.bob] = parts.people;
  }

  static async open(count: number): Promise<IrcNodes> {
    const folder = mkdtempSync(join(tmpdir(), "earshot-irc-nodes-"));
    const nodes: Node[] = [];
    for (let place = 0; place < count; place += 1) {
      const [api, port] = [await freePort(), await freePort()];
      const name = `:${port}`;
      nodes.push({ name, folder: join(folder, String(place)), api, port, process: null });
    }
    const ircd = await startInspircd();
    const ann = await IrcPerson.connect(ircd.port, "ann");
    const bob = await IrcPerson.connect(ircd.port, "bob");
    for (const room of rooms) {
      await ann.join(room);
      // What is said while nobody is connected can be read back.
      await ann.ask(`MODE ${room} +H 100:1d`);
      await bob.join(room);
    }
    await ann.join(forgetful);
    const [restate, balancer] = await Promise.all([
      startRestate(spread),
      openBalancer(nodes.map(({ port }) => port)),
    ]);
    const people = [ann, bob] as const;
    const world = new IrcNodes({ folder, nodes, restate, ircd, balancer, people });
    for (const node of nodes) world.#prepare(node);
    await Promise.all(nodes.map((node) => world.start(node)));
    return world;
  }

  #prepare({ folder, api, port }: Node): void {
    mkdirSync(folder, { mode: 0o700 });
    const account = {
      host: "127.0.0.1",
      port: this.#ircd.port,
      tls: false,
      nick,
      join: [...rooms, forgetful],
      lineIntervalMs: 0,
    };
    const { ingress, admin } = this.#restate;
    const nodes = `http://127.0.0.1:${this.#balancer.port}`;
    const { agents: _, ...config } = crashConfig;
    const whole = {
      ...config,
      engine: { kind: "restate", ingress, admin, port, nodes },
      server: { port: api },
      channels: { irc: { accounts: { default: account } } },
      access: { groupPolicy: "open", dmPolicy: "open" },
      engagement: { activation: "always" },
      agents: { list: [{ id: "main", driver: { kind: "module", module: "./a.mjs" } }] },
    };
    writeFileSync(join(folder, "a.mjs"), agent);
    writeFileSync(join(folder, "earshot.json5"), JSON.stringify(whole), { mode: 0o600 });
  }

  /** Starts a node that does not run; resolves when it takes messages. */
  start(node: Node): Promise<void> {
    return startProcess(node, this);
  }

  /** What a node's API answers. */
  async #ask<Answer>(node: Node, path: string, method = "GET"): Promise<Answer> {
    const token = readFileSync(join(node.folder, "token"), "utf8").trim();
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`http://127.0.0.1:${node.api}/api/${path}`, { method, headers });
    return (await answer.json()) as Answer;
  }

  async shown(node: Node): Promise<Shown> {
    const { channels } = await this.#ask<{
      channels: readonly { id: string; accounts: readonly Shown[] }[];
    }>(node, "channels");
    return channels.find(({ id }) => id === "irc")?.accounts[0] as Shown;
  }

  /** What a node shows of the engine. */
  async engine(node: Node): Promise<EngineStatus> {
    return (await this.#ask<{ readonly engine: EngineStatus }>(node, "status")).engine;
  }

  /** What a node says that the account could not recover. */
  async gaps(node: Node): Promise<readonly Extract<Need, { kind: "gap" }>[]> {
    const { needs } = await this.#ask<NeedsAnswer>(node, "needs");
    return needs.filter((need) => need.kind === "gap");
  }

  /** A person has seen one, on a node. */
  async see(node: Node, id: string): Promise<void> {
    await this.#ask(node, `needs/${encodeURIComponent(id)}/seen`, "POST");
  }

  /** What a command prints on the machine of a node. */
  async run(node: Node, command: string, ...args: readonly string[]): Promise<string> {
    const env = { HOME: node.folder };
    const all = [command, "--state-dir", node.folder, ...args];
    const { code, out, err } = await runCommand(all, { env });
    if (code !== 0) throw new Error(`${command}: ${code} ${out} ${err}`);
    return out;
  }

  /** Of `/readyz`. */
  async isReady({ api }: Node): Promise<boolean> {
    return (await fetch(`http://127.0.0.1:${api}/readyz`)).ok;
  }

  /** The node that has the connection, once one of these has it and it is live. */
  async holder(among: readonly Node[] = this.nodes): Promise<Node> {
    for (;;) {
      for (const node of among.filter(isRunning)) {
        const shown = await this.shown(node).catch(() => null);
        if (shown?.state === "live") return node;
      }
      await new Promise((next) => setTimeout(next, lookMs));
    }
  }

  /** Resolves when a node shows that this other one has the connection. */
  async knows(node: Node, holder: Node): Promise<Shown> {
    for (;;) {
      const shown = await this.shown(node);
      if (shown.holder?.node.endsWith(holder.name) && shown.detail?.endsWith("has it"))
        return shown;
      await new Promise((next) => setTimeout(next, lookMs));
    }
  }

  /** Asks so many things, each in the next room. */
  async ask(count: number): Promise<void> {
    for (let asked = 0; asked < count; asked += 1) {
      const room = rooms[this.#count % rooms.length] as string;
      this.#count += 1;
      const id = `q${String(this.#count).padStart(5, "0")}`;
      this.asked.get(room)?.push(id);
      await this.ann.say(room, id);
    }
  }

  /** What was said by the bot, under whichever nick, oldest first. */
  said(): readonly { readonly room: string; readonly text: string; readonly nick: string }[] {
    if (this.bob.isGone) throw new Error(`Bob hears nothing: ${this.bob.lines.at(-1)}`);
    return this.bob.lines.flatMap((line) => {
      const found = /^(?:@\S+ )?:(\S+) PRIVMSG (#\S+) :(.*)$/.exec(line);
      const [, prefix = "", room = "", text = ""] = found ?? [];
      const by = sourceOf(prefix).nick;
      if (found === null || !by.startsWith(nick)) return [];
      return [{ room, text: withoutFormatting(text).replace(/^ann: /, ""), nick: by }];
    });
  }

  /** Ids of questions, as they were answered; what comes together may be answered together. */
  answers(): readonly string[] {
    return this.said().flatMap(({ text }) => text.match(/q\d+/gu) ?? []);
  }

  /** Resolves when everything asked is answered. */
  async answered(ms = 60_000): Promise<void> {
    const all = [...this.asked.values()].flat();
    const missing = () => {
      const answered = new Set(this.answers());
      return all.filter((id) => !answered.has(id));
    };
    const until = performance.now() + ms;
    while (missing().length > 0) {
      if (performance.now() > until)
        throw new Error(`not answered: ${missing().join(" ")}\n${this.logged}`);
      await new Promise((next) => setTimeout(next, lookMs));
    }
  }

  running = (): readonly Node[] => this.nodes.filter(isRunning);

  signal({ process: child }: Node, name: NodeJS.Signals): void {
    child?.kill(name);
  }

  /** Ends a node; resolves when the process is gone. */
  async end(node: Node, name: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (!isRunning(node) || node.process === null) return;
    const gone = once(node.process, "exit");
    node.process.kill(name);
    await gone;
  }

  /** Waits until nothing is under way, and names each promise that was broken. */
  async broken(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const room of rooms) {
      const store = await this.#stored(room);
      const rows = await store.outboxByState(["sent", "in-doubt", "dead", "expired"], 100_000);
      const texts = new Map(
        rows.map(({ id, body }) => [(JSON.parse(body) as { text: string }).text, id]),
      );
      const received: Received[] = this.said()
        .filter((one) => one.room === room)
        .map(({ text }) => ({ id: texts.get(text) ?? text, text, chat: room }));
      const acked = new Set(await messageIds(store));
      if (acked.size !== this.asked.get(room)?.length)
        found.push(`${room}: ${this.asked.get(room)?.length} asked and ${acked.size} heard`);
      found.push(...(await violations(store, { acked, received })));
      await store.close();
    }
    return found;
  }

  /** The store of a room, once nothing is under way there; what is stuck is left to the judge. */
  async #stored(room: string): Promise<Store> {
    const until = performance.now() + 60_000;
    for (;;) {
      const store = openKeptStore(await this.#rows(`agent:main:irc:group:${room}`));
      const [open, runs] = await Promise.all([store.outboxOpen(), store.runs()]);
      const unapplied = (await store.scan(0, 1_000_000)).filter(({ code }) => code === null);
      const unsent = open.filter(({ state }) => state !== "in-doubt");
      const isCalm = unsent.length + runs.length + unapplied.length === 0;
      if (isCalm || performance.now() > until) return store;
      await store.close();
      await new Promise((next) => setTimeout(next, 250));
    }
  }

  async #rows(key: string): Promise<readonly KeptRow[]> {
    const path = `${conversationService}/${encodeURIComponent(key)}/rows`;
    const answer = await fetch(`${this.#restate.ingress}/${path}`, { method: "POST" });
    return (await answer.json()) as KeptRow[];
  }

  async close(): Promise<void> {
    for (const node of this.nodes) {
      this.signal(node, "SIGCONT");
      await this.end(node, "SIGKILL");
    }
    await Promise.all([this.ann.close(), this.bob.close()]);
    await this.#restate.stop();
    await this.#balancer.close();
    await this.#ircd.stop();
    rmSync(this.#restate.data, { recursive: true, force: true });
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function messageIds(store: Store): Promise<readonly string[]> {
  const rows = await store.scan(0, 1_000_000);
  return rows.flatMap(({ seq, body }) => {
    const event = decodeEvent({ seq, body });
    return event.type === "message.received" ? [event.message.id] : [];
  });
}
