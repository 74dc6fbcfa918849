/**
 * The dashboard in docs/grafana: it queries metrics that exist, by labels that they have; every
 * panel has a unit and says what it shows, and none lies on another.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { processMetrics } from "../../../scripts/reference/process-metrics.ts";
import {
  type MetricEntry,
  metricPrefix,
  metricTable,
} from "../../../src/daemon/observability/metric-definitions.ts";

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
}

const path = resolve(import.meta.dirname, "../../../docs/grafana/earshot.json");
const { panels } = JSON.parse(readFileSync(path, "utf8")) as { panels: readonly Panel[] };
const shown = panels.filter(({ type }) => type !== "row");
const all: readonly MetricEntry[] = [...metricTable, ...processMetrics];
const queries = shown.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ title, ...target })),
);

/** The entry that a name in a query means, by the way its type is read. */
function entryOf(name: string): MetricEntry | undefined {
  const plain = all.find((one) => metricPrefix + one.name === name && one.type !== "histogram");
  const base = name.replace(/_(bucket|sum|count)$/, "");
  return plain ?? all.find((one) => metricPrefix + one.name === base && base !== name);
}

test("every query asks for metrics that exist, by labels that they have", () => {
  expect(queries.length).toBeGreaterThan(40);
  for (const { title, expr, legendFormat } of queries) {
    const names = expr.match(/earshot_\w+/g) ?? [];
    expect([title, names.length]).toEqual([title, 1]);
    const entry = entryOf(names[0] as string);
    expect([expr, entry === undefined]).toEqual([expr, false]);
    const known = ["instance", "le", ...Object.keys(entry?.labels ?? {})];
    const grouped = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(", ") ?? [];
    const selected = [...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = ""]) => label);
    const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
    for (const label of [...grouped, ...selected, ...named]) expect(known).toContain(label);
    for (const label of named) expect(grouped).toContain(label);
    for (const [, label = "", value = ""] of expr.matchAll(/(\w+)!?="([^"$]*)"/g))
      expect(entry?.labels[label]).toContain(value);
    if (entry?.type === "counter" || names[0] !== metricPrefix + entry?.name)
      expect(expr).toMatch(/(rate|increase)\(/);
  }
});

test("every panel has a unit and words, and none lies on another", () => {
  for (const { title, description, fieldConfig } of shown) {
    expect([title, fieldConfig?.defaults.unit ?? ""]).not.toContain("");
    expect(description?.length).toBeGreaterThan(10);
  }
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect([title, taken.has(`${x} ${y}`)]).toEqual([title, false]);
        taken.add(`${x} ${y}`);
      }
  }
});

test("what the walk of a message is measured by is on it", () => {
  const asked = new Set(queries.flatMap(({ expr }) => expr.match(/earshot_\w+/g) ?? []));
  const missing = metricTable.filter(({ name, type }) => {
    const wanted = type === "histogram" ? [`${name}_bucket`, `${name}_count`] : [name];
    return !wanted.some((one) => asked.has(metricPrefix + one));
  });
  // The rest is for alerts and for a closer look.
  expect(missing.map(({ name }) => name)).toEqual([
    "decisions_labelled_total",
    ...["judge_questions_total", "judge_tokens_total"],
    ...["turn_seconds", "turn_to_first_send_seconds", "heartbeats_total", "hook_calls_total"],
    ...["hosts_ready", "host_refused_total", "journal_unapplied", "journal_last_seq"],
    ...["connections_shared", "nodes", "engine_reachable", "copy_behind"],
    ...["stream_readers", "build_info"],
  ]);
});
