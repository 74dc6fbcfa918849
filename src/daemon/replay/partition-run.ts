/**
 * A strand of a replay
 * ====================
 * Runs the rooms of one strand as a simulation of their own and writes down what they do, to be laid
 * together with the others (actors/simulation.braid.ts). What is told are the lines of the output as
 * JSON; where somebody wants to know, a message that was heard comes before what follows from it.
 */
import { type Batch, Recorder } from "../../actors/simulation/activity-log.ts";
import { isOfStrand, type StrandPlan } from "../../actors/simulation/partition.ts";
import type { Scenario, ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { safeJson } from "../events/safe-json.ts";
import { type SimulateOptions, simulateScenario } from "./simulate.ts";

/** Settings of a run that every strand of it has; they cross threads. */
export interface StrandOptions
  extends Pick<SimulateOptions, "config" | "instead" | "seed" | "prompts"> {
  /** Messages are told, too. */
  readonly hears: boolean;
}

/** What one text of an activity says. */
export type Told =
  | { readonly kind: "line"; readonly json: string }
  | { readonly kind: "heard"; readonly line: ScenarioLine };

/** A line of output is an object; this stands before what was heard. */
const heardMark = "<";

export function toldIn(text: string): Told {
  if (!text.startsWith(heardMark)) return { kind: "line", json: text };
  return { kind: "heard", line: JSON.parse(text.slice(heardMark.length)) as ScenarioLine };
}

/** The lines of one strand. `read` reads those of the whole scenario that it is asked for. */
export function strandOf(
  scenario: Omit<Scenario, "lines">,
  { lines: places }: StrandPlan,
  strand: number,
  read: (isWanted: (place: number) => boolean) => Iterable<readonly [number, ScenarioLine]>,
): Scenario {
  let current = 0;
  const isWanted = (place: number) => isOfStrand(places[place], strand);
  function* lines() {
    for (const [place, line] of read(isWanted)) {
      current = place;
      yield line;
    }
  }
  let count = 0;
  for (const place of places) if (isOfStrand(place, strand)) count += 1;
  return { ...scenario, count, lines: { [Symbol.iterator]: lines }, number: () => current };
}

/** Runs it to its end; `send` is given its activities. */
export async function runStrand(
  scenario: Scenario,
  { hears, ...options }: StrandOptions,
  send: (batch: Batch) => void | Promise<void>,
): Promise<void> {
  const recorder = new Recorder(send);
  await simulateScenario(scenario, {
    ...options,
    recorder,
    onLine: (line: StreamLine) => recorder.told(safeJson(line)),
    ...(hears ? { onInput: (line) => tellHeard(recorder, line) } : {}),
  });
}

function tellHeard(recorder: Recorder, line: ScenarioLine): void {
  if ("in" in line) recorder.told(`${heardMark}${JSON.stringify(line)}`);
}
