/**
 * The whole file
 * ==============
 * Every section of earshot.json5 under its name. The JSON Schema that editors use is made from this
 * one.
 */
import { z } from "zod";
import { access } from "./access.ts";
import { agents } from "./agents.ts";
import { bindings } from "./bindings.ts";
import { broadcast } from "./broadcast.ts";
import { channels } from "./channels.ts";
import { commands } from "./commands.ts";
import { context } from "./context.ts";
import { engine, log, server, store, workers } from "./daemon.ts";
import { engagement } from "./engagement.ts";
import { errors } from "./errors.ts";
import { heartbeat } from "./heartbeat.ts";
import { loopGuard } from "./loop-guard.ts";
import { media } from "./media.ts";
import { messages } from "./messages.ts";
import { overrideFields } from "./overrides.ts";
import { prompt } from "./prompt.ts";
import { id } from "./section.ts";
import { session } from "./session.ts";
import { silent } from "./silent.ts";
import { stream } from "./stream.ts";
import { turn } from "./turn.ts";
import { typing } from "./typing.ts";

export const configSchema = z.strictObject({
  /** For editors; ignored. */
  $schema: z.string().max(1_024).optional(),
  agents: agents.prefault({}),
  bindings,
  broadcast,
  channels: channels.prefault({}),
  access: access.whole.prefault({}),
  engagement: engagement.whole.prefault({}),
  context: context.whole.prefault({}),
  loopGuard: loopGuard.whole.prefault({}),
  messages: messages.whole.prefault({}),
  stream: stream.whole.prefault({}),
  typing: typing.whole.prefault({}),
  silent: silent.whole.prefault({}),
  heartbeat: heartbeat.whole.prefault({}),
  media: media.whole.prefault({}),
  /** Packages that bring channels and agents. */
  plugins: z.array(id).max(100).default([]),
  turn: turn.whole.prefault({}),
  session: session.prefault({}),
  commands: commands.whole.prefault({}),
  prompt: prompt.whole.prefault({}),
  errors: errors.whole.prefault({}),
  workers: workers.whole.prefault({}),
  server: server.whole.prefault({}),
  store: store.whole.prefault({}),
  log: log.whole.prefault({}),
  engine: engine.whole.prefault({}),
  /** Session key to what is different in that one conversation. */
  conversations: z.record(id, z.strictObject(overrideFields)).default({}),
});

/** A parsed config: every default filled in, drivers and accounts checked. */
export type EarshotConfig = z.output<typeof configSchema>;
/** What a person may write. */
export type EarshotConfigInput = z.input<typeof configSchema>;
