/**
 * The whole file
 * ==============
 * Every section of earshot.json5 under its name. The JSON Schema that editors use is made from this
 * one.
 */
import { z } from "zod";
import { context } from "../conversation/context.ts";
import { engagement } from "../conversation/engagement.ts";
import { errors } from "../conversation/errors.ts";
import { heartbeat } from "../conversation/heartbeat.ts";
import { loopGuard } from "../conversation/loop-guard.ts";
import { media } from "../conversation/media.ts";
import { messages } from "../conversation/messages.ts";
import { overrideFields } from "../conversation/overrides.ts";
import { prompt } from "../conversation/prompt.ts";
import { id } from "../conversation/section.ts";
import { silent } from "../conversation/silent.ts";
import { stream } from "../conversation/stream.ts";
import { turn } from "../conversation/turn.ts";
import { typing } from "../conversation/typing.ts";
import { access } from "./access.ts";
import { agents } from "./agents.ts";
import { bindings } from "./bindings.ts";
import { broadcast } from "./broadcast.ts";
import { channels } from "./channels.ts";
import { commands } from "./commands.ts";
import { engine, log, server, store, workers } from "./daemon.ts";
import { session } from "./session.ts";

export const configSchema = z.strictObject({
  $schema: z.string().max(1_024).optional().describe("For editors; ignored."),
  agents: agents.prefault({}).describe("Who answers, and with what."),
  bindings: bindings.describe("Which agent hears what; the most specific match wins."),
  broadcast: broadcast.describe("Rooms that several agents share."),
  channels: channels.prefault({}).describe("The rooms' side: channel id to its accounts."),
  access: access.whole.prefault({}).describe("Who may speak. Lists that are empty mean nobody."),
  engagement: engagement.whole.prefault({}).describe("When a message is answered."),
  context: context.whole.prefault({}).describe("What was observed and is shown to the next turn."),
  loopGuard: loopGuard.whole
    .prefault({})
    .describe("Keeps bots that wake each other from going on for ever."),
  messages: messages.whole.prefault({}).describe("How messages are gathered, queued and answered."),
  stream: stream.whole.prefault({}).describe("How an answer is cut into messages while it comes."),
  typing: typing.whole.prefault({}).describe("When typing is shown."),
  silent: silent.whole.prefault({}).describe("How an agent says that it says nothing."),
  heartbeat: heartbeat.whole.prefault({}).describe("Turns that nobody asked for."),
  media: media.whole.prefault({}).describe("Pictures, sound, links: what becomes of them."),
  plugins: z.array(id).max(100).default([]).describe("Packages that bring channels and agents."),
  turn: turn.whole.prefault({}).describe("Bounds of one run of an agent and of its delivery."),
  session: session.prefault({}).describe("Which messages share a session, and how long."),
  commands: commands.whole.prefault({}).describe("Commands in messages, and who may give them."),
  prompt: prompt.whole.prefault({}).describe("How the prompt is laid out."),
  errors: errors.whole.prefault({}).describe("Whom an error is told."),
  workers: workers.whole.prefault({}).describe("Worker threads."),
  server: server.whole.prefault({}).describe("The page and the API."),
  store: store.whole.prefault({}).describe("The journal."),
  log: log.whole.prefault({}).describe("The log."),
  engine: engine.whole.prefault({}).describe("What runs the conversations."),
  conversations: z
    .record(id, z.strictObject(overrideFields))
    .default({})
    .describe("Session key to what is different in that one conversation."),
});

/** A parsed config: every default filled in, drivers and accounts checked. */
export type EarshotConfig = z.output<typeof configSchema>;
/** What a person may write. */
export type EarshotConfigInput = z.input<typeof configSchema>;
