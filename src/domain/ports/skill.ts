/**
 * Commands that an agent's workspace adds: `skills/<name>/skill.json`. A skill is text for the
 * agent, added to the message that asks for it; it executes nothing.
 */
import { z } from "zod";
import { limits } from "../limits.ts";

const line = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .regex(/^[^\n\r`<>]*$/u, "one line without ` < >");

/** The manifest. */
export const skillSchema = z.strictObject({
  help: line(100).min(1).describe("One line about it."),
  usage: line(60).default("").describe("The words that may follow."),
  who: z
    .enum(["authorised", "owner"])
    .default("authorised")
    .describe("Who may ask for it: who may give commands, or owners only."),
  menu: z.boolean().default(false).describe("Offered in the menus of platforms."),
  prompt: z
    .string()
    .trim()
    .min(1)
    .max(limits.skillUnitsMax)
    .describe("What the agent is told. The message that asks for it follows as always."),
});

export interface Skill extends z.output<typeof skillSchema> {
  /** The folder's name. */
  readonly name: string;
  readonly agentId: string;
}
