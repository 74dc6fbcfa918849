/**
 * What is decided about an event before any conversation hears of it, worked out once: whether its
 * sender may speak, with which authority and why, what it wants of the access store, which agents
 * hear it and in which sessions. Ingress carries the result with the event to its journal rows;
 * `earshot route` shows it; `why` asks again only where the journal has no answer.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { type Inbound, isForwarded } from "../../domain/message.ts";
import type { ChannelEvent } from "../../domain/ports/index.ts";
import {
  type Admission,
  type AdmissionContext,
  admit,
  admitHistory,
  hearsPlace,
  takesClaims,
} from "../access/admission.ts";
import { claimIn } from "../access/codes.ts";
import { redactClaimCode, redactClaimCodes } from "../access/redact-claims.ts";
import { type ResolvedRoute, resolveRoute } from "./routing.ts";

/** What a message wants of the access store. */
export type AccessRequest =
  | { readonly kind: "claim"; readonly code: string; readonly local: boolean }
  | { readonly kind: "pairing" };

export interface IntakeContext extends AdmissionContext {
  /** Whether one of our accounts on this channel writes under that id. @default none does */
  readonly isOurs?: (authorId: string) => boolean;
}

export interface Intake {
  /** The event as it may be kept: no text has a claim code. */
  readonly event: ChannelEvent;
  readonly admission: Admission;
  /**
   * Its author is another agent of ours, or the one in whose name the account answers: remembered
   * where its place is heard, never decided.
   */
  readonly sibling: "heard" | "unheard" | null;
  readonly request: AccessRequest | null;
  /** Who hears it, each agent in its session; of a message that is denied, who would. */
  readonly routes: readonly ResolvedRoute[];
  /** Of a history: the messages that may be remembered. */
  readonly history: readonly Inbound[];
}

/** The answer to a claim until the access store has been asked. */
const unclaimed: Admission = {
  decision: "denied",
  rule: "claim",
  explanation: "a claim code",
  authority: { commandAuthorized: false, owner: false },
};

/** Decides one event. Pure: the same event under the same config and people is decided the same. */
export function decideIntake(
  given: ChannelEvent,
  config: EarshotConfig,
  context: IntakeContext,
): Intake {
  const admission = admit(given, config, context);
  const event = redactClaimCodes(given);
  const plain = { event, admission, sibling: null, request: null, routes: [], history: [] };
  if (admission.decision === "own") return plain;
  const routes = resolveRoute(config, routableOf(event));
  if (event.type === "history")
    return { ...plain, routes, history: admitHistory(event.history, config, context) };
  if (event.type !== "message" || given.type !== "message") return { ...plain, routes };
  const { author } = event.message;
  if (author.isHost === true || context.isOurs?.(author.id) === true) {
    const isHeard = context.local || hearsPlace(config, event.message);
    return { ...plain, routes, sibling: isHeard ? "heard" : "unheard" };
  }
  const request = accessRequestOf(given.message, admission, config, context);
  // Every line comes here: this is one object where a spread would be two.
  if (request?.kind !== "claim")
    return { event, admission, sibling: null, request, routes, history: plain.history };
  const claim = { type: "message", message: redactClaimCode(event.message) } as const;
  return { ...plain, routes, request, event: claim, admission: unclaimed };
}

/**
 * What a message asks of the access store. Only its author's own words ask, and only a person's: not
 * what is passed on, not a bot, not somebody who speaks in the name of a chat.
 */
function accessRequestOf(
  message: Inbound,
  admission: Admission,
  config: EarshotConfig,
  { local }: AdmissionContext,
): AccessRequest | null {
  const { author } = message;
  if (author.isBot || author.isChat === true) return null;
  const isLocal = local && message.outside !== true;
  const code = isForwarded(message) ? null : claimIn(message.text);
  if (code !== null && (isLocal || takesClaims(config, message)))
    return { kind: "claim", code, local: isLocal };
  return admission.pairs === true ? { kind: "pairing" } : null;
}

/** Where an event happened, and to which agent: routing looks at places and people, never at the text. */
function routableOf(event: ChannelEvent): Parameters<typeof resolveRoute>[1] {
  switch (event.type) {
    case "message":
      return event.message.author.isHost === true
        ? withAuthor(event.message, undefined)
        : event.message;
    case "edit":
      return withAuthor(event.edit, event.edit.author);
    case "delete":
      return withAuthor(event.deletion, undefined);
    case "reaction":
      return event.reaction;
    case "membership":
      return withAuthor(event.membership, undefined);
    case "history":
      return withAuthor(event.history, undefined);
  }
}

type Place = Pick<Inbound, "channel" | "account" | "chat" | "thread">;

function withAuthor(
  { channel, account, chat, thread }: Place,
  author: Inbound["author"] | undefined,
) {
  const nobody = { id: chat.id, name: chat.id, isBot: false, isSelf: false };
  // The chat is with the other person, also where its host writes.
  const known = author?.isHost === true ? undefined : author;
  return { channel, account, chat, thread, author: known ?? nobody };
}
