/**
 * Structural signals
 * ==================
 * Turns a message as the channel reported it into the facts the ladder looks at. Facts come from
 * the platform's own structure (mentions, reply parents, author flags), never from reading the
 * text; what the platform did not report stays unknown. The one thing done to the text is to take
 * away what the author did not say: quoted lines, the inside of links, where our name may be by
 * chance, and all of a forwarded text.
 */
import type { EngagementInput } from "../../domain/decision.ts";
import { limits } from "../../domain/limits.ts";
import { type Inbound, isForwarded } from "../../domain/message.ts";

/** What the conversation knows and the message does not say. */
export interface SignalFacts {
  /** Platform ids of messages of ours, the recent ones. */
  readonly ownMessages: readonly string[];
  /** The same of other agents here, who write under our account. @default none */
  readonly siblingMessages?: readonly string[];
  /** The same of everyone else. @default none */
  readonly heardMessages?: readonly string[];
  /** @everyone counts as a mention of us. */
  readonly everyoneMentions: boolean;
}

/** The ladder's view of a message. */
export function signalsOf(message: Inbound, facts: SignalFacts): EngagementInput["message"] {
  const self = mentionsSelf(message, facts.everyoneMentions);
  const parent = parentOf(message.replyTo, facts);
  return {
    text: isForwarded(message) ? "" : ownWords(message.text),
    authorId: message.author.id,
    authorIsBot: message.author.isBot,
    isDirect: message.chat.kind === "direct",
    inThread: message.thread !== null,
    inBroadcast: message.chat.kind === "channel",
    mentionsSelf: self,
    mentionsOthers: !self && message.mentions.length > 0,
    repliesToSelf: parent === "self",
    repliesToOther: parent === "other",
    explicitOnly: message.explicitOnly,
  };
}

function mentionsSelf(message: Inbound, everyoneMentions: boolean): boolean {
  if (message.mentionsEveryone && everyoneMentions) return true;
  for (const mention of message.mentions) if (mention.isSelf) return true;
  return false;
}

/**
 * Who wrote the message replied to. Where the platform does not say, the ids of recent messages do; an
 * author that nobody knows is neither us nor someone else.
 */
function parentOf(
  replyTo: Inbound["replyTo"],
  { ownMessages, siblingMessages = [], heardMessages = [] }: SignalFacts,
): "self" | "other" | "unknown" {
  if (replyTo === null) return "unknown";
  if (siblingMessages.includes(replyTo.id)) return "other";
  if (replyTo.authorIsSelf !== undefined) return replyTo.authorIsSelf ? "self" : "other";
  if (ownMessages.includes(replyTo.id)) return "self";
  const isOther = replyTo.authorId !== undefined || heardMessages.includes(replyTo.id);
  return isOther ? "other" : "unknown";
}

/** The text without quoted lines and links, as far as matching looks. Linear. */
export function ownWords(text: string): string {
  if (!text.includes(">") && !text.includes("://")) return text;
  const looked = text.slice(0, limits.matchUnitsMax);
  const unquoted = looked
    .split("\n")
    .filter((line) => !line.trimStart().startsWith(">"))
    .join("\n");
  return withoutLinks(unquoted);
}

const schemeUnitsMax = 16;
const schemeUnit = /[a-z0-9+.-]/i;
const space = /\s/;

function withoutLinks(text: string): string {
  let out = "";
  let from = 0;
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", from)) {
    let start = at;
    const earliest = Math.max(from, at - schemeUnitsMax);
    while (start > earliest && schemeUnit.test(text.charAt(start - 1))) start -= 1;
    let end = at + 3;
    while (end < text.length && !space.test(text.charAt(end))) end += 1;
    out += `${text.slice(from, start)} `;
    from = end;
  }
  return out + text.slice(from);
}
