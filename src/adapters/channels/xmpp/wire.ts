/**
 * XMPP's wire format
 * ==================
 * Stanzas as elements (RFC 6120, section 8), parsed by @xmpp/client, read and checked here once. What
 * does not fit is logged and passed over. A claim of a sender that only the server may make (an id, an
 * occupant) names who it is `by`; who is believed is decided where it is used.
 */
import type { Element } from "@xmpp/client";
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { type Millis, momentMax } from "../../../domain/message.ts";
import { spaces } from "./spaces.ts";

/** Why a stanza was refused (RFC 6120, section 8.3). */
export interface StanzaFault {
  readonly type: string;
  readonly condition: string;
  readonly text: string;
}

const id = z.string().min(1).max(limits.idUnitsMax);
const jid = z
  .string()
  .max(limits.idUnitsMax)
  .regex(/^[^\s@/]+(?:@[^\s@/]+)?(?:\/.+)?$/su);
const range = z.tuple([z.number().int().min(0), z.number().int().min(0)]);

const messageSchema = z.object({
  type: z.enum(["chat", "groupchat", "normal", "headline", "error"]).catch("normal"),
  from: jid,
  /** The sender's id of it. */
  id: id.nullable(),
  originId: id.nullable(),
  /** Ids that servers gave it (XEP-0359). */
  stanzaIds: z.array(z.object({ by: jid, id })).max(64),
  occupantId: id.nullable(),
  body: z.string().nullable(),
  hasSubject: z.boolean(),
  delayedAt: z.number().int().min(0).max(momentMax).nullable(),
  /** XEP-0461. */
  reply: z.object({ id, to: jid.nullable() }).nullable(),
  /** Parts of the body for clients without that extension, in code points; null: all of it. */
  fallbacks: z.array(z.object({ for: z.string().max(512), range: range.nullable() })).max(64),
  /** XEP-0308. */
  replaces: id.nullable(),
  /** XEP-0424. */
  retracts: id.nullable(),
  /** Retracted by a moderator of the room (XEP-0425). */
  isModerated: z.boolean(),
  /** XEP-0444: all of one person's reactions to one message. */
  reactions: z
    .object({
      id,
      emoji: z.array(z.string().min(1).max(limits.emojiUnitsMax)).max(limits.reactionEmojiCountMax),
    })
    .nullable(),
  /** Addresses of files (XEP-0066). */
  urls: z.array(z.string().min(1).max(limits.labelUnitsMax)).max(limits.attachmentsCountMax),
  /** XEP-0372. */
  mentioned: z.array(z.string().max(limits.labelUnitsMax)).max(limits.mentionsCountMax),
  isUnstyled: z.boolean(),
  /** Its words are in a form that only the devices of some people can read; the body is for the others. */
  isEncrypted: z.boolean(),
  /** The real address that a room's archive adds. */
  real: jid.nullable(),
  isInvitation: z.boolean(),
});

export type XmppMessage = z.infer<typeof messageSchema>;

/** Reads a message; null: it has not the form of one. */
export function readMessage(element: Element): XmppMessage | null {
  const { attrs } = element;
  const attach = element.getChild("apply-to", spaces.fasten);
  const retract =
    element.getChild("retract", spaces.retract1) ??
    ((attach?.getChild("retract", spaces.retract0) ??
    attach?.getChild("moderated", spaces.moderate0))
      ? attach
      : undefined);
  const users = element.getChildren("x", spaces.mucUser);
  const cipher = cipherOf(element);
  const checked = messageSchema.safeParse({
    type: attrs.type ?? "normal",
    from: attrs.from,
    id: attrs.id || null,
    originId: element.getChild("origin-id", spaces.stanzaId)?.attrs.id || null,
    stanzaIds: element
      .getChildren("stanza-id", spaces.stanzaId)
      .map(({ attrs: given }) => ({ by: given.by, id: given.id })),
    occupantId: element.getChild("occupant-id", spaces.occupantId)?.attrs.id || null,
    body: cipher === "none" ? bodyOf(element) : null,
    hasSubject: element.getChild("subject") !== undefined,
    delayedAt: delayOf(element),
    reply: replyOf(element),
    fallbacks: element.getChildren("fallback", spaces.fallback).flatMap(fallbackOf),
    replaces: element.getChild("replace", spaces.correct)?.attrs.id || null,
    retracts: retract?.attrs.id || null,
    isModerated:
      retract?.getChild("moderated", spaces.moderate1) !== undefined ||
      retract?.getChild("moderated", spaces.moderate0) !== undefined,
    reactions: reactionsOf(element),
    urls: element
      .getChildren("x", spaces.oob)
      .map((one) => one.getChild("url")?.text().trim() ?? "")
      .filter((url) => url !== ""),
    mentioned: element
      .getChildren("reference", spaces.reference)
      .filter(({ attrs: given }) => given.type === "mention" && given.uri !== undefined)
      .map(({ attrs: given }) => given.uri),
    isUnstyled: element.getChild("unstyled", spaces.styling) !== undefined,
    isEncrypted: cipher === "words",
    // What the sender put there stands before what an archive adds.
    real: users.at(-1)?.getChild("item")?.attrs.jid ?? null,
    isInvitation:
      users.some((user) => user.getChild("invite") !== undefined) ||
      element.getChild("x", spaces.invitation) !== undefined,
  });
  return checked.success ? checked.data : null;
}

function bodyOf(element: Element): string | null {
  const body = element.getChild("body")?.text();
  if (body === undefined) return null;
  return body.length <= limits.textUnitsMax
    ? body
    : Buffer.from(body.slice(0, limits.textUnitsMax - 2), "utf8").toString("utf8");
}

/** What of a message is encrypted: OMEMO sends keys alone as well, which are nobody's words. */
function cipherOf(element: Element): "none" | "words" | "keys" {
  const omemo =
    element.getChild("encrypted", spaces.omemo) ?? element.getChild("encrypted", spaces.omemo2);
  if (omemo !== undefined) return omemo.getChild("payload") === undefined ? "keys" : "words";
  const isMarked =
    element.getChild("encryption", spaces.encryption) ??
    element.getChild("openpgp", spaces.openPgp) ??
    element.getChild("x", spaces.encrypted);
  return isMarked === undefined ? "none" : "words";
}

/** The time of the first delay (XEP-0203): what its server or room says. */
function delayOf(element: Element): Millis | null {
  const at = Date.parse(element.getChild("delay", spaces.delay)?.attrs.stamp ?? "");
  return Number.isNaN(at) || at < 0 ? null : at;
}

function replyOf(element: Element) {
  const reply = element.getChild("reply", spaces.reply);
  return reply?.attrs.id ? { id: reply.attrs.id, to: reply.attrs.to || null } : null;
}

function fallbackOf(element: Element) {
  const about = element.attrs.for ?? "";
  const parts = element.getChildren("body");
  if (parts.length === 0) return [{ for: about, range: null }];
  return parts.map(({ attrs: { start, end } }) => ({
    for: about,
    range: start === undefined || end === undefined ? null : [Number(start), Number(end)],
  }));
}

function reactionsOf(element: Element) {
  const reactions = element.getChild("reactions", spaces.reactions);
  if (reactions === undefined) return null;
  const emoji = reactions.getChildren("reaction").map((one) => one.text().trim());
  return { id: reactions.attrs.id, emoji: [...new Set(emoji)].filter((one) => one !== "") };
}

const presenceSchema = z.object({
  from: jid,
  type: z.string().max(32).nullable(),
  /** Codes of the room (XEP-0045, section 15.6). */
  codes: z.array(z.string().max(8)).max(64),
  isOfRoom: z.boolean(),
  real: jid.nullable(),
  occupantId: id.nullable(),
  /** The new nick, where it is changed. */
  newNick: z.string().max(limits.idUnitsMax).nullable(),
  reason: z.string().max(10_000),
  isDestroyed: z.boolean(),
  /** The room where a destroyed one goes on (XEP-0045, section 10.9). */
  venue: jid.nullable(),
});

export type XmppPresence = z.infer<typeof presenceSchema>;

/** Reads a presence; null: it has not the form of one. */
export function readPresence(element: Element): XmppPresence | null {
  const user = element.getChild("x", spaces.mucUser);
  const item = user?.getChild("item");
  const destroy = user?.getChild("destroy");
  const checked = presenceSchema.safeParse({
    from: element.attrs.from,
    type: element.attrs.type ?? null,
    codes: user?.getChildren("status").map(({ attrs }) => attrs.code ?? "") ?? [],
    isOfRoom: user !== undefined || element.getChild("x", spaces.muc) !== undefined,
    real: item?.attrs.jid ?? null,
    occupantId: element.getChild("occupant-id", spaces.occupantId)?.attrs.id || null,
    newNick: item?.attrs.nick ?? null,
    reason: (item?.getChild("reason") ?? destroy?.getChild("reason"))?.text() ?? "",
    isDestroyed: destroy !== undefined,
    venue: destroy?.attrs.jid ?? null,
  });
  return checked.success ? checked.data : null;
}

/** Why a stanza of type error was refused. */
export function faultOf(element: Element): StanzaFault {
  const error = element.getChild("error");
  const condition = error
    ?.getChildElements()
    .find((one) => one.getNS() === spaces.stanzas && one.name !== "text");
  return {
    type: error?.attrs.type ?? "cancel",
    condition: condition?.name.slice(0, 64) ?? "undefined-condition",
    // A room that is gone says where it has gone to.
    text: (error?.getChild("text", spaces.stanzas) ?? condition)?.text().slice(0, 1_000) ?? "",
  };
}

/** A message out of an archive (XEP-0313). */
export interface Archived {
  /** Whose archive; null: our own, where the server does not say. */
  readonly archive: string | null;
  readonly queryId: string;
  readonly id: string;
  readonly at: Millis | null;
  readonly message: Element;
}

/** Reads a result of an archive; null: it is none. */
export function readArchived(element: Element): Archived | null {
  const result = element.getChild("result", spaces.archive);
  const forwarded = result?.getChild("forwarded", spaces.forward);
  const message = forwarded?.getChild("message");
  if (result === undefined || forwarded === undefined || message === undefined) return null;
  const { id: resultId, queryid } = result.attrs;
  if (!resultId || resultId.length > limits.idUnitsMax) return null;
  return {
    archive: element.attrs.from ?? null,
    queryId: queryid ?? "",
    id: resultId,
    at: delayOf(forwarded),
    message,
  };
}

/** Text without what XML cannot hold: it would end the stream. */
export function xmlText(text: string): string {
  return (
    Buffer.from(text, "utf8")
      .toString("utf8")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
  );
}
