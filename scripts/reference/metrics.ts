/**
 * Reference page of metrics
 * =========================
 * docs/reference/metrics.md, generated from metric-definitions.ts. `npm run check` compares.
 */
import {
  type MetricEntry,
  metricPrefix,
  metricTable,
} from "../../src/daemon/observability/metric-definitions.ts";
import { processMetrics } from "./process-metrics.ts";

const intro = `# Metrics

<!-- made by \`node scripts/schema.mjs\` -->

\`GET /metrics\` answers in Prometheus' text form, without a token on this machine and with it from
elsewhere. A histogram \`x\` is read as \`x_bucket\`, \`x_sum\` and \`x_count\`. Counters begin at 0 with
each start.

Labels take their values from closed lists or from the config, never from a room: no text, no name
and no session key of a room is ever a label. [observe.md](../operate/observe.md) says how to scrape them,
[grafana/earshot.json](../grafana/earshot.json) is a dashboard that shows them.

## Of earshot

`;
const ofProcess = `
## Of the process

What Node.js and the system report about the daemon's process. Which metrics exist depends on the
platform; these are those of Linux.

`;

/** docs/reference/metrics.md as text. */
export function metricsPage(): string {
  return intro + rows(metricTable) + closedLists() + ofProcess + rows(processMetrics);
}

function rows(entries: readonly MetricEntry[]): string {
  const lines = entries.map(({ name, type, labels, unit, help }) => {
    const names = Object.keys(labels).map((label) => `\`${label}\``);
    return `| \`${metricPrefix}${name}\` | ${type} | ${names.join(", ")} | ${unit} | ${help} |`;
  });
  return [
    "| Metric | Type | Labels | Unit | What it says |",
    "|---|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}

/** Values of the labels, each list once. */
function closedLists(): string {
  const lists = new Map<string, { readonly values: string; readonly of: string[] }>();
  for (const { name, labels } of metricTable as readonly MetricEntry[])
    for (const [label, allowed] of Object.entries(labels)) {
      const values =
        typeof allowed === "string" ? allowed : allowed.map((item) => `\`${item}\``).join(", ");
      const id = `${label}: ${values}`;
      const list = lists.get(id) ?? { values: `| \`${label}\` | ${values} |`, of: [] };
      list.of.push(`\`${metricPrefix}${name}\``);
      lists.set(id, list);
    }
  const lines = [...lists.values()].map(({ values, of }) => `${values} ${of.join(", ")} |`);
  return ["", "| Label | Values | Of |", "|---|---|---|", ...lines, ""].join("\n");
}
