/**
 * From a channel's event to journal rows
 * ======================================
 * What happens before the journal: who may speak, which conversations receive the event, and the
 * identity by which a second delivery is recognised. Pure: the time is passed in.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { encodeVerdict, type Membership, type Verdict } from "../../domain/decision.ts";
import { EarshotError } from "../../domain/errors.ts";
import { hash52 } from "../../domain/key.ts";
import {
  type Deletion,
  type Edit,
  type Inbound,
  type Millis,
  type Reaction,
  type Route,
  routeOf,
} from "../../domain/message.ts";
import { type ChannelEvent, noConversation, placeOf } from "../../domain/ports/index.ts";
import type { KnownPeople } from "../../machines/access/access-entries.ts";
import type { ExtraCommand } from "../../machines/commands/extension-commands.ts";
import { noOrders } from "../../machines/commands/parse-command.ts";
import type { ConversationEvent, MessageReceived } from "../../machines/events/events.ts";
import { type AccessRequest, decideIntake, type Intake } from "../../machines/routing/intake.ts";
import type { ResolvedRoute } from "../../machines/routing/routing.ts";
import { conversationOf, type NewEvent, newEvent } from "../protocol/event-codec.ts";
import { sharesOf } from "./broadcast.ts";
import { editWithoutCommands, forAgent, orderRows, ordersIn } from "./command-events.ts";

export interface PrepareContext {
  readonly config: EarshotConfig;
  readonly cfg: number;
  readonly now: Millis;
  /** The operator's own channel. */
  readonly local: boolean;
  /** The people in the access store. */
  readonly known: KnownPeople;
  readonly membership: (route: Route) => Membership | null;
  /** Whether the author is one of our accounts on this channel. */
  readonly isOurs: (authorId: string) => boolean;
  /** Commands of plugins and agents. */
  readonly extensions: readonly ExtraCommand[];
  /** The text of a message of ours that was sent lately. */
  readonly ownText: (message: Reaction) => string | null;
  /** A new unique text. */
  readonly unique: () => string;
}

/** What one event of a channel becomes. */
export interface Prepared {
  /** The message, if the event is one. */
  readonly message: Inbound | null;
  /** Identity of the delivery for the dedupe in memory; null: never a duplicate. */
  readonly dedupeId: string | null;
  /** Events for the conversations before it, in the same commit. */
  readonly before: readonly NewEvent[];
  /** One per conversation that receives it, or one that records how admission ended it. */
  readonly events: readonly NewEvent[];
  /** The decision of admission; null where the conversations decide, or nothing is decided. */
  readonly ended: Verdict | null;
  /** Session keys of `events`; null where admission ended it. */
  readonly keys: readonly (string | null)[];
  /** For the log of a refused message: what would admit it. */
  readonly explanation: string;
  /** Its request to the access store, made only when the event is no copy. */
  readonly request: AccessRequest | null;
  /** The conversations that receive it, or would receive it. */
  readonly routes: readonly ResolvedRoute[];
}

/** Prepares one event. @throws EarshotError EAR_INBOUND_INVALID when it names another account. */
export function prepare(
  channel: string,
  account: string,
  event: ChannelEvent,
  context: PrepareContext,
): Prepared | null {
  const place = placeOf(event);
  if (place.channel !== channel || place.account !== account) {
    throw new EarshotError(
      "EAR_INBOUND_INVALID",
      `Cannot accept the event: it names another channel or account than the one that delivered it (${place.channel}, ${place.account}). Deliver it through its own.`,
    );
  }
  const intake = decideIntake(event, context.config, context);
  const { admission, sibling } = intake;
  if (admission.decision === "own" || sibling === "unheard") return null;
  if (intake.event.type === "message")
    return sibling === "heard"
      ? prepareSibling(intake.event.message, intake, context)
      : prepareMessage(intake.event.message, intake, context);
  return admission.decision === null ? prepareOther(intake.event, intake, context) : null;
}

/** Filled field by field, in the order in which it is stored. */
type Making = { -readonly [Field in keyof MessageReceived]: MessageReceived[Field] };

function prepareMessage(message: Inbound, intake: Intake, context: PrepareContext): Prepared {
  const { admission, routes, request } = intake;
  const identity = messageIdentity(message);
  const named = { identity, sentAt: message.sentAt, messageId: message.id };
  const { authority } = admission;
  const orders =
    admission.decision === null ? ordersIn(message, intake, context) : noOrders(message.text);
  const before = orderRows(message, identity, orders, intake, context);
  const { explanation } = admission;
  const common = { message, dedupeId: identity, explanation, before, request, routes };
  const isWhole = orders.text === message.text;
  const hasLevels = Object.keys(orders.levels).length > 0;
  // Stored rows of messages are recognised by their beginning: `type` comes first.
  const type = "message.received";
  const at = context.now;
  if (admission.decision !== null || orders.ended) {
    const ended: Verdict = {
      decision: (admission.decision ?? "command") as Verdict["decision"],
      rule: admission.rule ?? "command",
      credit: "none",
    };
    const code = encodeVerdict(ended);
    const nowhere = { conv: noConversation, key: "" };
    const why = admission.decision === null ? {} : { admission: explanation };
    const levels = hasLevels ? { levels: orders.levels } : {};
    const received = { type, at, seq: 0, message, authority, ...levels, ...why } as const;
    const event = newEvent(nowhere, context.cfg, received, { code, ...named });
    return { events: [event], ended, keys: [null], ...common };
  }
  const membership = message.chat.kind === "direct" ? null : context.membership(routeOf(message));
  const whole: Making = {
    type,
    at,
    seq: 0,
    message: isWhole ? message : { ...message, text: orders.text },
    authority,
  };
  if (hasLevels) whole.levels = orders.levels;
  if (!isWhole) whole.said = message.text;
  if (membership !== null) whole.membership = membership;
  const keys = routes.map(({ sessionKey }) => sessionKey);
  const shares = sharesOf(message, orders.text, identity, routes, context);
  const events = keys.map((key, place) => {
    const share = shares[place] ?? null;
    const own = forAgent(whole.message, orders, routes[place], context);
    const received = share === null && own === null ? whole : { ...whole, ...share, ...own };
    return newEvent(conversationOf(key), context.cfg, received, named);
  });
  return { events, ended: null, keys, ...common };
}

/**
 * A message of another of our agents from an account of its own, or of the person in whose name the
 * account answers: passed on, never decided.
 */
function prepareSibling(
  message: Inbound,
  { routes }: Intake,
  { cfg, now: at }: PrepareContext,
): Prepared {
  const identity = `fellow|${messageIdentity(message)}`;
  const { author } = message;
  const sibling = author.isHost ? message : { ...message, author: { ...author, isBot: true } };
  const made = { type: "fellow.spoke", at, seq: 0, message: sibling } as const;
  const keys = routes.map(({ sessionKey }) => sessionKey);
  const events = keys.map((key) => newEvent(conversationOf(key), cfg, made, { identity }));
  return { ...noMessage, events, keys, routes };
}

/** Fields of an event that nobody expects an answer to. */
const noMessage = {
  message: null,
  dedupeId: null,
  before: [],
  ended: null,
  request: null,
  explanation: "",
};

function messageIdentity({ channel, account, chat, thread, id }: Inbound): string {
  return JSON.stringify(["message", channel, account, chat.id, thread?.id ?? null, id]);
}

/**
 * Prepares an event that is no message. The journal recognises copies; an event without an identity
 * is stored each time.
 */
function prepareOther(
  event: Exclude<ChannelEvent, { type: "message" }>,
  intake: Intake,
  context: PrepareContext,
): Prepared | null {
  const made = conversationEvent(event, intake, context);
  if (made === null) return null;
  const identity = otherIdentity(event) ?? context.unique();
  const { routes } = intake;
  const keys = routes.map(({ sessionKey }) => sessionKey);
  const events = keys.map((key) => newEvent(conversationOf(key), context.cfg, made, { identity }));
  return { ...noMessage, events, keys, routes };
}

function conversationEvent(
  event: Exclude<ChannelEvent, { type: "message" }>,
  { admission, history }: Intake,
  context: PrepareContext,
): ConversationEvent | null {
  const at = context.now;
  switch (event.type) {
    case "edit": {
      // Its commands ran when it was first sent; an edit runs none.
      const text = editWithoutCommands(event.edit.text, admission.authority, context.config);
      const edit = text === event.edit.text ? event.edit : { ...event.edit, text };
      return { type: "message.edited", at, seq: 0, edit };
    }
    case "delete":
      return { type: "message.deleted", at, seq: 0, deletion: event.deletion };
    case "reaction":
      return { type: "message.reacted", at, seq: 0, reaction: withText(event.reaction, context) };
    case "membership": {
      const { humans, bots, truncated } = event.membership;
      const membership = { humans, bots, truncated, fetchedAt: at };
      return { type: "membership.read", at, membership };
    }
    case "history":
      if (history.length === 0) return null;
      return { type: "history.seeded", at, seq: 0, messages: history };
  }
}

/** With the text of the message, which few platforms report. */
function withText(reaction: Reaction, { ownText }: PrepareContext): Reaction {
  const text = reaction.text ?? ownText(reaction);
  return text === null ? reaction : { ...reaction, text };
}

/** What a second delivery has in common with the first; null: nothing. */
function otherIdentity(event: Exclude<ChannelEvent, { type: "message" }>): string | null {
  switch (event.type) {
    case "edit": {
      const { editId, editedAt, text } = event.edit;
      if (editId === undefined && editedAt === undefined) return null;
      // Without an id, the text distinguishes two edits of the same time.
      return eventIdentity("edit", event.edit, [editedAt ?? null, editId ?? hash52(text)]);
    }
    case "delete":
      return eventIdentity("delete", event.deletion, []);
    case "reaction": {
      const { reaction } = event;
      const { author, added, removed, reactedAt, reactionId } = reaction;
      if (reactionId === undefined && reactedAt === undefined) return null;
      const change = reactionId ?? hash52(JSON.stringify([added, removed]));
      return eventIdentity("reaction", reaction, [author.id, reactedAt ?? null, change]);
    }
    case "membership":
      return null;
    case "history": {
      const { messages } = event.history;
      return JSON.stringify(["history", messages.length, messages[0]?.id, messages.at(-1)?.id]);
    }
  }
}

function eventIdentity(
  kind: string,
  { channel, account, chat, thread, id }: Edit | Deletion | Reaction,
  more: readonly (string | number | null)[],
): string {
  return JSON.stringify([kind, channel, account, chat.id, thread?.id ?? null, id, ...more]);
}
