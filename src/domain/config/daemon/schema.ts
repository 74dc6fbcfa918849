/**
 * Every section of earshot.json5 under its name. The JSON Schema for editors is generated from this
 * one.
 */
import { z } from "zod";
import { schedules } from "../../schedule.ts";
import { context } from "../conversation/context.ts";
import { engagement } from "../conversation/engagement.ts";
import { errors } from "../conversation/errors.ts";
import { heartbeat } from "../conversation/heartbeat.ts";
import { loopGuard } from "../conversation/loop-guard.ts";
import { media } from "../conversation/media.ts";
import { messages } from "../conversation/messages.ts";
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
import { engine, log, search, server, store, workers } from "./daemon.ts";
import { roomFields } from "./rooms.ts";
import { session } from "./session.ts";

export const configSchema = z.strictObject({
  $schema: z.string().max(1_024).optional().describe("For editors; ignored."),
  agents: agents.prefault({}).describe("The agents and their drivers."),
  bindings: bindings.describe("Which agent receives which messages. The most specific match wins."),
  broadcast: broadcast.describe("Rooms that several agents share."),
  channels: channels.prefault({}).describe("The channels, each with its accounts."),
  access: access.whole
    .prefault({})
    .describe("Who may write to the agent. An empty list allows no one."),
  engagement: engagement.whole.prefault({}).describe("When a message engages the agent."),
  context: context.whole
    .prefault({})
    .describe("Observed messages that are shown to the next turn."),
  loopGuard: loopGuard.whole.prefault({}).describe("Stops bots from waking each other endlessly."),
  messages: messages.whole.prefault({}).describe("How messages are batched, queued and answered."),
  stream: stream.whole
    .prefault({})
    .describe("How an answer is split into messages while it arrives."),
  typing: typing.whole.prefault({}).describe("When the typing indicator is shown."),
  silent: silent.whole.prefault({}).describe("How an agent declines to answer."),
  heartbeat: heartbeat.whole.prefault({}).describe("Turns without a message, at an interval."),
  schedule: schedules.describe("Texts and prompts at set times."),
  media: media.whole.prefault({}).describe("How images, audio, video and links are handled."),
  plugins: z
    .array(id)
    .max(100)
    .default([])
    .describe("Packages with channels, agents, hooks and commands."),
  turn: turn.whole.prefault({}).describe("Limits of an agent's run and of its delivery."),
  session: session.prefault({}).describe("Which messages share a session, and for how long."),
  commands: commands.whole.prefault({}).describe("Commands in messages, and who may use them."),
  prompt: prompt.whole.prefault({}).describe("How the prompt is laid out."),
  errors: errors.whole.prefault({}).describe("Whether rooms are notified of errors."),
  workers: workers.whole.prefault({}).describe("Worker threads."),
  server: server.whole.prefault({}).describe("The pages and the API."),
  store: store.whole.prefault({}).describe("Where the journal is stored."),
  search: search.whole.prefault({}).describe("Message search."),
  log: log.whole.prefault({}).describe("The log."),
  engine: engine.whole.prefault({}).describe("The engine that runs conversations."),
  conversations: z
    .record(id, z.strictObject(roomFields))
    .default({})
    .describe("Overrides for single conversations, by session key."),
});

/** A parsed config: every default filled in, drivers and accounts checked. */
export type EarshotConfig = z.output<typeof configSchema>;
/** The config as a user may write it. */
export type EarshotConfigInput = z.input<typeof configSchema>;
