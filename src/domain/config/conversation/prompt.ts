/**
 * `prompt`: how a turn is laid out for the agent
 * ==============================================
 * `brackets` is the older layout, for agents that were tuned to it.
 */
import { z } from "zod";
import { section } from "./section.ts";

export const prompt = section(
  {
    headings: z
      .enum(["sections", "brackets"])
      .describe("How the parts of a prompt are told apart."),
  },
  { headings: "sections" },
);
