/**
 * Replaying a file
 * ================
 * On as many threads as it pays for: in strands where the rooms of the scenario are apart, and on one
 * thread where they are not. Where that shows only on the way, the run begins again on one thread and
 * goes on where the strands ended; what was told already is not told again, but held against what
 * comes now. So the output is the same, byte for byte, with any number of threads.
 */
import { availableParallelism } from "node:os";
import { braid } from "../../actors/simulation/merge-partitions.ts";
import type { StrandPlan, StrandPlanner } from "../../actors/simulation/partition.ts";
import type { ScenarioFile } from "../../adapters/files/scenario-file.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { safeJson } from "../events/safe-json.ts";
import { Echo } from "./line-deduper.ts";
import { toldIn } from "./partition-run.ts";
import { startStrands } from "./partition-threads.ts";
import { type SimulateOptions, simulateScenario } from "./simulate.ts";

export interface ReplayFileOptions
  extends Pick<SimulateOptions, "config" | "instead" | "seed" | "prompts" | "workers"> {
  /** At most so many threads. @default as many as there are cores, where it is long enough */
  readonly threads?: number | undefined;
}

/** Who is told what happens. */
export interface Audience {
  /** A line of the output, as JSON. */
  told(json: string): void;
  /** A message, before what follows from it. Left out: nobody wants to know. */
  heard?: ((line: ScenarioLine) => void) | undefined;
  /** Lines done; waited for, so that a slow reader slows the run. */
  progress(done: number): void | Promise<void>;
  /** It begins again on one thread, and why. What was told already is not told again. */
  again?(why: string): void;
}

/** Shorter files are over before threads have started. */
const strandsFromLines = 5_000;
/** Activities between two looks at how far it is. */
const progressEvery = 64;

/**
 * Runs a checked file to its end. Answers why it was not run in strands; null where it was.
 * @throws EarshotError as `simulateScenario`.
 */
export async function replayFile(
  file: ScenarioFile,
  planner: StrandPlanner,
  options: ReplayFileOptions,
  audience: Audience,
): Promise<string | null> {
  const plan = planFor(file, planner, options);
  if (typeof plan === "string") {
    await onOneThread(file, options, audience, (line) => audience.told(safeJson(line)));
    return plan;
  }
  const echo = new Echo(audience.told);
  const why = await inStrands(file, plan, options, echo, audience);
  if (why === null) return null;
  audience.again?.(why);
  echo.rewind();
  const check = { ...audience, progress: (done: number) => echo.check(audience.progress(done)) };
  await onOneThread(file, options, check, (line) => echo.again(safeJson(line)));
  echo.end();
  return why;
}

function planFor(
  { count }: ScenarioFile,
  planner: StrandPlanner,
  { threads, workers = 0 }: ReplayFileOptions,
): StrandPlan | string {
  if (workers > 0) return "workers were asked for";
  if (threads === undefined && count < strandsFromLines) return "it is short";
  return planner.plan(threads ?? availableParallelism());
}

async function onOneThread(
  file: ScenarioFile,
  { threads: _, ...options }: ReplayFileOptions,
  { heard, progress }: Audience,
  onLine: (line: StreamLine) => void,
): Promise<void> {
  const onInput = heard === undefined ? {} : { onInput: heard };
  await simulateScenario(file, { ...options, ...onInput, onLine, onProgress: progress });
}

/** Null: to the end. */
async function inStrands(
  file: ScenarioFile,
  plan: StrandPlan,
  { threads: _, workers: __, ...options }: ReplayFileOptions,
  echo: Echo,
  { heard, progress }: Audience,
): Promise<string | null> {
  const threads = startStrands(file, plan, { ...options, hears: heard !== undefined });
  let count = 0;
  try {
    return await braid(threads.sources, ({ output }, done) => {
      for (const text of output) {
        const told = toldIn(text);
        if (told.kind === "line") echo.first(told.json);
        else heard?.(told.line);
      }
      count += 1;
      if (count % progressEvery === 0) return progress(Math.min(done, file.count));
    });
  } catch (error) {
    // Whatever is wrong is found again, and told as it always is.
    if (error instanceof EarshotError && error.code === "EAR_HOST_LOST") return error.message;
    throw error;
  } finally {
    await threads.end();
  }
}
