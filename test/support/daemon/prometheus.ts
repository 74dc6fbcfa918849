/**
 * The real Prometheus, as Debian has it: started on a free port of this machine with a data folder
 * of its own, asked by its HTTP API (https://prometheus.io/docs/prometheus/latest/querying/api/).
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../free-port.ts";

const isThere = (program: string) =>
  spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

/** Whether there are `prometheus` and `promtool`. */
export const havePrometheus = isThere("prometheus") && isThere("promtool");
if (!havePrometheus)
  process.stderr.write("skipped: Prometheus, as prometheus or promtool is not installed\n");

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface Target {
  readonly health: "up" | "down" | "unknown";
  readonly lastError: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Prometheus {
  targets(): Promise<readonly Target[]>;
  /** What it knows of each metric. */
  metadata(): Promise<Readonly<Record<string, readonly { type: string; help: string }[]>>>;
  /** An instant query; rejects with Prometheus' own words. */
  query(expr: string): Promise<readonly Series[]>;
  stop(): Promise<void>;
}

/** Starts it with a config in a folder; resolves when it answers. */
export async function startPrometheus(folder: string, config: string): Promise<Prometheus> {
  const port = await freePort();
  const file = join(folder, "prometheus.yml");
  writeFileSync(file, config);
  const checked = spawnSync("promtool", ["check", "config", file], { encoding: "utf8" });
  if (checked.status !== 0) throw new Error(checked.stdout + checked.stderr);
  const child = spawn(
    "prometheus",
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr?.on("data", (data) => {
    said += String(data);
  });
  const base = `http://127.0.0.1:${port}`;
  await ready(base, child, () => said);
  const ask = async <Data>(path: string): Promise<Data> => {
    const answer = (await (await fetch(`${base}/api/v1/${path}`)).json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data: Data;
    };
    if (answer.status !== "success") throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  return {
    targets: async () => (await ask<{ activeTargets: readonly Target[] }>("targets")).activeTargets,
    metadata: () => ask("metadata"),
    query: async (expr) =>
      (await ask<{ result: readonly Series[] }>(`query?query=${encodeURIComponent(expr)}`)).result,
    stop: () =>
      new Promise((resolve) => {
        child.once("close", () => resolve());
        child.kill("SIGTERM");
      }),
  };
}

async function ready(base: string, child: ChildProcess, said: () => string): Promise<void> {
  const end = Date.now() + 30_000;
  for (;;) {
    const answers = await fetch(`${base}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answers) return;
    if (child.exitCode !== null || Date.now() > end)
      throw new Error(`Prometheus did not start: ${said()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What promtool finds wrong with a scrape. */
export function promtoolFindings(scrape: string): string {
  const how = { input: scrape, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], how);
  const said = (stdout + stderr).trim();
  return status === 0 ? said : said || `promtool ended with ${status}`;
}
