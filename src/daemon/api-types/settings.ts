/** `/api/config`: every value of the config with its origin, and changing one of them in the file. */
import { z } from "zod";
import { count, millis, text } from "./schema.ts";

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
  canRemove: z.boolean().describe("it is in the file, and may be taken out of it"),
});
export type SettingValue = z.output<typeof valueSchema>;

const containerSchema = z.object({
  path: text,
  kind: z.enum(["map", "list"]),
  entries: z.array(text).describe("those of the file, by their paths"),
});
export type SettingContainer = z.output<typeof containerSchema>;

const lastConfigChangeSchema = z.object({
  copy: text.nullable().describe("the file as it was before; null: there was none"),
  token: text.describe("of the file as it is now"),
  what: text.describe("what it changed, for people"),
  at: millis,
});
export type LastConfigChange = z.output<typeof lastConfigChangeSchema>;

export const settingsSchema = z.object({
  path: text.describe("the config file, which may not exist yet"),
  exists: z.boolean(),
  values: z.array(valueSchema),
  containers: z.array(containerSchema).describe("maps and lists that take more entries"),
  last: lastConfigChangeSchema
    .nullable()
    .describe("the last change by a page or `/config`, while it can be undone"),
});
export type SettingsAnswer = z.output<typeof settingsSchema>;
