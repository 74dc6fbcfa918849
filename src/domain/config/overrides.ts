/**
 * Overrides
 * =========
 * The sections that may be said again for an agent, a channel, an account or one conversation. The
 * most specific place wins, field by field.
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

/** Fields to spread into the schema of a place that may override. */
export const overrideFields = {
  engagement: engagement.override.optional(),
  context: context.override.optional(),
  loopGuard: loopGuard.override.optional(),
  messages: messages.override.optional(),
  stream: stream.override.optional(),
  typing: typing.override.optional(),
  silent: silent.override.optional(),
  turn: turn.override.optional(),
  prompt: prompt.override.optional(),
  errors: errors.override.optional(),
  heartbeat: heartbeat.override.optional(),
  media: media.override.optional(),
};

const overridesSchema = z.strictObject(overrideFields);
/** What a more specific place says differently. */
export type Overrides = z.output<typeof overridesSchema>;
