/** `/api/config`: every value of the config with its origin, and changing one of them in the file. */
import { z } from "zod";
import { count, text } from "./schema.ts";

const valueSchema = z.object({
  path: text.describe("as in `earshot config show`"),
  value: z.unknown().describe("a secret is its reference, or taken out"),
  origin: z.enum(["default", "file", "env", "override"]),
  line: count.optional().describe("in the file, also where an override hides it"),
  by: text.optional().describe("who set the override"),
  about: text.describe("what it is for; empty: a field of a channel or a driver"),
  type: text,
  default: text.nullable().describe("as written in the file; null: none"),
  canEdit: z.boolean().describe("false: a secret; Setup stores it"),
});
export type SettingValue = z.output<typeof valueSchema>;

export const settingsSchema = z.object({
  path: text.describe("the config file, which may not exist yet"),
  exists: z.boolean(),
  values: z.array(valueSchema),
});
export type SettingsAnswer = z.output<typeof settingsSchema>;
