/**
 * Reads what a `turn.run` effect only refers to and composes the agent's input. The system prompt
 * comes from the config alone; everything from the room is in the user turn, behind a fence that no
 * one in the room can know. Messages are read with their edits, and without those that were deleted
 * since the turn was ordered; pruned ones are left out and counted.
 */
import { agentIn } from "../../domain/config/index.ts";
import type { Route } from "../../domain/message.ts";
import type { AgentImage, Ids, RoomReport, Store } from "../../domain/ports/index.ts";
import { withDefaults, withLevels } from "../../domain/session.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { TurnRun } from "../../machines/events/effects.ts";
import type { PromptDue } from "../../machines/events/events.ts";
import { composeHeartbeat } from "../../machines/prompt/heartbeat.ts";
import { composeTurnPrompt, type PromptInput } from "../../machines/prompt/prompt.ts";
import type { ExtensionCommands } from "../commands/extension-commands.ts";
import type { Configs } from "../journal/config-versions.ts";
import { decodeEvent } from "../protocol/event-codec.ts";
import type { HostStep, TurnRequest } from "../protocol/host-protocol.ts";
import { systemMessage } from "../sessions/system-message.ts";
import { type MessageLine, promptAuthor, type TurnSessions } from "../sessions/turn-session.ts";
import { ownText, textWithFiles } from "./attachment-names.ts";
import type { ContextTools } from "./context-tools.ts";
import { type Deletions, deletedSince, isGone } from "./deletions.ts";
import { type Heartbeats, heartbeatFor } from "./heartbeats.ts";
import type { Media } from "./media.ts";
import { type BatchMessage, type Overheard, readMessages, readOverheard } from "./read-messages.ts";

export interface ComposerPorts {
  readonly store: Store;
  readonly sessions: TurnSessions;
  readonly configs: Configs;
  readonly ids: Ids;
  readonly textLimit: (channel: string) => number;
  readonly canEdit: (route: Route) => boolean;
  readonly canReact: (route: Route) => boolean;
  readonly canSendFiles: (route: Route) => boolean;
  readonly agentOf: (key: string) => string;
  readonly media: Pick<Media, "gather" | "known">;
  readonly contextTools: Pick<ContextTools, "opened">;
  readonly heartbeats: Pick<Heartbeats, "instructions">;
  readonly extensions: Pick<ExtensionCommands, "skill">;
  readonly watched: boolean;
}

/** The distinct prompts of the skills that a batch asks for. */
function skillsFor(
  ports: Pick<ComposerPorts, "extensions">,
  agentId: string,
  batch: readonly BatchMessage[],
) {
  const names = new Set(batch.flatMap(({ skill }) => skill ?? []));
  return [...names].flatMap((name) => ports.extensions.skill(agentId, name) ?? []);
}

interface ReadTurn extends Pick<Shown, "batch" | "context" | "missing"> {
  readonly images: readonly AgentImage[];
  /** What was deleted since it was ordered, and is left out. */
  readonly gone: Deletions;
}

/**
 * The turn's messages with their files' contents. Waits for files for a limited time; from here on
 * the turn may use context tools.
 */
async function readTurn(
  ports: ComposerPorts,
  { turnId, route, batch: addressed, context: overheard }: TurnRun,
  { conv, key, seq }: HostStep,
  signal: AbortSignal,
): Promise<ReadTurn> {
  const all = await readMessages(ports, addressed);
  let gone = await deletedSince(ports.store, conv, addressed);
  const left = () => all.filter(({ found }) => !isGone(found.inbound, gone));
  const gather = (messages: typeof all) =>
    ports.media.gather(
      key,
      messages.map(({ found }) => found),
      signal,
    );
  let read = left();
  let gathered = await gather(read);
  signal.throwIfAborted();
  // Files may have taken long.
  gone = await deletedSince(ports.store, conv, addressed);
  if (left().length < read.length) {
    read = left();
    gathered = await gather(read);
    signal.throwIfAborted();
  }
  const { shown, images } = gathered;
  const batch = read.map((message, index) => ({ ...message, ...shown[index] }));
  const { shown: context, missing } = await readOverheard(ports, overheard, gone);
  ports.contextTools.opened({
    turnId,
    conv,
    key,
    route,
    since: seq,
    refs: [...overheard, ...addressed],
  });
  const authors = new Map([...context, ...batch].map(({ id, author }) => [id, author.name]));
  return {
    batch: batch.map((message) => withParentName(message, authors)),
    context: context.map((message) => withParentName(message, authors)),
    missing,
    images,
    gone,
  };
}

/** A reply by id alone, with the author of its parent if the turn is shown the parent, too. */
function withParentName<Message extends Overheard>(
  message: Message,
  authors: ReadonlyMap<string, string>,
): Message {
  const { replyTo } = message;
  if (replyTo === null || replyTo.authorId !== undefined || replyTo.authorIsSelf === true)
    return message;
  const authorName = replyTo.authorName ?? authors.get(replyTo.id);
  return authorName === undefined ? message : { ...message, replyTo: { ...replyTo, authorName } };
}

/**
 * Composes the input and writes the messages to the transcript, once per turn. Rejects when the
 * signal aborts. Null: a heartbeat without instructions, a prompt that is not stored any more, or
 * messages that are all deleted.
 */
export async function composeTurn(
  ports: ComposerPorts,
  effect: TurnRun,
  step: HostStep,
  signal: AbortSignal,
): Promise<TurnRequest | null> {
  const { conv, key, at, seq } = step;
  const { configs, sessions } = ports;
  const { turnId, route } = effect;
  const settings = configs.settings(key);
  const agent = agentIn(configs.current(), ports.agentOf(key), key);
  const instructions = effect.heartbeat ? await ports.heartbeats.instructions(agent.id) : "";
  const asked = effect.prompt === undefined ? undefined : await promptAt(ports, effect.prompt);
  if (instructions === null || asked === null) return null;
  const { batch, context, missing, images, gone } = await readTurn(ports, effect, step, signal);
  if (batch.length === 0 && gone.size > 0) return null;
  const spoken = batch.map((message) => ({ ...message, text: textWithFiles(message) }));
  const messagesText = batch.map(ownText).join("\n");
  const { sessionAt = seq } = effect;
  const ordered = { conv, key, agentId: agent.id, turnId, seq: sessionAt, at };
  const { session, ownFrom } = await sessions.enter(ordered, [...promptLines(asked), ...spoken]);
  const fence = ports.ids.next(`fence|${turnId}`);
  const prompt = effect.heartbeat
    ? composeHeartbeat({ instructions, at, fence })
    : promptOf(effect, {
        batch,
        context,
        missing,
        settings,
        fence,
        skills: skillsFor(ports, agent.id, batch),
        ...(asked === undefined ? {} : { asked }),
      });
  const beat = effect.heartbeat ? heartbeatFor(configs.current(), key) : null;
  const named = route.chat.kind !== "direct";
  const cfg = configs.version();
  const system = systemMessage(agent, route, settings);
  // The latest message of the batch takes precedence.
  const before = withDefaults(session.settings, agent);
  const levels = batch.reduce((all, message) => withLevels(all, message.levels), before);
  const authors = batch.map(({ author }) => author.id);
  const past = { turn: ordered, cfg, session, system, prompt, named, authors, ownFrom };
  const transcript = await sessions.remember(past, signal);
  // A summary may have taken long.
  const now = await deletedSince(ports.store, conv, effect.batch);
  if (now.size > gone.size) return composeTurn(ports, effect, step, signal);
  return {
    conv,
    key,
    cfg,
    turnId,
    turn: effect.turn,
    attempt: effect.attempt,
    agentId: agent.id,
    system,
    prompt,
    messagesText,
    transcript,
    room: roomReport(effect, batch, settings),
    textLimit: ports.textLimit(route.channel),
    chatKind: route.chat.kind,
    edits: ports.canEdit(route),
    ...(ports.canSendFiles(route) ? { files: true } : {}),
    ...(ports.canReact(route) ? {} : { reacts: false }),
    ...(effect.replyTo === "" ? {} : { replyTo: effect.replyTo }),
    images,
    session: levels,
    owned: batch.length > 0 && batch.every(({ byOwner }) => byOwner),
    thinking: levels.thinking ?? agent.thinking,
    model: beat?.model ?? session.settings.model ?? agent.model,
    ...(agent.tools === null ? {} : { tools: agent.tools }),
    watched: ports.watched,
    firstIndex: effect.firstIndex ?? 0,
    ...(beat === null ? {} : { heartbeat: { ackMaxChars: beat.ackMaxChars } }),
  };
}

interface Shown {
  readonly batch: readonly BatchMessage[];
  readonly context: readonly Overheard[];
  /** Messages of the context that are not known any more. */
  readonly missing: number;
  readonly settings: ConversationSettings;
  readonly fence: string;
  readonly skills: PromptInput["skills"];
  readonly asked?: PromptDue;
}

function promptOf(
  effect: TurnRun,
  { batch, context, missing, settings, fence, skills = [], asked }: Shown,
): string {
  return composeTurnPrompt({
    notices: { guard: effect.guard, nudge: effect.nudge },
    context,
    current: prefixed(batch, settings.messagePrefix),
    omitted: effect.omitted + missing,
    droppedWhileBusy: effect.droppedWhileBusy,
    afterAbort: effect.afterAbort,
    introduce: effect.introduce,
    activation: settings.engagement.activation,
    room: roomOf(effect, batch, context),
    silentToken: settings.silent.token,
    headings: settings.promptHeadings,
    fence,
    skills,
    ...(asked === undefined ? {} : { asked: { text: asked.text, by: asked.by, at: asked.at } }),
  });
}

/** The prompt that a turn was ordered for; null: its row is gone. */
async function promptAt({ store }: Pick<ComposerPorts, "store">, seq: number) {
  const [row] = await store.events([seq]);
  const event = row === undefined ? null : decodeEvent(row);
  return event?.type === "prompt.due" ? event : null;
}

/** The prompt as its session remembers it. */
function promptLines(asked: PromptDue | undefined): readonly MessageLine[] {
  if (asked === undefined) return [];
  return [{ id: asked.id, author: { id: promptAuthor, name: asked.by }, text: asked.text }];
}

function prefixed(batch: readonly BatchMessage[], prefix: string): readonly BatchMessage[] {
  return prefix === ""
    ? batch
    : batch.map((message) => ({ ...message, text: `${prefix}${message.text}` }));
}

function roomOf(
  { route, participants }: TurnRun,
  batch: readonly BatchMessage[],
  context: readonly Overheard[],
) {
  const { channel, chat } = route;
  if (chat.kind === "direct") return null;
  const title = batch.at(-1)?.title;
  // Some platforms report it with some messages of the topic only.
  const topic = [...context, ...batch].findLast((message) => message.topic !== undefined)?.topic;
  return {
    channel,
    kind: chat.kind,
    participants,
    ...(title === undefined ? {} : { title }),
    ...(topic === undefined ? {} : { topic }),
  };
}

function roomReport(
  effect: TurnRun,
  batch: readonly BatchMessage[],
  settings: ConversationSettings,
): RoomReport {
  const { stickiness } = settings.engagement;
  return {
    chatKind: effect.route.chat.kind,
    because: batch.flatMap(({ author, rule }) =>
      rule === null ? [] : [{ author: author.name, rule }],
    ),
    heardQuietly: effect.context.length + effect.omitted,
    humans: effect.humans,
    guardActive: effect.guard,
    creditWindowMs: stickiness.enabled ? stickiness.windowMs : 0,
  };
}
