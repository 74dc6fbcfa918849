/**
 * The real Prometheus with the scrape configs of docs/operate/observe.md, word for word but for the
 * address: it knows every metric of the table with its type, its linter has nothing to say, and
 * every query of the dashboard is understood and shows something.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { processMetrics } from "../../../scripts/reference/process-metrics.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import {
  type MetricEntry,
  metricPrefix,
  metricTable,
} from "../../../src/daemon/observability/metric-definitions.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import {
  havePrometheus,
  type Prometheus,
  promtoolFindings,
  startPrometheus,
} from "../../support/daemon/prometheus.ts";
import { selfSigned } from "../../support/daemon/self-signed.ts";
import { blocksOf, manual, type Page } from "../../support/docs.ts";

const patience = { timeout: 30_000, interval: 100 };
const [page] = manual().filter(({ path }) => path === "docs/operate/observe.md");
const scrapeConfigs = blocksOf(page as Page).filter(({ role }) => role === "prometheus");
const often = "global: { scrape_interval: 250ms, scrape_timeout: 250ms }\n";

/** An agent that says what it used, without taking long. */
const agent = `export default async function* () {
  yield { type: "text", text: "Done." };
  yield { type: "usage", inputTokens: 7, outputTokens: 3 };
}`;

async function openDaemon(server: Readonly<Record<string, unknown>> = {}) {
  const stateDir = join(newFolder(), "state");
  mkdirSync(stateDir, { mode: 0o700 });
  const put = (name: string, text: string) =>
    writeFileSync(join(stateDir, name), text, { mode: 0o600 });
  const { cert, key } = selfSigned("bot", ["bot.example.com"]);
  put("cert.pem", cert);
  put("key.pem", key);
  put("agent.mjs", agent);
  const config = {
    agents: { list: [{ id: "main", driver: { kind: "module", module: "./agent.mjs" } }] },
    channels: { webhook: {} },
    messages: { inbound: { debounceMs: 0 } },
    server,
  };
  put("earshot.json5", JSON.stringify(config));
  const logged: string[] = [];
  const writeLog = (line: string) => void logged.push(line);
  const daemon = await startDaemon({ stateDir, port: 0, workers: 0, env: {}, writeLog });
  return { stateDir, daemon, logged };
}

async function say(daemon: Daemon, id: string): Promise<void> {
  const answer = await fetch(`${daemon.base}/api/inbound?wait=decision`, {
    method: "POST",
    headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
    body: JSON.stringify({ id, chat: { id: "d1", kind: "direct" }, author: { id: "ann" } }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

test("the docs have a config for this machine and one for another", () => {
  expect(scrapeConfigs).toHaveLength(2);
});

describe.skipIf(!havePrometheus)("on this machine", () => {
  let daemon: Daemon;
  let prometheus: Prometheus;
  let instance = "";
  let count = 0;

  beforeAll(async () => {
    ({ daemon } = await openDaemon());
    instance = new URL(daemon.base).host;
    const config = often + scrapeConfigs[0]?.text.replace("127.0.0.1:4747", instance);
    prometheus = await startPrometheus(newFolder(), config);
    await vi.waitUntil(async () => (await prometheus.targets())[0]?.health === "up", patience);
  });
  afterAll(async () => {
    await prometheus?.stop();
    await daemon?.stop({ drainMs: 0 });
  });

  test("the target is up and goes by the job of the docs", async () => {
    const [target, ...others] = await prometheus.targets();
    expect(others).toEqual([]);
    expect(target).toMatchObject({ health: "up", lastError: "", labels: { job: "earshot" } });
    const up = await prometheus.query(`up{job="earshot"}`);
    expect(up.map(({ metric, value }) => [metric.instance, value[1]])).toEqual([[instance, "1"]]);
  });

  test("every metric of the table is known with its type and its words, and no other", async () => {
    const known = await prometheus.metadata();
    const entries: readonly MetricEntry[] = [...metricTable, ...processMetrics];
    for (const { name, type } of entries)
      expect([name, known[metricPrefix + name]?.map((one) => one.type)]).toEqual([name, [type]]);
    for (const { name, help } of metricTable)
      expect(known[metricPrefix + name]?.[0]?.help).toBe(help);
    const names = entries.map(({ name }) => metricPrefix + name);
    expect(Object.keys(known).filter((name) => !names.includes(name))).toEqual([]);
  });

  test("promtool has nothing to say about what is scraped", async () => {
    await say(daemon, "lint");
    expect(promtoolFindings(await (await fetch(`${daemon.base}/metrics`)).text())).toBe("");
    expect(promtoolFindings("# TYPE wrong_total gauge\nwrong_total 1\n")).toMatch(/_total/);
  });

  test("every query of the dashboard is understood, and shows something", async () => {
    const path = resolve(import.meta.dirname, "../../../docs/grafana/earshot.json");
    const { panels } = JSON.parse(readFileSync(path, "utf8")) as {
      readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
    };
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(40);
    const shown = async (expr: string) => {
      const filled = expr
        .replaceAll("$instance", ".*")
        .replaceAll("$__rate_interval", "1m")
        .replaceAll("$__range", "5m");
      expect(filled).not.toContain("$");
      const series = await prometheus.query(filled);
      return series.length > 0 && series.every(({ value }) => Number.isFinite(Number(value[1])));
    };
    let empty = queries;
    const allShown = async () => {
      count += 1;
      await say(daemon, `m${count}`);
      const seen = await Promise.all(empty.map(shown));
      empty = empty.filter((_, index) => !seen[index]);
      return empty.length === 0;
    };
    await vi.waitUntil(allShown, { ...patience, interval: 400 }).catch(() => undefined);
    expect(empty).toEqual([]);
  });

  test("what came in is counted once by the time Prometheus has it", async () => {
    const received = `sum(earshot_received_total{channel="webhook"})`;
    const value = async () => Number((await prometheus.query(received))[0]?.value[1]);
    await say(daemon, "last");
    count += 1;
    // One more was said for the linter.
    await expect.poll(value, patience).toBe(count + 1);
  });

  test("what to be woken for is understood, and nobody is woken by a daemon that is well", async () => {
    const alerts = [...(page as Page).text.matchAll(/^\| `([^`]*earshot_[^`]*)`.*\|$/gmu)];
    expect(alerts.length).toBeGreaterThan(4);
    for (const [, alert = ""] of alerts) expect(await prometheus.query(alert)).toEqual([]);
  });

  test("a daemon that is gone is a target that is down", async () => {
    await daemon.stop({ drainMs: 0 });
    const down = async () => (await prometheus.query(`up{job="earshot"} == 0`)).length;
    await expect.poll(down, patience).toBe(1);
  });
});

/** An address of this machine that others could use. */
const outside = Object.values(networkInterfaces())
  .flatMap((one) => one ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
const canAsk = havePrometheus && outside !== undefined;
if (havePrometheus && !canAsk)
  process.stderr.write("skipped: Prometheus from elsewhere, as there is only a loopback address\n");

describe.skipIf(!canAsk)("from elsewhere", () => {
  test("it needs the token, and the config of the docs shows it", async () => {
    const tls = { cert: "cert.pem", key: "key.pem" };
    const { stateDir, daemon, logged } = await openDaemon({ host: "0.0.0.0", exposed: true, tls });
    const ready = logged.map((line) => JSON.parse(line)).find((line) => line.exposed !== undefined);
    const target = `${outside}:${new URL(ready?.exposed).port}`;
    const documented = (token: string) =>
      `${often}${scrapeConfigs[1]?.text
        .replace("bot.example.com:4747", target)
        .replace("/etc/prometheus/earshot-token", token)}    tls_config:
      ca_file: ${join(stateDir, "cert.pem")}
      server_name: bot.example.com
`;
    const stale = join(stateDir, "stale");
    writeFileSync(stale, "of-yesterday\n");
    const refused = await startPrometheus(newFolder(), documented(stale));
    const admitted = await startPrometheus(newFolder(), documented(join(stateDir, "token")));
    try {
      const health = async (one: Prometheus) => (await one.targets())[0];
      await expect.poll(async () => (await health(admitted))?.health, patience).toBe("up");
      await expect.poll(async () => (await health(refused))?.health, patience).toBe("down");
      expect((await health(refused))?.lastError).toContain("401");
      // A later scrape may fail where the machine is busy, and shows no value until the next.
      await expect.poll(() => admitted.query("earshot_ready"), patience).toHaveLength(1);
    } finally {
      await Promise.all([refused.stop(), admitted.stop()]);
      await daemon.stop({ drainMs: 0 });
    }
  });
});
