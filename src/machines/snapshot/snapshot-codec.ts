/**
 * Compact context
 * ===============
 * The two directions between a conversation's context and the few letters of its record. Each is
 * the other's inverse for everything that is not settings, effects or the guard (which the state
 * names).
 */
import type { Participant } from "../../domain/decision.ts";
import type { Millis } from "../../domain/message.ts";
import type { BufferEntry } from "../batching/context-buffer.ts";
import type { ConversationContext } from "../conversation/context.ts";
import { noCounters } from "../engagement/loop-guard.ts";
import type { CompactContext } from "./snapshot-schema.ts";

type Recorded = Omit<
  ConversationContext,
  "settings" | "configured" | "effects" | "reading" | "guard"
>;
type Fields = { -readonly [Field in keyof CompactContext]: CompactContext[Field] };

/** The context without what is at its default. */
export function compact(context: Recorded): CompactContext {
  const base = context.participants.at(-1)?.lastSeenAt ?? 0;
  const out: Fields = base === 0 ? {} : { z: base };
  const { participants, membership, counters, buffer, run, typing, quietAt, flushAt } = context;
  if (participants.length > 0) out.p = participants.map((one) => packParticipant(one, base));
  if (membership !== null) {
    const { humans, bots, truncated, fetchedAt } = membership;
    out.m = [humans, bots, truncated ? 1 : 0, fetchedAt - base];
  }
  const credits = Object.entries(context.ledger);
  if (credits.length > 0) out.l = credits.map(([author, ends]) => [author, ends - base]);
  if (counters.consecutive > 0)
    out.g = [counters.consecutive, counters.window.map((at) => at - base)];
  if (buffer.entries.length > 0) out.b = buffer.entries.map((entry) => packEntry(entry, base));
  if (buffer.dropped > 0) out.bd = buffer.dropped;
  if (context.seeded) out.s = 1;
  if (context.forming.length > 0) out.f = mutable(context.forming);
  if (context.inbox.length > 0) out.i = mutable(context.inbox);
  if (flushAt !== null) out.fa = flushAt;
  if (quietAt !== null) out.q = [quietAt, context.quietBy];
  if (context.droppedWhileBusy.length > 0) out.n = [...context.droppedWhileBusy];
  if (run !== null) out.r = mutable(run);
  if (context.relays.length > 0) out.w = mutable(context.relays);
  if (context.heartbeat !== null) out.k = mutable(context.heartbeat);
  if (context.interruptedAt > 0) out.u = context.interruptedAt;
  if (Object.keys(context.override).length > 0) out.v = mutable(context.override);
  if (typing !== null) out.y = mutable(typing);
  if (context.turnSeq > 0) out.t = context.turnSeq;
  if (context.disengagedTurn > 0) out.d = context.disengagedTurn;
  if (context.introduced) out.x = 1;
  if (context.abortedLastRun) out.a = 1;
  if (context.ownMessages.length > 0) out.o = [...context.ownMessages];
  if (context.fellowMessages.length > 0) out.e = [...context.fellowMessages];
  if (context.spokenIn.length > 0) out.h = [...context.spokenIn];
  return out;
}

/** The context that `compact` was given. */
export function expand(fields: CompactContext): Recorded {
  const base = fields.z ?? 0;
  const { m, g, q } = fields;
  return {
    participants: (fields.p ?? []).map(([id, seen, name, bot]) => ({
      id,
      name: name ?? id,
      isBot: bot === 1,
      lastSeenAt: base + seen,
    })),
    membership:
      m === undefined
        ? null
        : { humans: m[0], bots: m[1], truncated: m[2] === 1, fetchedAt: base + m[3] },
    ledger: Object.fromEntries((fields.l ?? []).map(([author, ends]) => [author, base + ends])),
    counters:
      g === undefined ? noCounters : { consecutive: g[0], window: g[1].map((at) => base + at) },
    buffer: {
      entries: (fields.b ?? []).map((packed) => unpackEntry(packed, base)),
      dropped: fields.bd ?? 0,
    },
    seeded: fields.s === 1,
    forming: fields.f ?? [],
    inbox: fields.i ?? [],
    flushAt: fields.fa ?? null,
    quietAt: q === undefined ? null : q[0],
    quietBy: q === undefined ? 0 : q[1],
    droppedWhileBusy: fields.n ?? [],
    run: fields.r ?? null,
    relays: fields.w ?? [],
    heartbeat: fields.k ?? null,
    interruptedAt: fields.u ?? 0,
    override: fields.v ?? {},
    typing: fields.y ?? null,
    turnSeq: fields.t ?? 0,
    disengagedTurn: fields.d ?? 0,
    introduced: fields.x === 1,
    abortedLastRun: fields.a === 1,
    ownMessages: fields.o ?? [],
    fellowMessages: fields.e ?? [],
    spokenIn: fields.h ?? [],
  };
}

type PackedParticipant = NonNullable<CompactContext["p"]>[number];

function packParticipant(
  { id, name, isBot, lastSeenAt }: Participant,
  base: Millis,
): PackedParticipant {
  const shown = name === id ? null : name;
  if (isBot) return [id, lastSeenAt - base, shown, 1];
  return shown === null ? [id, lastSeenAt - base] : [id, lastSeenAt - base, shown];
}

type PackedEntry = NonNullable<CompactContext["b"]>[number];

function packEntry({ seq, id, at, author, self, editSeq }: BufferEntry, base: Millis): PackedEntry {
  if (editSeq !== undefined) return [seq, id, at - base, author, self ? 1 : 0, editSeq];
  return self ? [seq, id, at - base, author, 1] : [seq, id, at - base, author];
}

function unpackEntry([seq, id, at, author, self, editSeq]: PackedEntry, base: Millis): BufferEntry {
  const entry = { seq, id, at: base + at, author, self: self === 1 };
  return editSeq === undefined ? entry : { ...entry, editSeq };
}

/** What is written here is only turned into text; the compiler need not know that. */
const mutable = <Value>(value: Value): Mutable<Value> => value as Mutable<Value>;
type Mutable<Value> = Value extends readonly (infer One)[]
  ? Mutable<One>[]
  : Value extends object
    ? { -readonly [Field in keyof Value]: Mutable<Value[Field]> }
    : Value;
