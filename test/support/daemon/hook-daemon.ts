/**
 * A daemon with a door
 * ====================
 * A whole daemon in this process, on a free port, with a signed webhook account and, if wanted, a
 * Telegram account that is posted to. `raw` writes bytes by hand, for what no client would send.
 */
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Daemon, type DaemonOptions, startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "./folder.ts";

export const hookSecret = "a-hook-secret-of-enough-letters";
export const otherSecret = "another-account-has-another-one";
export const kitchen = "/hooks/webhook/kitchen";

/** The part of a config that opens the hooks `kitchen` and `cellar`. */
export const hookChannels = {
  webhook: {
    groups: { room: {} },
    allowFrom: ["ann"],
    accounts: {
      kitchen: { hook: { secret: hookSecret } },
      cellar: { hook: { secret: otherSecret } },
      closed: {},
    },
  },
};

export interface HookDaemon {
  readonly daemon: Daemon;
  readonly port: number;
  readonly log: readonly string[];
  /** Rows of the journal so far. */
  rows(): number;
  /** Posts to a hook. */
  post(
    path: string,
    body: string | Uint8Array,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** An API call with the token. */
  api(path: string, init?: RequestInit): Promise<Response>;
  /** Writes bytes, reads until the server closes. */
  raw(bytes: string | Uint8Array): Promise<string>;
}

export async function openHookDaemon(
  config: Record<string, unknown> = {},
  options: DaemonOptions = {},
): Promise<HookDaemon> {
  const stateDir = options.stateDir ?? newFolder();
  const log: string[] = [];
  // Nobody is answered in groups, so that a message there is one row and nothing comes after it.
  const quiet = { engagement: { activation: "mention" }, store: { driver: "memory" } };
  const whole = { ...quiet, channels: hookChannels, ...config };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(whole), { mode: 0o600 });
  const daemon = await startDaemon({
    port: 0,
    workers: 0,
    env: {},
    stateDir,
    writeLog: (line: string) => void log.push(line),
    ...options,
  });
  onTestFinished(() => daemon.stop({ drainMs: 0 }));
  const port = Number(new URL(daemon.base).port);
  const authorization = `Bearer ${daemon.token}`;
  return {
    daemon,
    port,
    log,
    rows: () => daemon.runtime.status().store.lastSeq,
    post: (path, body, headers = {}) =>
      fetch(`${daemon.base}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: body as never,
      }),
    api: (path, init = {}) =>
      fetch(`${daemon.base}${path}`, { ...init, headers: { authorization, ...init.headers } }),
    raw: (bytes) => rawRequest(port, bytes),
  };
}

/** A message as it is posted. */
export const messageBody = (id: string, text = "hello", over: object = {}): string =>
  JSON.stringify({ chat: { id: "room", kind: "group" }, id, author: { id: "ann" }, text, ...over });

/** Seconds since the epoch, as a signer has them. */
export const nowSeconds = (offset = 0): string => String(Math.floor(Date.now() / 1_000) + offset);

/** The headers of a body as docs/channels/webhook.md describes them, computed again here. */
export function signed(
  body: string | Uint8Array,
  { secret = hookSecret, timestamp = nowSeconds() } = {},
): Record<string, string> {
  const mac = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
  return { "earshot-timestamp": timestamp, "earshot-signature": `sha256=${mac}` };
}

export const statusOf = (answer: string): number => Number(answer.split(" ")[1]);

/** A request by hand: lines, an empty line, the body. */
export const requestText = (lines: readonly string[], body = ""): string =>
  `${lines.join("\r\n")}\r\n\r\n${body}`;

/** Writes the bytes and reads until the server closes. */
export function rawRequest(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let answer = "";
    socket.on("data", (data) => {
      answer += String(data);
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
  });
}
