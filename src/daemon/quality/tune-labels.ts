/**
 * Tunes on what the owner labelled
 * ================================
 * The labelled rooms of this daemon's journal, and the rules in force with what decides better on
 * them, as text for the What-if page. Nothing is applied here. One search runs at a time, on one
 * other thread, and ends when its reader goes.
 */
import type { RecordingRange } from "../../actors/recording/types.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Target } from "../../domain/quality/folds.ts";
import type { TuneFrame } from "../api-types/tune.ts";
import type { TuneLabelsPorts } from "./tune-search.ts";

export interface TuneLabels {
  /**
   * Sends progress, then what was found, until it ends or is cancelled.
   * @throws EarshotError EAR_USAGE when another search runs, nothing is labelled, or it is too much.
   */
  run(
    query: RecordingRange,
    target: Target,
    send: (frame: TuneFrame) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Ends the search that runs. */
  close(): void;
}

export function createTuneLabels(ports: TuneLabelsPorts): TuneLabels {
  let running: AbortController | null = null;
  return {
    async run(query, target, send, signal) {
      if (running !== null)
        throw new EarshotError(
          "EAR_USAGE",
          "Cannot look for rules now: another search runs. Stop it, or try again in a moment",
        );
      const own = new AbortController();
      running = own;
      try {
        const { searchRules } = await import("./tune-search.ts");
        const found = await searchRules(ports, query, target, {
          send,
          signal: AbortSignal.any([signal, own.signal]),
        });
        send({ type: "found", found });
      } finally {
        running = null;
      }
    },
    close: () => running?.abort(new Error("the daemon stops")),
  };
}
