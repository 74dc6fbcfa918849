/**
 * The virtual object `numbers`
 * ============================
 * Gives each process of a node a place among the numbers of rows, in turn, so that no two that run have the same.
 */
import type { ObjectContext } from "@restatedev/restate-sdk";
import { z } from "zod";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { type Sdk, shortCalls } from "../calls/handlers.ts";

export const numbersService = "numbers";
/** The only key. */
export const numbersKey = "all";

export const placeSchema = z
  .number()
  .int()
  .min(0)
  .max(engineLimits.numberPlaces - 1);

/** @param sdk loaded by its caller, as it is an optional package */
export function numbersObject(sdk: Sdk) {
  return sdk.object({
    name: numbersService,
    handlers: {
      place: async (ctx: ObjectContext): Promise<number> => {
        const place = (await ctx.get<number>("next")) ?? 0;
        ctx.set("next", (place + 1) % engineLimits.numberPlaces);
        return place;
      },
    },
    options: shortCalls,
  });
}
