/**
 * What speaks to the daemon in the HTTP benches, in a process of its own, so that its processor time is
 * not the daemon's: `load.ts <a Load as JSON>` prints a `Loaded` as JSON.
 */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { messages, quantile, quietMix } from "../support.ts";
import { type Connection, openConnection } from "./client.ts";

export interface Load {
  readonly port: number;
  readonly path: string;
  /** Bearer token of the API, or secret of a hook; neither: nothing proves who speaks. */
  readonly token?: string;
  readonly secret?: string;
  /** Connections, with one request each at a time. */
  readonly connections: number;
  /** Lines of one request. */
  readonly lines: number;
  /** Requests of all connections together, and those before they are counted. */
  readonly requests: number;
  readonly warm: number;
  /** Requests a second, each at its time and measured from it. @default as fast as they are answered */
  readonly perSecond?: number;
  /** The answers of the agents are posted to this port, and each connection is a person who waits for one. */
  readonly answersAt?: number;
  readonly rooms: number;
  /** Makes the ids of this load its own. */
  readonly name: string;
}

export interface Loaded {
  readonly perSecond: number;
  /** ms from a request, or from its time, to its answer, or to that of the agent. */
  readonly p50: number;
  readonly p99: number;
}

const load = JSON.parse(process.argv[2] ?? "{}") as Load;
const next = messages(load.rooms, quietMix);
/** Who waits for the answer of an agent, by chat. */
const waiting = new Map<string, () => void>();
let line = 0;

process.stdout.write(`${JSON.stringify(await run())}\n`);
process.exit(0);

async function run(): Promise<Loaded> {
  if (load.answersAt !== undefined) await takeAnswers(load.answersAt);
  const open = await Promise.all(
    Array.from({ length: load.connections }, () => openConnection(load.port)),
  );
  // Nobody engages in a room of several people without being asked; alone in a room one would.
  if (load.answersAt === undefined) await populate(open[0] as Connection);
  await speakAll(open, load.warm, []);
  const samples: number[] = [];
  const from = performance.now();
  await speakAll(open, load.requests, samples);
  const ms = performance.now() - from;
  return {
    perSecond: (samples.length * 1_000) / ms,
    p50: quantile(samples, 0.5),
    p99: quantile(samples, 0.99),
  };
}

async function speakAll(
  open: readonly Connection[],
  count: number,
  samples: number[],
): Promise<void> {
  const start = performance.now();
  let sent = 0;
  const speak = async (connection: Connection, user: number) => {
    while (sent < count) {
      const at = load.perSecond === undefined ? null : start + (sent * 1_000) / load.perSecond;
      sent += 1;
      const early = (at ?? 0) - performance.now();
      if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
      const from = at ?? performance.now();
      await (load.answersAt === undefined ? hear(connection) : ask(connection, `u${user}`));
      samples.push(performance.now() - from);
    }
  };
  await Promise.all(open.map(speak));
}

async function hear(connection: Connection): Promise<void> {
  const lines = Array.from({ length: load.lines }, () => {
    line += 1;
    const { channel: _, account: __, ...said } = next(line, Date.now());
    return { ...said, id: `${load.name}-${line}` };
  });
  await post(connection, lines.length === 1 ? lines[0] : lines);
}

async function ask(connection: Connection, user: string): Promise<void> {
  const answered = new Promise<void>((done) => waiting.set(user, done));
  line += 1;
  await post(connection, {
    chat: { id: user, kind: "direct" },
    id: `${load.name}-${line}`,
    author: { id: user, name: user },
    text: "is the build green again, and when is lunch?",
  });
  await answered;
}

async function populate(connection: Connection): Promise<void> {
  const chats = Array.from({ length: load.rooms }, (_, n) => `-100${n}`);
  for (let at = 0; at < chats.length; at += 200)
    await post(
      connection,
      chats.slice(at, at + 200).map((chat) => ({ membership: { chat, humans: 5, bots: 1 } })),
    );
}

async function post(connection: Connection, content: unknown): Promise<void> {
  const body = JSON.stringify(content);
  const answer = await connection.post(load.path, body, proof(body));
  if (answer.status !== 200) throw new Error(`${load.path}: ${answer.status} ${answer.body}`);
}

function proof(body: string): Record<string, string> {
  if (load.token !== undefined) return { authorization: `Bearer ${load.token}` };
  if (load.secret === undefined) return {};
  const at = String(Math.floor(Date.now() / 1_000));
  const mac = createHmac("sha256", load.secret).update(`${at}.${body}`).digest("hex");
  return { "earshot-timestamp": at, "earshot-signature": `sha256=${mac}` };
}

/** The platform: takes each answer and lets its person ask again. */
function takeAnswers(port: number): Promise<void> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      response.end();
      const { route } = JSON.parse(body) as { route: { chat: { id: string } } };
      waiting.get(route.chat.id)?.();
    });
  });
  return new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
}
