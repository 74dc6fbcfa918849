/**
 * Numbers of rows, on a node
 * ==========================
 * A number is a moment and the place of the node, which it has from Restate: no call is needed for each, rows of all
 * nodes are in the order of time as far as their clocks agree, and a conversation that moves between nodes needs
 * nothing but to be above its own last number. Moments are quarters of a ms; a node that needs more runs
 * ahead of its clock for a while. Both fit the 53 bits of an exact number until the year 2093.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { Clock, Numbers } from "../../../domain/ports/index.ts";
import { answerOf } from "../calls/ingress-call.ts";
import { numbersKey, numbersService, placeSchema } from "./object.ts";

export interface NodeNumbers extends Numbers {
  /**
   * To be called before numbers are taken for a conversation; `last` is the highest one it has.
   * @throws EarshotError EAR_STORE_FAILED: the node has no place, and Restate cannot be reached.
   */
  above(last: number): Promise<void>;
}

export interface NumbersPorts {
  readonly clock: Clock;
  /** Makes a call through Restate's ingress. @throws EarshotError EAR_STORE_FAILED */
  readonly call: (path: string, input?: object) => Promise<unknown>;
}

/** 1 January 2024. */
const epoch = 1_704_067_200_000;
const perMs = 4;
const places = engineLimits.numberPlaces;
const momentsMax = 2 ** 53 / places;

export function createNodeNumbers({ clock, call }: NumbersPorts): NodeNumbers {
  let place: { readonly number: number; readonly since: Millis } | null = null;
  let asking: Promise<void> | null = null;
  let last = 0;

  async function ask(): Promise<void> {
    const since = clock.monotonic();
    const path = `${numbersService}/${numbersKey}/place`;
    place = { number: answerOf(placeSchema, await call(path), path), since };
  }

  const isOld = () =>
    place === null || clock.monotonic() - place.since > engineLimits.numberPlaceMs;

  return {
    async above(number) {
      last = Math.max(last, Math.floor(number / places));
      if (!isOld()) return;
      asking ??= ask().finally(() => {
        asking = null;
      });
      await asking;
    },
    next() {
      if (place === null)
        throw new EarshotError("EAR_ASSERT", "Cannot number a row: this node has no place yet.");
      last = Math.max(last + 1, Math.floor((clock.now() - epoch) * perMs));
      if (last >= momentsMax)
        throw new EarshotError(
          "EAR_STORE_FAILED",
          `Cannot number a row: the clock is at ${clock.now()} ms, behind the year 2093. Set it right.`,
        );
      // The place moves with the moment, so that the last digits of successive numbers differ, as caches want it.
      return last * places + ((place.number + last) % places);
    },
  };
}
