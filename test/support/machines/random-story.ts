/**
 * Random events that mostly make sense: what could happen next to a conversation in this context,
 * at the edges of its windows, of its turn and sometimes of another. Seeded, and quick enough for a
 * hundred thousand steps.
 */
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import { type Inbound, type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import type { ConversationSettings } from "../../../src/domain/settings.ts";
import { passedId } from "../../../src/machines/conversation/agent-relay.ts";
import type { ConversationContext } from "../../../src/machines/conversation/context.ts";
import type { ConversationEvent, MessageReceived } from "../../../src/machines/events/events.ts";
import { type Overrides, settingsWith } from "../runtime/conversation-rig.ts";

/** What a story looks at; a part, so that other versions of the machine can have stories, too. */
export type StoryContext = Pick<
  ConversationContext,
  "run" | "forming" | "inbox" | "quietAt" | "relays" | "buffer" | "turnSeq" | "ownMessages"
>;

export interface RandomStory {
  readonly settings: ConversationSettings;
  /** What happens next. */
  next(context: StoryContext): ConversationEvent;
}

const place = {
  channel: "test",
  account: "default",
  chat: { id: "room", kind: "group" },
  thread: null,
} as const;
const keys = ["agent:a:main", "agent:b:main", "agent:c:main"];
const waits = [0, 0, 1, 100, 499, 500, 501, 2_000, 15_000, 60_000];
const failures = ["error", "host-lost", "aborted", "idle-timeout"] as const;

/** mulberry32 */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const modes = ["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"] as const;

/** Other seeds wander under other settings, too. */
function overridesOf(pick: <One>(list: readonly One[]) => One): Overrides {
  return {
    queue: {
      mode: pick(modes),
      cap: pick([1, 2, 20]),
      drop: pick(["old", "new", "summarize"]),
      debounceMs: pick([0, 500]),
    },
    loopGuard: {
      maxConsecutive: pick([1, 3]),
      maxInWindow: 3,
      windowMs: 60_000,
      hardLimit: pick([0, 2, 5]),
    },
    context: { size: pick([0, 2, 20]), maxAgeMs: pick([0, 60_000]) },
    engagement: pick([{}, { judge: { minConfidence: 0.6 } }]),
    notifyRoom: pick(["always", "never"]),
    send: pick(["allow", "allow", "allow", "deny"]),
    typing: { mode: pick(["auto", "instant", "thinking", "message"]) },
    replyTo: pick(["auto", "all", "batched"]),
  };
}

/** Messages as the edge makes them, by their kind: those of one differ in their ids only. */
const parsedBefore = new Map<string, Inbound>();
function parsed(kind: string, id: string, said: Partial<InboundInput>) {
  const known = parsedBefore.get(kind) ?? inboundSchema.parse({ ...place, ...said, id });
  parsedBefore.set(kind, known);
  return { ...known, id };
}

export function createRandomStory(seed: number): RandomStory {
  const random = chance(seed);
  const pick = <One>(list: readonly One[]): One => list[Math.floor(random() * list.length)] as One;
  const often = (share: number) => random() < share;
  const settings = settingsWith(overridesOf(pick));
  const said: string[] = [];
  let now = 0;
  let seq = 0;

  function message(): MessageReceived {
    seq += 1;
    const id = `m${seq}`;
    said.push(id);
    const author = pick(["ann", "ann", "bob", "bot"]);
    const aim = pick(["us", "us", "other", "nobody"]);
    const mentions = { us: [{ id: "we", isSelf: true }], other: [{ id: "x" }], nobody: [] }[aim];
    const attachments: InboundInput["attachments"] = often(0.1) ? [{ id: "a", kind: "image" }] : [];
    const thread = often(0.1) ? ({ id: "t", kind: "topic" } as const) : null;
    const text = often(0.1) ? "earshot!" : "hm";
    const kind = `${author} ${aim} ${attachments.length} ${thread?.id} ${text}`;
    const by = { id: author, isBot: author === "bot" };
    const message = parsed(kind, id, { thread, author: by, text, mentions, attachments });
    const authority = { commandAuthorized: false, owner: false };
    const event = { type: "message.received", at: now, seq, message, authority } as const;
    if (!often(0.1)) return event;
    return { ...event, relay: { token: id, place: pick([0, 1, 2]), keys } };
  }

  /** Something of the turn under way, or of another. */
  function ofTurn({ run }: StoryContext, turnId: string): ConversationEvent {
    const at = now;
    const index = (run?.blocks ?? 0) + (often(0.1) ? 1 : 0);
    const from = run?.offset ?? 0;
    const block = { at, turnId, index, from, to: from + 4, text: "word", mentions: ["bob"] };
    const drawn = random();
    if (drawn < 0.3) return { type: "agent.text", ...block };
    if (drawn < 0.35) return { type: "agent.text", ...block, to: from, draft: true };
    if (drawn < 0.4) return { type: "agent.text", ...block, edits: 0 };
    if (drawn < 0.45) return { type: "agent.text", ...block, to: from, aside: "status" };
    if (drawn < 0.5) return { type: "agent.spoke", at, turnId, what: pick(["text", "reasoning"]) };
    if (drawn < 0.55)
      return { type: "agent.tool", at, turnId, name: "channel_react", input: { emoji: "👍" } };
    if (drawn < 0.6) return { type: "agent.usage", at, turnId, inputTokens: 1, outputTokens: 2 };
    if (drawn < 0.65) return { type: "skip", at, turnId };
    if (drawn < 0.85) return { type: "agent.ended", at, turnId, silent: false };
    return { type: "agent.failed", at, turnId, code: pick(failures), message: "x" };
  }

  function delivery({ run }: StoryContext, turnId: string): ConversationEvent {
    const index = run?.open.length ? pick(run.open).index : 0;
    if (often(0.2)) return { type: "delivery.failed", at: now, turnId, index, status: "dead" };
    return { type: "delivery.sent", at: now, turnId, index, messageIds: [`s${now}-${index}`] };
  }

  function deadline({ forming, quietAt, relays }: StoryContext): ConversationEvent {
    const id = pick(["flush", "flush", "quiet", "quiet", "interrupt", "relay", "passed"]);
    const due =
      id === "flush" ? (forming[0]?.closesAt ?? null) : id === "quiet" ? quietAt : now + 1_000;
    if (due !== null && !often(0.1)) now = Math.max(now, due);
    const leg = relays[0];
    if (id !== "passed") return { type: "deadline.due", at: now, id };
    const passed = leg === undefined ? "relay|none|0" : passedId(leg.token, pick([0, 1]));
    return { type: "deadline.due", at: now, id: passed };
  }

  /** What the judge says, mostly about a line that it was asked about. */
  function answer({ buffer }: StoryContext): ConversationEvent {
    const asked = buffer.entries.filter((entry) => entry.asked !== undefined);
    const id = asked.length > 0 && often(0.9) ? pick(asked).id : pick([...said, "unknown"]);
    const given = { type: "judge.answered", at: now, id, why: "it asks" } as const;
    if (often(0.1)) return { ...given, engage: false, confidence: 0, failed: "late" };
    return { ...given, engage: often(0.7), confidence: pick([0.2, 0.6, 1]) };
  }

  function rare(context: StoryContext): ConversationEvent {
    seq += 1;
    const at = now;
    const known = [...context.forming, ...context.inbox].flatMap(({ messages }) => messages);
    const id = known.length > 0 && often(0.7) ? pick(known).id : pick([...said, "unknown"]);
    const makers: readonly (() => ConversationEvent)[] = [
      () => ({ type: "message.edited", at, seq, edit: { ...place, id, text: "edited" } }),
      () => ({ type: "message.deleted", at, seq, deletion: { ...place, id } }),
      () => ({ type: "message.deleted", at, seq, deletion: { ...place, id } }),
      () => {
        const author = { id: "bob", name: "Bob", isBot: false, isSelf: false };
        const id = context.ownMessages.at(-1) ?? "unknown";
        const reaction = { ...place, id, author, added: ["👍"], removed: [] };
        return { type: "message.reacted", at, seq, reaction };
      },
      () => ({ type: "disengage", at }),
      () => answer(context),
      () => ({ type: "run.aborted", at, by: "ann" }),
      () => ({ type: "host.recovered", at, ...(often(0.5) ? { restarted: true as const } : {}) }),
      () => ({ type: "command.applied", at, command: "status", args: [] }),
      () => ({ type: "session.reset", at, sessionId: `s${seq}` }),
      () => ({ type: "session.overridden", at, queue: often(0.5) ? { mode: pick(modes) } : null }),
      () => ({ type: "heartbeat.due", at, route: place }),
      () => ({ type: "prompt.due", at, seq, id: `p${seq}`, route: place, text: "go", by: "test" }),
      () => ({ type: "text.due", at, id: `t${seq}`, route: place, parts: ["a"], replyTo: null }),
      () => ({ type: "fellow.spoke", at, seq, message: message().message }),
      () => ({ type: "history.seeded", at, seq, messages: [message().message] }),
      () => ({ type: "agent.started", at, turnId: "T1", attempt: 1 }),
      () => ({ type: "agent.message-ended", at, turnId: "T1" }),
      () => {
        const membership = { humans: 3, bots: 0, truncated: often(0.5), fetchedAt: at };
        return { type: "membership.read", at, membership };
      },
      () => {
        const messages = context.inbox.flatMap((flush) => flush.messages.map((one) => one.seq));
        const turnId = context.run?.order.turnId ?? "T0";
        return { type: "agent.steered", at, turnId, messages: messages.slice(0, pick([1, 9])) };
      },
    ];
    return pick(makers)();
  }

  return {
    settings,
    next(context) {
      now += pick(waits);
      const turnId = often(0.05) ? "T0" : (context.run?.order.turnId ?? "T0");
      const drawn = random();
      if (drawn < 0.3) return message();
      const isAsked = context.buffer.entries.some((entry) => entry.asked !== undefined);
      if (isAsked && often(0.15)) return answer(context);
      if (drawn < 0.45) return deadline(context);
      if (drawn < 0.6 && (context.run === null || often(0.05))) {
        if (often(0.03)) now += 900_001;
        return { type: "lane.granted", at: now, turnId: `T${context.turnSeq + 1}` };
      }
      if (drawn < 0.75) return ofTurn(context, turnId);
      if (drawn < 0.88) return delivery(context, turnId);
      return rare(context);
    },
  };
}

/** A story as the whole chart lives it, from its beginning. */
export function storyOf(
  seed: number,
  length: number,
): { readonly events: readonly ConversationEvent[]; readonly settings: ConversationSettings } {
  const { settings, next } = createRandomStory(seed);
  const conversation = createConversation({ key: "story", settings });
  const events = Array.from({ length }, () => {
    const event = next(conversation.context);
    conversation.step(event);
    return event;
  });
  conversation.stop();
  return { events, settings };
}
