/**
 * The sections that may be overridden for an agent, a channel, an account or one conversation. The
 * most specific level wins, field by field.
 */
import { z } from "zod";
import { context } from "./context.ts";
import { engagement } from "./engagement.ts";
import { errors } from "./errors.ts";
import { heartbeat } from "./heartbeat.ts";
import { loopGuard } from "./loop-guard.ts";
import { media } from "./media.ts";
import { messages } from "./messages.ts";
import { prompt } from "./prompt.ts";
import { silent } from "./silent.ts";
import { stream } from "./stream.ts";
import { turn } from "./turn.ts";
import { typing } from "./typing.ts";

/** Named, so that the published JSON Schema defines each of them once. */
const named = <Schema extends z.ZodType>(name: string, schema: Schema): Schema =>
  schema.meta({ id: name, description: "As at the top of the file, at this level only." });

/** Fields to spread into the schema of a level that may override. */
export const overrideFields = {
  engagement: named("engagementOverride", engagement.override).optional(),
  context: named("contextOverride", context.override).optional(),
  loopGuard: named("loopGuardOverride", loopGuard.override).optional(),
  messages: named("messagesOverride", messages.override).optional(),
  stream: named("streamOverride", stream.override).optional(),
  typing: named("typingOverride", typing.override).optional(),
  silent: named("silentOverride", silent.override).optional(),
  turn: named("turnOverride", turn.override).optional(),
  prompt: named("promptOverride", prompt.override).optional(),
  errors: named("errorsOverride", errors.override).optional(),
  heartbeat: named("heartbeatOverride", heartbeat.override).optional(),
  media: named("mediaOverride", media.override).optional(),
};

const overridesSchema = z.strictObject(overrideFields);
/** The overrides of a more specific level. */
export type Overrides = z.output<typeof overridesSchema>;
