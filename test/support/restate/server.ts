/**
 * A real Restate server, started as `npm run restate` starts it. The binary is fetched from the npm registry
 * if the cache lacks it: by .ci/run in a step of its own, elsewhere here, within 15 s. Without it the tests
 * that need it are left out, with one line that says so; in .ci/run they fail.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { z } from "zod";
import { freePort } from "../free-port.ts";

const script = new URL("../../../scripts/restate.mjs", import.meta.url).pathname;

async function isInstalled(): Promise<boolean> {
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

export interface RestateServer extends z.infer<typeof readySchema> {
  /** Ends it with SIGTERM; resolves to the exit code of the script. */
  stop(): Promise<number | null>;
  /** Resolves when the script has ended, for whatever cause, to what it has printed for people. */
  readonly ended: Promise<string>;
}

export interface StartOptions {
  /** The folder of an earlier server. @default a new one */
  readonly data?: string;
  /** Further arguments of the script. */
  readonly more?: readonly string[];
  /**
   * Of a new server, 24 by its own default. Each has a thread that wakes up the others, and connections of its own
   * to nodes: with as many nodes as partitions some get no conversation. @default 2
   */
  readonly partitions?: number;
}

/** For nodes between which conversations are to be spread. */
export const spread: StartOptions = { partitions: 4 };

/** Runs the script, on ports that stay its own while it is dead. */
export async function startRestate({
  data = mkdtempSync(join(tmpdir(), "earshot-restate-")),
  more = [],
  partitions = 2,
}: StartOptions = {}): Promise<RestateServer> {
  const [ingress, admin] = [await freePort(), await freePort()];
  const ports = ["--ingress-port", String(ingress), "--admin-port", String(admin)];
  const child = spawn(process.execPath, [script, "--json", ...ports, "--data", data, ...more], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { RESTATE_DEFAULT_NUM_PARTITIONS: String(partitions), ...process.env },
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
