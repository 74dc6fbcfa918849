/**
 * Daemons as processes of their own, with one address, on one Restate. Their agent says here that a turn begins,
 * and what they send comes here. A node can be killed and stopped in order.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { KeptRow } from "../../../src/domain/ports/index.ts";
import { conversationService } from "../../../src/engines/restate/wire.ts";
import { runCommand } from "../built/command.ts";
import { freePort } from "../free-port.ts";
import { type Balancer, openBalancer } from "./balancer.ts";
import { isRunning, startProcess } from "./daemon-process.ts";
import { type RestateServer, spread, startRestate } from "./server.ts";

export interface Node {
  readonly folder: string;
  readonly api: number;
  readonly port: number;
  process: ChildProcess | null;
}

/** A text that a node has sent. `id`: of its row of the outbox. */
export interface Said {
  readonly id: string;
  readonly text: string;
  readonly chat: string;
}

/** A turn that began. */
export interface Turn {
  /** Of the process. */
  readonly pid: number;
  readonly heartbeat: boolean;
}

const agentFor = (url: string) => `
let turns = 0;
export default async function* (turn) {
  turns += 1;
  const began = { pid: process.pid, heartbeat: turn.heartbeat === true };
  await fetch(${JSON.stringify(url)}, { method: "POST", body: JSON.stringify(began) });
  if ((turn.said ?? "").includes("remind me")) {
    const at = new Date(Date.now() + 2000).toISOString();
    const input = { action: "create", name: "own", prompt: "remember", at };
    yield { type: "text", text: "tool: " + await turn.callTool("schedule", input) };
    return;
  }
  yield { type: "text", text: "turn " + process.pid + " " + turns };
}`;

export class DaemonNodes {
  readonly said: Said[] = [];
  readonly turns: Turn[] = [];
  /** The HTTP status that a text is answered with. */
  answers: (said: Said) => number | Promise<number> = () => 204;
  logged = "";
  readonly nodes: readonly Node[];
  readonly restate: RestateServer;
  readonly #balancer: Balancer;
  readonly #sink: Server;
  readonly #folder: string;
  #waiting: (() => void)[] = [];

  private constructor(
    folder: string,
    nodes: readonly Node[],
    restate: RestateServer,
    balancer: Balancer,
  ) {
    this.#folder = folder;
    this.nodes = nodes;
    this.restate = restate;
    this.#balancer = balancer;
    this.#sink = createServer(async (request, response) => {
      let body = "";
      for await (const part of request) body += String(part);
      const heard = JSON.parse(body);
      const said = { id: heard.id, text: heard.text, chat: heard.route?.chat.id };
      const isTurn = request.url === "/turn";
      if (isTurn) this.turns.push(heard);
      else this.said.push(said);
      for (const look of this.#waiting.splice(0)) look();
      response.writeHead(isTurn ? 204 : await this.answers(said)).end();
    });
  }

  /** `config`: besides engine, server, the agent `main`, and a webhook account. */
  static async open(count: number, config: Record<string, unknown>): Promise<DaemonNodes> {
    const folder = mkdtempSync(join(tmpdir(), "earshot-daemons-"));
    const nodes: Node[] = [];
    for (let place = 0; place < count; place += 1) {
      const [api, port] = [await freePort(), await freePort()];
      nodes.push({ folder: join(folder, String(place)), api, port, process: null });
    }
    const [restate, balancer] = await Promise.all([
      startRestate(spread),
      openBalancer(nodes.map(({ port }) => port)),
    ]);
    const world = new DaemonNodes(folder, nodes, restate, balancer);
    world.#sink.listen(0, "127.0.0.1");
    await once(world.#sink, "listening");
    for (const node of nodes) world.#prepare(node, config);
    await Promise.all(nodes.map((node) => world.start(node)));
    return world;
  }

  /** The section of the config of each node, but for its port. Conversations are active on the nodes of this world only. */
  get engine(): Record<string, unknown> {
    const { ingress, admin } = this.restate;
    return { kind: "restate", ingress, admin, nodes: `http://127.0.0.1:${this.#balancer.port}` };
  }

  #prepare({ folder, api, port }: Node, config: Record<string, unknown>): void {
    mkdirSync(folder, { mode: 0o700 });
    const sink = `http://127.0.0.1:${(this.#sink.address() as AddressInfo).port}`;
    const secret = "a secret of this test";
    const whole = {
      engine: { ...this.engine, port },
      server: { port: api },
      channels: { webhook: { accounts: { default: { url: `${sink}/said`, secret } } } },
      access: { groupPolicy: "open", dmPolicy: "open" },
      agents: {
        list: [
          { id: "main", workspace: "./home", driver: { kind: "module", module: "./agent.mjs" } },
        ],
      },
      stream: { mode: "off" },
      ...config,
    };
    mkdirSync(join(folder, "home"));
    writeFileSync(join(folder, "home", "HEARTBEAT.md"), "Look at the build.");
    writeFileSync(join(folder, "agent.mjs"), agentFor(`${sink}/turn`));
    writeFileSync(join(folder, "earshot.json5"), JSON.stringify(whole), { mode: 0o600 });
  }

  /** Ends all nodes and starts these of them with further sections. @default all */
  async configure(
    config: Record<string, unknown>,
    nodes: readonly Node[] = this.nodes,
  ): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.end(node, "SIGTERM")));
    for (const { folder } of nodes) {
      const path = join(folder, "earshot.json5");
      const whole = { ...JSON.parse(readFileSync(path, "utf8")), ...config };
      writeFileSync(path, JSON.stringify(whole), { mode: 0o600 });
    }
    await Promise.all(nodes.map((node) => this.start(node)));
  }

  /** Says something to the agent in a group, at a node; resolves when it is decided. */
  async speak(node: Node, chat: string, id: string, text = "hello"): Promise<void> {
    const message = {
      channel: "webhook",
      id,
      author: { id: "ann" },
      text,
      chat: { id: chat, kind: "group" },
      mentions: [{ id: "me", isSelf: true }],
    };
    await this.ask(node, "/inbound?wait=decision", [message]);
  }

  /** Starts a node that does not run; resolves when it takes messages. */
  start(node: Node): Promise<void> {
    return startProcess(node, this);
  }

  /** The headers that a node's API wants. */
  headersFor = ({ folder }: Node): Record<string, string> => ({
    authorization: `Bearer ${readFileSync(join(folder, "token"), "utf8").trim()}`,
  });

  /** What a node's API answers. @param body absent: it is read */
  async ask<Answer>(node: Node, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(`http://127.0.0.1:${node.api}/api${path}`, {
      headers: { ...this.headersFor(node), "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  }

  /** What a command of `earshot` prints for a node. */
  async command({ folder }: Node, ...words: readonly string[]): Promise<string> {
    const env = { HOME: folder, NO_COLOR: "1" };
    const { code, out, err } = await runCommand([...words, "--state-dir", folder], { env });
    if (code !== 0) throw new Error(`${words.join(" ")}: ${code} ${err}`);
    return out;
  }

  /** Ends a node; resolves when it has ended. */
  async end(node: Node, by: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    if (node.process === null || !isRunning(node)) return;
    const ended = once(node.process, "exit");
    node.process.kill(by);
    await ended;
  }

  nodeOf = (pid: number): Node | undefined =>
    this.nodes.find(({ process: one }) => one?.pid === pid);

  running = (): readonly Node[] => this.nodes.filter(isRunning);

  /** Resolves when it holds, which is looked at whenever something was said or a turn has begun. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((look) => void this.#waiting.push(look));
  }

  /** What Restate has stored of a conversation. */
  async rows(key: string): Promise<readonly KeptRow[]> {
    const path = `${conversationService}/${encodeURIComponent(key)}/rows`;
    const answer = await fetch(`${this.restate.ingress}/${path}`, { method: "POST" });
    return (await answer.json()) as KeptRow[];
  }

  /** Identities of a conversation's events, in their order. */
  async identities(key: string): Promise<readonly string[]> {
    const journal = (await this.rows(key)).filter(({ table }) => table === "journal");
    return journal
      .sort((a, b) => Number(a.row?.seq) - Number(b.row?.seq))
      .map(({ row }) => String(row?.identity));
  }

  /** Ids of what was said more than once in a conversation, and is not marked in doubt. */
  async saidAgain(key: string): Promise<readonly string[]> {
    const store = openKeptStore(await this.rows(key));
    const rows = await store.outboxByState(["sent", "in-doubt", "sending"], 100_000);
    await store.close();
    const doubted = new Set(rows.flatMap(({ id, doubts }) => (doubts > 0 ? [id] : [])));
    const chat = key.split(":").at(-1);
    const ids = this.said.flatMap((one) => (one.chat === chat ? one.id : []));
    return ids.filter((id, place) => ids.indexOf(id) < place && !doubted.has(id));
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.end(node)));
    await this.#balancer.close();
    await this.restate.stop();
    this.#sink.closeAllConnections();
    this.#sink.close();
    rmSync(this.#folder, { recursive: true, force: true });
    rmSync(this.restate.data, { recursive: true, force: true });
  }
}
