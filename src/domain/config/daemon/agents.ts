/**
 * A list of agents and their shared defaults. The driver runs the turns; its options stand beside
 * `kind` and are checked by the driver. A bare name is short for `{ kind: name }`.
 */
import { z } from "zod";
import { elevatedLevels, reasoningLevels, usageLevels, verboseLevels } from "../../session.ts";
import { overrideFields } from "../conversation/overrides.ts";
import { count, label, section, text } from "../conversation/section.ts";

const thinking = z.enum(["off", "minimal", "low", "medium", "high", "xhigh", "max"]);
const driver = z
  .union([label, z.looseObject({ kind: label })])
  .transform((given) => (typeof given === "string" ? { kind: given } : given));
export type DriverConfig = z.output<typeof driver>;

/** The tools of every agent; `tools` may reduce them. */
export const agentTools = [
  ...(["channel_reply", "channel_send", "channel_react", "channel_disengage"] as const),
  ...([
    "skip_response",
    "attachment_list",
    "attachment_fetch",
    "history_search",
    "schedule",
  ] as const),
] as const;

const own = {
  driver: driver.describe("The driver, by name or as an object with `kind` and its options."),
  maxConcurrent: count(1, 10_000).describe(
    "How many turns this agent may run at once, over all conversations.",
  ),
  contextTokens: count(1_000, 100_000_000).describe(
    "The size, in tokens, above which the oldest part of a session is summarised.",
  ),
  thinking: thinking.describe("How much the agent thinks before it answers."),
  verboseDefault: z
    .enum(verboseLevels)
    .describe("How tool calls are shown, unless `/verbose` sets it."),
  reasoningDefault: z
    .enum(reasoningLevels)
    .describe("How reasoning is shown, unless `/reasoning` sets it."),
  elevatedDefault: z
    .enum(elevatedLevels)
    .describe("What the agent may do outside its room, unless `/elevated` sets it."),
  usageDefault: z
    .enum(usageLevels)
    .describe("Whether usage is shown below each answer, unless `/usage` sets it."),
  model: z
    .string()
    .min(1)
    .max(256)
    .nullable()
    .describe("The model for drivers that take one. null: the driver's default."),
  tools: z
    .array(z.enum(agentTools))
    .max(agentTools.length)
    .nullable()
    .describe("The tools offered to the agent. null: all of them."),
};

/** The form of an agent's id, which becomes part of keys and file names. */
export const agentIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u;

const agent = z.strictObject({
  id: z
    .string()
    .regex(agentIdPattern, "letters, digits, . _ - only, at most 64")
    .describe("The id used in session keys, bindings and on disk."),
  name: label
    .trim()
    .min(1)
    .optional()
    .describe(
      "The name shown in rooms. Default: `earshot` for the agent `main`, otherwise the id.",
    ),
  aliases: z
    .array(label.trim().min(1, "an empty alias would match every message"))
    .max(50)
    .default([])
    .describe(
      "Other names it answers to, besides its name, its id and the name of its folder (unless " +
        "they are generic).",
    ),
  default: z
    .boolean()
    .default(false)
    .describe("Whether this agent answers where no binding matches."),
  workspace: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe("The agent's folder. Default: `agents/<id>` in the state directory."),
  purpose: text
    .optional()
    .describe("What the agent is for, in a sentence or two. Part of the system message."),
  system: text
    .optional()
    .describe(
      "Instructions at the end of the system message. Nothing from a room is ever added to them.",
    ),
  driver: driver
    .optional()
    .describe("The driver of this agent. Default: that of `agents.defaults`."),
  maxConcurrent: own.maxConcurrent.optional(),
  contextTokens: own.contextTokens.optional(),
  thinking: thinking.optional().describe("How much the agent thinks before it answers."),
  verboseDefault: own.verboseDefault.optional(),
  reasoningDefault: own.reasoningDefault.optional(),
  elevatedDefault: own.elevatedDefault.optional(),
  usageDefault: own.usageDefault.optional(),
  model: own.model.optional(),
  tools: own.tools.optional(),
  ...overrideFields,
});
export type AgentEntry = z.output<typeof agent>;

/** The list of a config that names no agents. */
export const onlyMain: z.input<typeof agent>[] = [{ id: "main", name: "earshot", default: true }];

export const agents = z.strictObject({
  defaults: section(own, {
    driver: { kind: "guide" },
    maxConcurrent: 4,
    contextTokens: 100_000,
    thinking: "off",
    verboseDefault: "off",
    reasoningDefault: "off",
    elevatedDefault: "off",
    usageDefault: "off",
    model: null,
    tools: null,
  })
    .whole.prefault({})
    .describe("Defaults for all agents."),
  list: z
    .array(agent)
    .min(1)
    .max(1_000)
    .prefault(onlyMain)
    .describe("The agents. Exactly one is the default."),
});
