/**
 * Claim codes in what people say
 * ==============================
 * A claim code is a password: no journal row, transcript or log keeps one. A message that is a claim
 * keeps none of its text; in everything else the codes are redacted.
 */
import type { Inbound } from "../../domain/message.ts";
import type { ChannelEvent } from "../../domain/ports/index.ts";
import { redactedClaim, withoutClaims } from "./codes.ts";

/** A message as it is kept when it was a claim. */
export function redactClaimCode({ verbatim: _, ...message }: Inbound): Inbound {
  return { ...message, text: redactedClaim };
}

/** An event with every claim code in its text redacted. */
export function redactClaimCodes(event: ChannelEvent): ChannelEvent {
  switch (event.type) {
    case "message":
      return { ...event, message: redactQuoted(event.message) };
    case "edit":
      return { ...event, edit: { ...event.edit, text: withoutClaims(event.edit.text) } };
    case "reaction":
      return { ...event, reaction: withoutClaimsIn(event.reaction) };
    case "history": {
      const messages = event.history.messages.map(redactQuoted);
      return { ...event, history: { ...event.history, messages } };
    }
    default:
      return event;
  }
}

function redactQuoted(message: Inbound): Inbound {
  const { replyTo, quote } = message;
  const text = withoutClaims(message.text);
  const parent = replyTo === null ? null : withoutClaimsIn(replyTo);
  const part = quote === undefined ? undefined : withoutClaimsIn(quote);
  if (text === message.text && parent === replyTo && part === quote) return message;
  return { ...message, text, replyTo: parent, ...(part === undefined ? {} : { quote: part }) };
}

function withoutClaimsIn<Quoted extends { text?: string | undefined }>(quoted: Quoted): Quoted {
  const text = quoted.text === undefined ? undefined : withoutClaims(quoted.text);
  return text === quoted.text ? quoted : { ...quoted, text };
}
