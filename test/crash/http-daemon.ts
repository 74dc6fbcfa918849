/**
 * The built daemon with a load over HTTP, and a platform that takes its answers: what the tests of signals
 * and kills share. The people say their next lines as soon as the ones before were accepted; what was not
 * answered they say again to the next start, as a platform does.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import { findDaemon } from "../../src/daemon/cli/lib/api-client.ts";
import { startDaemon } from "../../src/daemon/daemon.ts";
import type { Store } from "../../src/domain/ports/index.ts";
import { builtMain } from "../support/built/files.ts";
import { childFlags } from "../support/child-flags.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { rounds } from "../support/rounds.ts";
import { crashConfig } from "./protocol.ts";
import type { Received } from "./world.ts";

const people = 12;
const perRequest = 3;

/** Some turns end at once, and some are under way when the end comes. */
const agent = `let turns = 0;
export default async function* (turn) {
  turns += 1;
  await new Promise((next) => setTimeout(next, (turns % 8) * 10));
  yield { type: "text", text: "re " + turn.said };
}`;

/** A platform that takes a moment for each answer. */
export async function openPlatform() {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += String(part);
    const { id, text, route } = JSON.parse(body);
    received.push({ id, text, chat: route.chat.id });
    setTimeout(() => response.writeHead(204).end(), received.length % 15);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

/** A state directory whose daemon sends to this address. */
export function stateDirFor(url: string): string {
  const stateDir = newFolder();
  writeFileSync(join(stateDir, "agent.mjs"), agent);
  const config = {
    ...crashConfig,
    agents: {
      defaults: { maxConcurrent: 50 },
      list: [{ id: "main", driver: { kind: "module", module: "./agent.mjs" } }],
    },
    channels: { webhook: { accounts: { default: { url, secret: "a secret of this test" } } } },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  return stateDir;
}

/** Where a daemon answers, and what clients must send. */
export interface Reached {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Daemon extends Reached {
  readonly child: ChildProcess;
}

const headersFor = (token: string) => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
});

/** A start in this process, for a life that nothing kills. */
export async function startHere(stateDir: string): Promise<Reached & { stop(): Promise<void> }> {
  const how = { port: 0, workers: 0, env: {}, logLevel: "fatal" } as const;
  const daemon = await startDaemon({ stateDir, ...how });
  const stop = async () => void (await daemon.stop());
  return { base: daemon.base, headers: headersFor(daemon.token), stop };
}

/** A start of the built daemon; resolves when it takes messages. */
export async function start(stateDir: string): Promise<Daemon> {
  const at = ["--state-dir", stateDir, "--port", "0", "--workers", String(rounds(0, 1))];
  const args = [...childFlags, builtMain, "start", ...at];
  const env = { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  // On a busy machine it may not answer at once.
  let found = await findDaemon(stateDir);
  while (found === null && child.exitCode === null) found = await findDaemon(stateDir);
  if (found === null) throw new Error("it did not start");
  const token = readFileSync(join(stateDir, "token"), "utf8").trim();
  return { child, base: found.base, headers: headersFor(token) };
}

export async function end(
  { child }: Daemon,
  by: NodeJS.Signals = "SIGTERM",
): Promise<number | NodeJS.Signals> {
  const ended = once(child, "close");
  child.kill(by);
  const [code, signal] = await ended;
  return code ?? signal;
}

/** What the daemon left on the disk. */
export async function atRest<Result>(
  stateDir: string,
  look: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openSqliteStore({ path: join(stateDir, "earshot.db") });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** What `earshot status` reads. */
export const statusOf = async ({ base, headers }: Reached) =>
  (await fetch(`${base}/api/status`, { headers })).json();

/** How many events, turns and messages are under way or wait for it. */
export async function underWay(daemon: Reached): Promise<number> {
  const { turns, outbox, unapplied } = await statusOf(daemon);
  const open = (outbox.pending ?? 0) + (outbox.sending ?? 0) + (outbox.waiting ?? 0);
  const left = unapplied.events + (unapplied.reading ? 1 : 0);
  return turns.running + turns.waiting + open + left;
}

/** Those of these messages that are not decided yet, or whose turn has no outcome. */
export async function unsettled(
  { base, headers }: Reached,
  ids: readonly string[],
): Promise<string[]> {
  const open: string[] = [];
  for (const id of ids) {
    const { why } = await (await fetch(`${base}/api/why/${id}`, { headers })).json();
    if ((why?.[0]?.fate?.outcome ?? null) === null) open.push(id);
  }
  return open;
}

/** People who talk to whichever daemon they are led to. */
export class Talk {
  /** Ids of accepted messages. */
  readonly acked = new Set<string>();
  /** Answered with 503: nothing of them was accepted. */
  readonly refused = new Set<string>();
  #next = 0;
  /** Null: everybody gives up. */
  #daemon: Daemon | null;
  #goOn: (() => void)[] = [];
  #waits: { readonly count: number; readonly done: () => void }[] = [];
  readonly #people: Promise<void>[];

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
    this.#people = Array.from({ length: people }, (_, person) => this.#speak(person));
  }

  /** Resolves when that many messages are accepted. */
  async accepted(count: number): Promise<void> {
    if (this.acked.size < count)
      await new Promise<void>((done) => {
        this.#waits.push({ count, done });
      });
  }

  /** Leads everybody who was not answered to the next start; null: they give up. */
  async goOn(daemon: Daemon | null): Promise<void> {
    this.#daemon = daemon;
    for (const goOn of this.#goOn.splice(0)) goOn();
    if (daemon === null) await Promise.all(this.#people);
  }

  /** One person, who says the next thing when the last was accepted. */
  async #speak(person: number): Promise<void> {
    const chat = { id: `peer${person}`, kind: "direct" };
    for (;;) {
      const said = Array.from({ length: perRequest }, () => {
        this.#next += 1;
        const id = `m${String(this.#next).padStart(5, "0")}`;
        const author = { id: chat.id, name: chat.id };
        return { id, chat, author, text: id, sentAt: 1_700_000_000_000 + this.#next };
      });
      if (!(await this.#say(said))) return;
    }
  }

  /** Until it is accepted; false: nobody takes it any more. */
  async #say(said: readonly { readonly id: string }[]): Promise<boolean> {
    for (;;) {
      const daemon = this.#daemon;
      if (daemon === null) return false;
      const response = await fetch(`${daemon.base}/api/inbound`, {
        method: "POST",
        headers: daemon.headers,
        body: JSON.stringify(said),
      }).catch(() => null);
      if (response?.status === 200) {
        for (const { id } of said) {
          this.refused.delete(id);
          this.acked.add(id);
        }
        for (const wait of this.#waits) if (this.acked.size >= wait.count) wait.done();
        return true;
      }
      // Without an answer it may have been accepted or not.
      if (response !== null) for (const { id } of said) this.refused.add(id);
      if (daemon === this.#daemon)
        await new Promise<void>((goOn) => {
          this.#goOn.push(goOn);
        });
    }
  }
}
