/**
 * `silent`: how an agent says that it says nothing
 * ================================================
 * An answer that is only the token is not sent. Beside other words it is stripped, or the whole
 * dropped.
 */
import { z } from "zod";
import { section } from "./section.ts";

export const silent = section(
  {
    token: z.string().trim().min(2).max(64).describe("An answer of this alone is silence."),
    mixed: z
      .enum(["strip", "drop"])
      .describe("An answer with words beside it: only the token goes, or all of it."),
  },
  { token: "NO_REPLY", mixed: "strip" },
);
