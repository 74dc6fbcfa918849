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
    system: z
      .enum(["default", "own"])
      .describe(
        "The system message: `default` says who the agent is, where it is, what the parts of a " +
          "prompt mean and how to be silent, then the agent's `system`; `own` is its `system` alone.",
      ),
  },
  { headings: "sections", system: "default" },
);
