/**
 * `errors`: whether a room learns that a turn failed
 * ===================================================
 * One short plain line; details stay in the log.
 */
import { z } from "zod";
import { section } from "./section.ts";

export const errors = section(
  {
    notifyRoom: z
      .enum(["direct", "always", "never"])
      .describe("Which rooms get a message when a turn fails."),
  },
  { notifyRoom: "direct" },
);
