/** `/api/setup`: what is set up, trying what was entered, and writing it to the config file. */
import { z } from "zod";
import { text } from "./schema.ts";

const field = z.object({
  name: text,
  label: text,
  isSecret: z.boolean(),
  isOptional: z.boolean(),
  type: z.enum(["text", "number", "flag", "list"]).describe("a list is entered with commas"),
  options: z.array(text).optional().describe("the values that can be chosen"),
  when: z
    .object({ field: text, is: text })
    .optional()
    .describe("asked only while another field has this value"),
  initial: text.optional().describe("what is offered for a new account"),
  hint: text.optional(),
});
export const setupStateSchema = z.object({
  path: text.describe("the config file, which may not exist yet"),
  exists: z.boolean(),
  agent: z.object({ name: text, purpose: text, aliases: z.array(text) }),
  driver: z.object({
    kind: text,
    provider: text.optional(),
    model: text.optional(),
    baseUrl: text.optional(),
    command: text.optional(),
    args: z.array(text).optional(),
    hasKey: z.boolean().describe("a key is configured; it is never sent"),
  }),
  channels: z.array(
    z.object({
      id: text,
      name: text,
      steps: z.array(text),
      fields: z.array(field),
      isConfigured: z.boolean(),
    }),
  ),
});
export type SetupState = z.output<typeof setupStateSchema>;

export const setupModelsSchema = z.object({
  models: z.array(text).nullable().describe("null: the server lists none"),
});
export type SetupModels = z.output<typeof setupModelsSchema>;

export const triedChannelSchema = z.object({
  id: text,
  name: text,
  notes: z.array(text).describe("what keeps messages from it, each with what to do"),
});
export type TriedChannel = z.output<typeof triedChannelSchema>;

export const tryLineSchema = z.object({
  text: text.optional().describe("the next piece of the answer"),
  problem: text.optional().describe("why it failed; the last line"),
});
export type TryLine = z.output<typeof tryLineSchema>;

export const setupPlanSchema = z.object({
  path: text,
  exists: z.boolean(),
  lines: z.array(text).describe("a unified diff, without its head; empty: nothing changes"),
  token: text.describe("to be sent with what is written"),
});
export type SetupPlanAnswer = z.output<typeof setupPlanSchema>;

export const setupWrittenSchema = z.object({
  path: text,
  token: text.describe("of the file as it is now"),
  applied: z.boolean().describe("false: it is not in force yet"),
  copy: text.nullable().describe("the file as it was before; null: there was none"),
});
export type SetupWritten = z.output<typeof setupWrittenSchema>;
