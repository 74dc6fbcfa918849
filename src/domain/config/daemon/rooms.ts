/**
 * Settings of a room
 * ==================
 * What may be set at a channel, an account, a group, a topic and one conversation besides the
 * sections that every level may override: instructions, model, tools and names of the agent there.
 * The most specific level wins; instructions and names are added to those of the levels above.
 */
import { z } from "zod";
import { overrideFields } from "../conversation/overrides.ts";
import { label, text } from "../conversation/section.ts";
import { groupAccessFields, localId } from "./access.ts";
import { agentTools } from "./agents.ts";

const tools = z.array(z.enum(agentTools)).max(agentTools.length);

/** Fields of every level of a room. */
export const roomFields = {
  system: text
    .optional()
    .describe(
      "Instructions added to the agent's here. Also for an account, a group, a topic or a " +
        "conversation.",
    ),
  model: z
    .string()
    .min(1)
    .max(256)
    .nullable()
    .optional()
    .describe("The model here. null: the driver's default. Same levels as `system`."),
  tools: z
    .strictObject({
      allow: tools
        .optional()
        .describe("The tools offered here, instead of the agent's list. Same levels as `system`."),
      deny: tools.optional().describe("Tools that are not offered here. Same levels as `system`."),
    })
    .optional()
    .describe("The tools offered to the agent here."),
  aliases: z
    .array(label.trim().min(1, "an empty alias would match every message"))
    .max(50)
    .optional()
    .describe("Other names the agent answers to here. Same levels as `system`."),
  ...overrideFields,
};
const roomLevel = z.strictObject(roomFields);
/** What one level sets for a room. */
export type RoomLevel = z.output<typeof roomLevel>;

const topic = z
  .strictObject({
    ...groupAccessFields("topic"),
    ...roomFields,
  })
  .meta({ id: "topicSettings", description: "The topic's own rules and settings." });
const group = z
  .strictObject({
    ...groupAccessFields("group"),
    ...roomFields,
    topics: z
      .record(localId, topic)
      .optional()
      .describe("Id of a topic or thread to its own rules and settings."),
  })
  .meta({ id: "groupSettings", description: "The group's own rules and settings." });
export type GroupSettings = z.output<typeof group>;

/** Groups of a channel or an account. */
export const groups = z
  .record(localId, group)
  .optional()
  .describe("Group id to the group's own rules and settings.");
