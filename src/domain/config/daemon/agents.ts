/**
 * `agents`: who answers
 * =====================
 * A list of agents and what they share. The driver says what runs a turn; its own options stand
 * beside `kind` and are checked by the driver. A bare name is short for `{ kind: name }`.
 */
import { z } from "zod";
import { overrideFields } from "../conversation/overrides.ts";
import { count, label, section, text } from "../conversation/section.ts";

const thinking = z.enum(["off", "minimal", "low", "medium", "high", "xhigh", "max"]);
const driver = z
  .union([label, z.looseObject({ kind: label })])
  .transform((given) => (typeof given === "string" ? { kind: given } : given));
export type DriverConfig = z.output<typeof driver>;

/** What every agent may do to its own conversation; `tools` takes some of it away. */
export const agentTools = [
  ...(["channel_reply", "channel_send", "channel_react", "channel_disengage"] as const),
  ...(["skip_response", "attachment_list", "attachment_fetch", "history_search"] as const),
] as const;

const own = {
  driver: driver.describe("What answers: a name, or an object with `kind` and its options."),
  maxConcurrent: count(1, 10_000).describe(
    "Turns of this agent at the same time, over all conversations.",
  ),
  contextTokens: count(1_000, 100_000_000).describe(
    "Above this the oldest part of a session is summarised.",
  ),
  thinking: thinking.describe("How much it thinks before it answers."),
  model: z
    .string()
    .min(1)
    .max(256)
    .nullable()
    .describe("The model of its driver, where that takes one; null: as the driver says."),
  tools: z
    .array(z.enum(agentTools))
    .max(agentTools.length)
    .nullable()
    .describe("The tools it is offered; null: all of them."),
};

/** How an agent's id is formed: it becomes part of keys and of file names. */
export const agentIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u;

const agent = z.strictObject({
  id: z
    .string()
    .regex(agentIdPattern, "letters, digits, . _ - only, at most 64")
    .describe("Names it in keys, bindings and on disk."),
  name: label
    .trim()
    .min(1)
    .optional()
    .describe("As the room knows it. Left out: `earshot` for the agent `main`, else the id."),
  aliases: z
    .array(label.trim().min(1, "an empty alias would match every message"))
    .max(50)
    .default([])
    .describe(
      "Other names it listens to. Its name and, unless generic, its id and folder are among them.",
    ),
  default: z.boolean().default(false).describe("Answers where no binding says otherwise."),
  workspace: z.string().min(1).max(4_096).optional().describe("The agent's folder."),
  system: text
    .optional()
    .describe("Standing instructions: the system prompt. Nothing from a room is ever added to it."),
  driver: driver.optional().describe("As in `defaults`."),
  maxConcurrent: own.maxConcurrent.optional(),
  contextTokens: own.contextTokens.optional(),
  thinking: thinking.optional().describe("How much it thinks before it answers."),
  model: own.model.optional(),
  tools: own.tools.optional(),
  ...overrideFields,
});
export type AgentEntry = z.output<typeof agent>;

const onlyMain: z.input<typeof agent>[] = [{ id: "main", name: "earshot", default: true }];

export const agents = z.strictObject({
  defaults: section(own, {
    driver: { kind: "guide" },
    maxConcurrent: 4,
    contextTokens: 100_000,
    thinking: "off",
    model: null,
    tools: null,
  })
    .whole.prefault({})
    .describe("For agents that do not say otherwise."),
  list: z
    .array(agent)
    .min(1)
    .max(1_000)
    .prefault(onlyMain)
    .describe("The agents; exactly one of them is the default."),
});
