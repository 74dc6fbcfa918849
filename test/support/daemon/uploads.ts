/**
 * A daemon whose agent looks at files, and a client that uploads them: real requests, real bytes.
 */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { program } from "../runtime/media-service.ts";
import { newFolder } from "./folder.ts";

const looking = resolve(import.meta.dirname, "../agents/attachment-agent.mjs");

export interface Kept {
  readonly id: string;
  readonly kind: string;
  readonly mime: string;
  readonly bytes: number;
  readonly name: string | null;
}

export interface UploadDaemon {
  readonly stateDir: string;
  readonly daemon: Daemon;
  readonly log: readonly string[];
  /** Ends it as it stands and starts it again on the same folder. */
  again(): Promise<void>;
  /** The answer to an upload, whatever it is. */
  post(
    body: Uint8Array | string | ReadableStream<Uint8Array>,
    options?: { readonly name?: string; readonly headers?: Record<string, string> },
  ): Promise<Response>;
  /** Uploads a file that is taken. */
  keep(body: Uint8Array | string, name: string, type?: string): Promise<Kept>;
  get(id: string, headers?: Record<string, string>): Promise<Response>;
  remove(id: string): Promise<Response>;
}

/** A server that is open until the test ends. */
export async function openUploadDaemon(media: object = {}, workers = 0): Promise<UploadDaemon> {
  const stateDir = newFolder();
  const config = join(stateDir, "earshot.json5");
  const image = { kind: "command", ...program("console.log('a green hat')") };
  const whole = {
    agents: { list: [{ id: "main", name: "Scout", driver: { kind: "module", module: looking } }] },
    media: { image, ...media },
  };
  writeFileSync(config, JSON.stringify(whole), { mode: 0o600 });
  const log: string[] = [];
  const start = () => {
    const writeLog = (line: string) => void log.push(line);
    return startDaemon({ stateDir, config, port: 0, workers, env: {}, writeLog });
  };
  let daemon = await start();
  onTestFinished(() => daemon.stop({ drainMs: 0 }));
  const uploads = (rest = "") => `${daemon.base}/api/webchat/uploads${rest}`;
  const authorized = () => ({ authorization: `Bearer ${daemon.token}` });
  const server: UploadDaemon = {
    stateDir,
    log,
    get daemon() {
      return daemon;
    },
    async again() {
      await daemon.stop({ drainMs: 0 });
      daemon = await start();
    },
    post: (body, { name = "a file", headers = {} } = {}) =>
      fetch(uploads(`?name=${encodeURIComponent(name)}`), {
        method: "POST",
        headers: { ...authorized(), ...headers },
        body: body as never,
        duplex: "half",
      } as RequestInit),
    async keep(body, name, type = "application/octet-stream") {
      const answer = await server.post(body, { name, headers: { "content-type": type } });
      if (answer.status !== 200) throw new Error(`refused: ${await answer.text()}`);
      return (await answer.json()) as Kept;
    },
    get: (id, headers = authorized()) => fetch(uploads(`/${id}`), { headers }),
    remove: (id) => fetch(uploads(`/${id}`), { method: "DELETE", headers: authorized() }),
  };
  return server;
}
