/**
 * Messages addressed to the access store instead of a conversation: a stranger who may ask for
 * access, or a claim code. The change and the answer are committed with the message's journal row:
 * a crash neither loses an approval nor makes a code usable twice, and a redelivery has no effect.
 * No agent receives the message, and no stored text keeps a code.
 */
import { defaultAgentId, type EarshotConfig } from "../../domain/config/index.ts";
import { encodeVerdict, type Verdict } from "../../domain/decision.ts";
import { formatSessionKey } from "../../domain/key.ts";
import { type Inbound, type Millis, routeOf } from "../../domain/message.ts";
import {
  type Log,
  noConversation,
  type OutboxRow,
  type OutboxWrite,
} from "../../domain/ports/index.ts";
import type { AccessRequest } from "../../machines/routing/intake.ts";
import type { TextBody } from "../outbox/row-body.ts";
import type { AccessStore } from "../protocol/access-store.ts";
import type { NewEvent } from "../protocol/event-codec.ts";

export interface AccessRequestPorts {
  readonly log: Log;
  readonly access: Pick<AccessStore, "ask" | "redeem">;
  readonly unique: (about: string) => string;
  readonly now: Millis;
  readonly config: EarshotConfig;
  /** The session that would receive the message. */
  readonly sessionKey: string;
}

/** What came of a request. */
export interface AccessReply {
  /** The message's journal row and everything committed with it. */
  readonly event: NewEvent;
  readonly ended: Verdict;
  readonly explanation: string;
  /** Replies, to be sent once they are stored. */
  readonly rows: readonly OutboxRow[];
  /** Reverts the change when the row was not stored or is a duplicate. */
  undo(): void;
}

/** Answers one request; what it changes in the access store takes effect immediately. */
export function answerAccessRequest(
  request: AccessRequest,
  message: Inbound,
  event: NewEvent,
  ports: AccessRequestPorts,
): AccessReply | null {
  return request.kind === "pairing"
    ? answerStranger(message, event, ports)
    : answerClaim(request, message, event, ports);
}

/** Null: no answer, and the message is denied like any other. */
function answerStranger(
  message: Inbound,
  event: NewEvent,
  ports: AccessRequestPorts,
): AccessReply | null {
  const { channel, account, author } = message;
  const asked = ports.access.ask({ channel, account, id: author.id, name: author.name });
  if (asked === null) return null;
  const { code, expiresAt } = asked.pairing;
  const text =
    "I do not know you yet, so I am not answering. If you know who runs me, give them this code, " +
    `good for one hour: ${code}\nThey let you in with: earshot pair approve ${code}`;
  const row = noticeRow("pairing", message, text, expiresAt, ports);
  ports.log("info", "access.asked", { channel, account, author: author.id });
  const ended: Verdict = { decision: "denied", rule: "dm-policy", credit: "none" };
  const explanation = "the sender is not known here and was told a pairing code";
  return { ...common(event, ended, asked, [row]), ended, explanation, undo: asked.undo };
}

function answerClaim(
  { code, local }: Extract<AccessRequest, { kind: "claim" }>,
  message: Inbound,
  event: NewEvent,
  ports: AccessRequestPorts,
): AccessReply {
  const { channel, account, author } = message;
  const redeemed = ports.access.redeem(code, { channel, account, id: author.id });
  const { result } = redeemed;
  const granted = result.outcome === "granted";
  const ended: Verdict = {
    ...({ decision: granted ? "claim" : "denied", rule: "claim", credit: "none" } as const),
  };
  const text = granted ? roleText[result.role] : local ? "That code is not open." : null;
  const expiresAt = ports.now + ports.config.turn.replyAgeMsMax;
  const rows = text === null ? [] : [noticeRow("claim", message, text, expiresAt, ports)];
  if (granted)
    ports.log("info", "access.claimed", { channel, account, author: author.id, role: result.role });
  const explanation = granted
    ? `a claim code, which made its sender ${result.role === "owner" ? "an owner" : "a member"}`
    : result.outcome === "locked"
      ? "too many wrong codes came from this account: none is looked at for a while"
      : "a claim code that is not open: it is wrong, used, revoked or expired";
  return { ...common(event, ended, redeemed, rows), ended, explanation, undo: redeemed.undo };
}

const roleText = {
  owner: "You are an owner here now: everything you order is done.",
  member: "You are a member here now: you may write to me directly and give commands.",
} as const;

function common(
  { event, write }: NewEvent,
  ended: Verdict,
  { writes }: { readonly writes: readonly NonNullable<NewEvent["write"]["also"]>[number][] },
  rows: readonly OutboxRow[],
) {
  const also = [...writes, ...rows.map((row): OutboxWrite => ({ kind: "outbox", row }))];
  const code = encodeVerdict(ended);
  return { event: { event, write: { ...write, code, also } }, rows };
}

/**
 * A notice outside of any conversation. Its key says where it goes: for a stranger, a place of
 * their own that is no session.
 */
function noticeRow(
  what: "pairing" | "claim",
  message: Inbound,
  text: string,
  expiresAt: Millis,
  { unique, now, config, sessionKey }: AccessRequestPorts,
): OutboxRow {
  const { channel, account, chat, author } = message;
  const direct = chat.kind === "direct";
  const place = { kind: "per-account-channel-peer", channel, account, peer: author.id } as const;
  const agentId = defaultAgentId(config);
  const key = direct ? formatSessionKey({ ...place, agentId, thread: null }) : sessionKey;
  const replyTo = direct ? null : message.id;
  const body: TextBody = { route: routeOf(message), text, replyTo, quote: false, expiresAt };
  const turnId = `${what}-${unique(`${what}|${key}|${message.id}`)}`;
  return {
    id: `${turnId}:0`,
    conv: noConversation,
    key,
    turnId,
    index: 0,
    kind: "notice",
    state: "pending",
    createdAt: now,
    dueAt: now,
    attempts: 0,
    doubts: 0,
    body: JSON.stringify(body),
    messageIds: null,
    error: null,
  };
}
