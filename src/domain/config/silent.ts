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
    token: z.string().trim().min(2).max(64),
    mixed: z.enum(["strip", "drop"]),
  },
  { token: "NO_REPLY", mixed: "strip" },
);
