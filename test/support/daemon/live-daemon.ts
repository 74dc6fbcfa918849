/**
 * A daemon for tests of the pages: SQLite in a folder of its own, the pages as they are in the
 * sources, and people who speak through the webhook channel. It can be ended and started again on
 * the same port, as a person would see it.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import type { InboundInput } from "../../../src/domain/message.ts";

const basicConfig = {
  agents: { list: [{ id: "main", name: "Scout", driver: { kind: "guide" } }] },
  channels: { webhook: {} },
};

export interface LiveDaemonOptions {
  readonly pagesDir: string;
  /** Sections of the config beside the agent and the webhook channel. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface LiveDaemon {
  readonly stateDir: string;
  /** Where it listens, and what clients must send. */
  readonly base: string;
  readonly token: string;
  readonly terminal: Daemon["terminal"];
  /** The address of a page, with the token. */
  address(path: string): string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Takes messages; resolves when they are decided. */
  say(...messages: readonly Said[]): Promise<void>;
  /** What `/api` answers at a path. */
  ask(path: string): Promise<unknown>;
  /** Ends it and removes everything. */
  close(): Promise<void>;
}

export type Said = Partial<InboundInput> & { readonly chat: InboundInput["chat"] };

/** A group with this title. */
export const group = (title: string): Said["chat"] => ({ id: title, kind: "group", title });
/** To somebody else, so that it is overheard. */
export const aside = { mentions: [{ id: "zoe" }] };
/** To the agent. */
export const toScout = { mentions: [{ id: "self", isSelf: true }] };
export const person = (name: string) => ({ id: name.toLowerCase(), name });

/** Makes the folder; `start` starts the daemon. */
export async function createLiveDaemon(options: LiveDaemonOptions): Promise<LiveDaemon> {
  const stateDir = await mkdtemp(join(tmpdir(), "earshot-live-"));
  const { pagesDir } = options;
  const configText = JSON.stringify({ ...basicConfig, ...options.config });
  await writeFile(join(stateDir, "earshot.json5"), configText, { mode: 0o600 });
  let daemon: Daemon | null = null;
  let port = 0;
  let count = 0;
  const running = (): Daemon => {
    if (daemon === null) throw new Error("the daemon does not run");
    return daemon;
  };
  const live: LiveDaemon = {
    stateDir,
    get base() {
      return running().base;
    },
    get token() {
      return running().token;
    },
    get terminal() {
      return running().terminal;
    },
    address: (path) => running().page.replace("/#", `${path}#`),
    async start() {
      const how = { stateDir, port, workers: 0, pagesDir, logLevel: "fatal", env: {} } as const;
      daemon = await startDaemon(how);
      port = Number(new URL(daemon.base).port);
    },
    async stop() {
      await daemon?.stop({ drainMs: 0 });
      daemon = null;
    },
    async say(...messages) {
      const { base, token } = running();
      const body = messages.map((message) => {
        count += 1;
        return { channel: "webhook", id: `m${count}`, author: person("Ann"), text: "", ...message };
      });
      const response = await fetch(`${base}/api/inbound?wait=decision`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`refused: ${await response.text()}`);
    },
    async ask(path) {
      const { base, token } = running();
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${base}/api${path}`, { headers })).json();
    },
    async close() {
      await live.stop();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
  return live;
}
