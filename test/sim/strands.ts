/** Runs a scenario in strands on this thread, as `earshot replay` does on several. */
import type { Batch } from "../../src/actors/simulation/activity-log.ts";
import { braid, type StrandSource } from "../../src/actors/simulation/merge-partitions.ts";
import { StrandPlanner } from "../../src/actors/simulation/partition.ts";
import { runStrand, strandOf, toldIn } from "../../src/daemon/replay/partition-run.ts";
import type { SimulateOptions } from "../../src/daemon/replay/simulate.ts";
import { parseScenario } from "../../src/domain/scenario/read-scenario.ts";

type Lines = readonly Record<string, unknown>[];

/** Batches that a strand may be ahead. */
const aheadMax = 2;

/** A strand whose batches wait until they are asked for. */
function source(run: (send: (batch: Batch) => Promise<void>) => Promise<void>) {
  const batches: (Batch | null)[] = [];
  let wake = () => {};
  let room = () => {};
  let failed: unknown = null;
  let stopped = false;
  const put = (batch: Batch | null) => {
    batches.push(batch);
    wake();
  };
  const ended = run(async (batch) => {
    if (stopped) throw new Error("no longer wanted");
    put(batch);
    while (batches.length >= aheadMax && !stopped)
      await new Promise<void>((resolve) => {
        room = resolve;
      });
  }).catch((error: unknown) => {
    if (!stopped) failed = error;
  });
  void ended.then(() => put(null));
  const next: StrandSource["next"] = async () => {
    while (batches.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    const batch = batches.shift() ?? null;
    room();
    if (batch === null && failed !== null) throw failed;
    return batch;
  };
  const stop = async () => {
    stopped = true;
    room();
    await ended;
  };
  return { next, stop };
}

export interface Braided {
  /** As far as it went. */
  readonly lines: readonly string[];
  /** Why the strands had to be given up; null: they were not. */
  readonly why: string | null;
  /** No strand was begun. */
  readonly refused: boolean;
}

export async function playInStrands(
  lines: Lines,
  strands: number,
  options: Pick<SimulateOptions, "seed" | "prompts"> = {},
): Promise<Braided> {
  const scenario = parseScenario(lines.map((line) => JSON.stringify(line)).join("\n"), "room");
  const planner = new StrandPlanner();
  for (const line of scenario.lines) planner.see(line);
  const plan = planner.plan(strands);
  if (typeof plan === "string") return { lines: [], why: plan, refused: true };
  const sources = Array.from({ length: strands }, (_, strand) => {
    const own = strandOf(scenario, plan, strand, function* (isWanted) {
      for (const [place, line] of scenario.lines.entries())
        if (isWanted(place)) yield [place, line];
    });
    return source((send) => runStrand(own, { ...options, hears: false }, send));
  });
  const told: string[] = [];
  try {
    const why = await braid(sources, ({ output }) => {
      for (const text of output) {
        const one = toldIn(text);
        if (one.kind === "line") told.push(one.json);
      }
    });
    return { lines: told, why, refused: false };
  } finally {
    await Promise.all(sources.map(({ stop }) => stop()));
  }
}
