/**
 * `prompt`: the layout of a turn's prompt
 * =======================================
 * `brackets` is the older layout, for agents tuned to it.
 */
import { z } from "zod";
import { section } from "./section.ts";

export const prompt = section(
  {
    headings: z.enum(["sections", "brackets"]).describe("How the parts of a prompt are marked."),
  },
  { headings: "sections" },
);
