/**
 * A real Restate server, started as `npm run restate` starts it: mostly without a process for that script. The binary
 * is fetched from the npm registry if the cache lacks it: by .ci/run in a step of its own, elsewhere here, within
 * 15 s. Without it the tests that need it are left out, with one line that says so; in .ci/run they fail.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { z } from "zod";
import { binaryIn, cacheFolder, installed } from "../../../scripts/restate/install.mjs";
import { startServer } from "../../../scripts/restate/server.mjs";
import { freePort } from "../free-port.ts";

const script = new URL("../../../scripts/restate.mjs", import.meta.url).pathname;

async function isInstalled(): Promise<boolean> {
  if (existsSync(binaryIn(cacheFolder()))) return true;
  const install = [script, "--install", "--json"];
  try {
    const timeout = process.env.CI === undefined ? 15_000 : 180_000;
    await promisify(execFile)(process.execPath, install, { timeout });
    return true;
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    const [why = ""] = (error as { readonly stderr?: string }).stderr?.split("\n") ?? [];
    process.stderr.write(
      "Tests against a real Restate are left out: it is not installed and could not be fetched in 15 s. " +
        `They run in .ci/run, or after "npm run restate -- --install". ${why}\n`,
    );
    return false;
  }
}

export const haveRestate = await isInstalled();

const readySchema = z.object({
  version: z.string(),
  ingress: z.url(),
  admin: z.url(),
  /** Of the server itself. */
  pid: z.number(),
  data: z.string(),
  log: z.string(),
});

export interface RestateServer
  extends Pick<z.infer<typeof readySchema>, "ingress" | "admin" | "pid" | "data" | "log"> {
  /** Ends it with SIGTERM; resolves when it has ended. */
  stop(): Promise<unknown>;
  /** Resolves when it has ended, for whatever cause. */
  readonly ended: Promise<unknown>;
}

/** One that a script has started. */
export interface ScriptedServer extends z.infer<typeof readySchema> {
  /** Ends it with SIGTERM; resolves to the exit code of the script. */
  stop(): Promise<number | null>;
  /** Resolves when the script has ended, for whatever cause, to what it has printed for people. */
  readonly ended: Promise<string>;
}

export interface StartOptions {
  /** What an earlier server has left: it goes on with its data at its ports. */
  readonly after?: RestateServer;
  /**
   * Of a new server, 24 by its own default. Each has a thread that wakes up the others, and connections of its own
   * to nodes: with as many nodes as partitions some get no conversation. @default 2
   */
  readonly partitions?: number;
}

/** For nodes between which conversations are to be spread. */
export const spread: StartOptions = { partitions: 4 };

const newData = () => mkdtempSync(join(tmpdir(), "earshot-restate-"));
const ownOf = (partitions: number) => ({ RESTATE_DEFAULT_NUM_PARTITIONS: String(partitions) });

/** As the script does, without a process for the script; its ports stay its own while it is dead. */
export async function startRestate({
  after,
  partitions = 2,
}: StartOptions = {}): Promise<RestateServer> {
  const stopping = new AbortController();
  const portOf = (url: string | undefined) => (url === undefined ? freePort() : new URL(url).port);
  const server = await startServer(await installed(cacheFolder(), () => undefined), {
    ingressPort: Number(await portOf(after?.ingress)),
    adminPort: Number(await portOf(after?.admin)),
    data: after?.data ?? newData(),
    signal: stopping.signal,
    own: ownOf(partitions),
  });
  return {
    ...server,
    stop: () => {
      stopping.abort();
      return server.ended;
    },
  };
}

/** Runs the script. @param more further arguments */
export async function runRestate(...more: readonly string[]): Promise<ScriptedServer> {
  const [ingress, admin] = [await freePort(), await freePort()];
  const ports = ["--ingress-port", String(ingress), "--admin-port", String(admin)];
  const args = [script, "--json", ...ports, "--data", newData(), ...more];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...ownOf(2), ...process.env },
  });
  let said = "";
  child.stderr.on("data", (part) => {
    said += String(part);
  });
  const ended = closed(child).then(() => said);
  const lines = createInterface({ input: child.stdout });
  const ready = await Promise.race([once(lines, "line"), ended]);
  if (typeof ready === "string") throw new Error(ready);
  return {
    ...readySchema.parse(JSON.parse(String(ready[0]))),
    ended,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
      return child.exitCode;
    },
  };
}

async function closed(child: ChildProcess): Promise<void> {
  await once(child, "close");
}
