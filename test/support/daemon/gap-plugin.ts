/** A plugin whose channel was away: it reports what it could not recover, and then it is live. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Gap } from "../../../src/domain/ports/index.ts";
import { plainCapabilities } from "../plain-capabilities.ts";

/** Writes it into a folder; returns the sections of the config that use it. */
export function writeGapPlugin(folder: string, gaps: readonly Gap[]) {
  const path = join(folder, "pigeon.mjs");
  const start = `async start(signal) {
    for (const gap of ${JSON.stringify(gaps)}) reportGap(gap);
    reportState("live");
    await new Promise((end) => signal.addEventListener("abort", end));
  }`;
  const channel = `{ id: "pigeon", meta: { name: "Pigeon", description: "birds" },
    capabilities: ${JSON.stringify(plainCapabilities)}, textLimit: 100, typingIntervalMs: 5000,
    local: false, accountSchema: { safeParse: (data) => ({ success: true, data }) },
    open: ({ reportGap, reportState }) => ({ ${start}, outbound: {} }) }`;
  writeFileSync(path, `export default { name: "pigeon", channels: [${channel}] };`);
  return { plugins: [path], channels: { webhook: {}, pigeon: {} } };
}
