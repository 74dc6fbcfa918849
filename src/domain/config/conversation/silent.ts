/**
 * `silent`: how an agent declines to answer
 * =========================================
 * An answer that is only the token is not sent. In a longer answer the token is removed, or the
 * whole answer dropped.
 */
import { z } from "zod";
import { section } from "./section.ts";

export const silent = section(
  {
    token: z.string().trim().min(2).max(64).describe("An answer of only this token is not sent."),
    mixed: z
      .enum(["strip", "drop"])
      .describe(
        "For a longer answer that contains the token: remove the token, or drop the answer.",
      ),
  },
  { token: "NO_REPLY", mixed: "strip" },
);
