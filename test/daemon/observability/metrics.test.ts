/**
 * `/metrics` of a real daemon after real traffic: every name is in the table and every entry of the
 * table is there, labels come from closed lists, the numbers are those of the traffic, and nothing
 * of a room is among them.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { metricsPage } from "../../../scripts/reference/metrics.ts";
import { processMetrics } from "../../../scripts/reference/process-metrics.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import {
  type MetricEntry,
  metricPrefix,
  metricTable,
} from "../../../src/daemon/observability/metric-definitions.ts";
import { formatSessionKey } from "../../../src/domain/key.ts";
import { newFolder } from "../../support/daemon/folder.ts";

const own: readonly MetricEntry[] = metricTable;
const all = [...own, ...processMetrics];
const canary = 'canary "room"\n\u001b[2J';
const webhook = { agentId: "main", channel: "webhook", account: "default" };
const canaryKey = formatSessionKey({ ...webhook, kind: "group", id: canary, thread: null });
const patience = { timeout: 60_000, interval: 50 };

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a scrape says, in Prometheus' text form. */
function parse(text: string) {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const [, named = "", type = ""] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (named !== "") types.set(named, type);
    const [, name = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === "" || line.startsWith("#")) continue;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    samples.push({
      name,
      value: Number(value),
      labels: Object.fromEntries(pairs.map(([, label = "", said = ""]) => [label, said])),
    });
  }
  return { types, samples };
}

describe("after real traffic", () => {
  let daemon: Daemon;
  let text = "";
  let scraped: ReturnType<typeof parse>;

  const post = async (path: string, body: unknown) => {
    const answer = await fetch(`${daemon.base}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`refused: ${await answer.text()}`);
  };
  const scrape = async () => {
    text = await (await fetch(`${daemon.base}/metrics`)).text();
    scraped = parse(text);
  };
  const value = (name: string, labels: Record<string, string> = {}) =>
    scraped.samples.find(
      (sample) =>
        sample.name === metricPrefix + name &&
        Object.entries(labels).every(([label, said]) => sample.labels[label] === said),
    )?.value;

  beforeAll(async () => {
    const stateDir = join(newFolder(), "state");
    await mkdir(stateDir, { mode: 0o700 });
    const config = `{
      agents: { list: [{ id: "main", driver: { kind: "guide" } }] },
      channels: { webhook: {} },
      workers: { loopMs: 60000 },
    }`;
    await writeFile(join(stateDir, "earshot.json5"), config, { mode: 0o600 });
    daemon = await startDaemon({
      stateDir,
      port: 0,
      workers: 1,
      env: {},
      writeLog: () => undefined,
    });
    const chat = { id: canary, kind: "group", title: canary };
    const said = (id: string, more: object = {}) => ({
      id,
      chat,
      author: { id: canary, name: canary },
      text: canary,
      ...more,
    });
    const toUs = { mentions: [{ id: "self", isSelf: true }] };
    const aside = { mentions: [{ id: "zoe" }] };
    await post("/api/inbound?wait=decision", [
      ...["m1", "m2", "m3"].map((id) => said(id, aside)),
      said("m4", toUs),
    ]);
    await post("/api/inbound?wait=decision", said("m1", aside));
    const label = `/api/rooms/${encodeURIComponent(canaryKey)}/label`;
    for (const [id, expected] of [
      ["m1", "engage"],
      ["m2", "observe"],
      ["m4", "observe"],
      ["m4", null],
    ])
      await post(label, { id, expected });
    const bell = { id: "quiet", kind: "group" };
    await post("/api/inbound?wait=decision", said("m5", { chat: bell, ...aside }));
    const sent = async () => {
      await scrape();
      const over = value("turns_total", { outcome: "replied" }) === 1;
      const event = value("sends_total", { status: "sent" }) ?? 0;
      // Gauges are read before the counters beside them.
      return over && event > 0 && value("outbox", { state: "sent" }) === event;
    };
    await vi.waitUntil(sent, patience);
  });
  afterAll(() => daemon.stop({ drainMs: 0 }));

  test("the names at /metrics are those of the table, both ways, with their types", () => {
    const found = [...scraped.types.keys()].sort();
    expect(found.filter((name) => !all.some((one) => metricPrefix + one.name === name))).toEqual(
      [],
    );
    const wanted = process.platform === "linux" ? all : own;
    for (const { name, type } of wanted)
      expect([name, scraped.types.get(metricPrefix + name)]).toEqual([name, type]);
  });

  test("labels are those of the table, and their values are on its closed lists", () => {
    let looked = 0;
    for (const { name, labels } of scraped.samples) {
      const base = name.replace(/_(bucket|sum|count)$/, "");
      const entry = all.find((one) => [name, base].includes(metricPrefix + one.name));
      for (const [label, said] of Object.entries(labels)) {
        if (label === "le" && entry?.type === "histogram") continue;
        const values = entry?.labels[label];
        expect([name, label, values === undefined]).toEqual([name, label, false]);
        if (typeof values === "string") continue;
        expect(values).toContain(said);
        looked += 1;
      }
    }
    expect(looked).toBeGreaterThan(20);
  });

  test("counters are those of the traffic", () => {
    expect(value("received_total", { channel: "webhook" })).toBe(6);
    expect(value("decisions_total", { decision: "engage", rule: "mention" })).toBe(1);
    expect(value("decisions_total", { decision: "observe" })).toBe(4);
    expect(value("decisions_labelled_total", { right: "true" })).toBe(1);
    expect(value("decisions_labelled_total", { right: "false" })).toBe(2);
    expect(value("dedupe_hits_total")).toBe(1);
    expect(value("ingress_refused_total")).toBe(0);
    expect(value("turns_total", { outcome: "failed" })).toBe(0);
    expect(value("http_requests_total", { route: "api", status: "200" })).toBe(7);
  });

  test("times are measured once for each, and are those of a machine that works", () => {
    const count = (name: string, labels = {}) => value(`${name}_count`, labels);
    expect(count("receive_to_decision_seconds")).toBe(6);
    expect(count("intake_seconds")).toBe(3);
    for (const name of ["turn_wait_seconds", "turn_seconds", "turn_to_first_send_seconds"])
      expect([name, count(name)]).toEqual([name, 1]);
    expect(count("turn_to_first_text_seconds")).toBe(1);
    expect(count("receive_to_first_block_seconds")).toBe(1);
    expect(count("agent_seconds", { end: "ended" })).toBe(1);
    expect(count("delivery_seconds")).toBe(value("sends_total", { status: "sent" }));
    expect(count("journal_commit_seconds")).toBe(count("journal_commit_rows"));
    expect(value("journal_commit_rows_sum")).toBeGreaterThan(
      count("journal_commit_rows") as number,
    );
    for (const { name, labels, value: sum } of scraped.samples) {
      if (!name.endsWith("_seconds_sum")) continue;
      expect([name, labels, sum >= 0 && sum < 60]).toEqual([name, labels, true]);
    }
  });

  test("gauges say how it stands", () => {
    expect(value("conversations_live")).toBe(2);
    expect(value("conversations_passive")).toBe(0);
    expect(value("ready")).toBe(1);
    expect(value("hosts_ready")).toBe(1);
    expect(value("host_restarts_total")).toBe(0);
    expect(value("connections", { channel: "webhook", state: "live" })).toBe(1);
    expect(value("outbox", { state: "sent" })).toBe(value("sends_total", { status: "sent" }));
    expect(value("outbox", { state: "in-doubt" })).toBe(0);
    expect(value("journal_last_seq")).toBeGreaterThan(6);
    expect(value("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
  });

  test("nothing of a room is among them", () => {
    for (const word of ["canary", "agent:", "m1", "zoe", "\u001b"])
      expect(text).not.toContain(word);
  });

  test("what is put away is counted as passive, and a host that was ended as started again", async () => {
    await daemon.runtime.passivateAll();
    await expect.poll(() => scrape().then(() => value("conversations_passive")), patience).toBe(2);
    expect(value("conversations_live")).toBe(0);
    await daemon.runtime.crashHost();
    const restarts = () => scrape().then(() => value("host_restarts_total"));
    await expect.poll(restarts, patience).toBe(1);
  });
});

test("docs/reference/metrics.md is what the table makes, and no name is in it twice", async () => {
  const page = await readFile(
    resolve(import.meta.dirname, "../../../docs/reference/metrics.md"),
    "utf8",
  );
  expect(page).toBe(metricsPage());
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});
