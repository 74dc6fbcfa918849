/**
 * A conversation on the bench: the real actor with everything around it played by hand. Time moves
 * on request, deadlines fire at their moment, turn slots are granted when asked for (unless held back),
 * and every effect is kept with its time. What no effect may ever do is checked after each step.
 */
import { expect } from "vitest";
import {
  type Conversation,
  createConversation,
} from "../../../src/actors/host/conversation-actor.ts";
import { type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import type { ConversationSettings } from "../../../src/domain/settings.ts";
import type { Effect, TurnRun } from "../../../src/machines/events/effects.ts";
import type { ConversationEvent, MessageReceived } from "../../../src/machines/events/events.ts";

export const defaults: ConversationSettings = {
  version: 1,
  agentId: "main",
  agentName: "earshot",
  engagement: {
    trigger: ["dm", "mention", "reply"],
    activation: "ladder",
    aliases: ["earshot"],
    stickiness: { enabled: true, windowMs: 900_000, mode: "one-shot", holdDuringTurn: true },
  },
  everyoneMentions: false,
  context: { size: 20, maxAgeMs: 21_600_000 },
  loopGuard: { maxConsecutive: 5, maxInWindow: 5, windowMs: 60_000, hardLimit: 20 },
  send: "allow",
  debounce: { idleMs: 500, maxMs: 2_000 },
  queue: { mode: "collect", debounceMs: 500, cap: 20, drop: "summarize" },
  ackReaction: "👀",
  replyTo: "auto",
  severalChats: false,
  responsePrefix: "",
  stream: {
    mode: "auto",
    break: "text_end",
    minChars: 800,
    maxChars: 1_200,
    prefer: "paragraph",
    coalesceIdleMs: 1_000,
    groupMaxChars: 12_000,
    longAnswers: "continue",
    humanDelay: "off",
  },
  typing: { mode: "auto", intervalMs: 6_000, ttlMs: 120_000 },
  silent: { token: "NO_REPLY", mixed: "strip" },
  turn: { idleMs: 120_000, maxMs: 600_000, replyAgeMsMax: 900_000 },
  notifyRoom: "direct",
  messagePrefix: "",
  promptHeadings: "sections",
  promptSystem: "default",
};

export type Overrides = {
  readonly [Section in keyof ConversationSettings]?: ConversationSettings[Section] extends object
    ? Partial<ConversationSettings[Section]>
    : ConversationSettings[Section];
};

export function settingsWith(over: Overrides = {}): ConversationSettings {
  const merged: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(over)) {
    const plain = merged[name];
    const isSection = typeof plain === "object" && plain !== null && !Array.isArray(plain);
    merged[name] = isSection ? { ...plain, ...(value as object) } : value;
  }
  return merged as unknown as ConversationSettings;
}

export interface Said extends Omit<InboundInput, "channel" | "chat" | "id" | "author"> {
  readonly id?: string;
  readonly bot?: boolean;
  readonly to?: "us" | "other";
  readonly chat?: InboundInput["chat"];
}

type Step<Type extends Effect["type"]> = Extract<Effect, { type: Type }> & { readonly t: number };

export interface RigOptions {
  readonly settings?: Overrides;
  /** A group is known to hold three people, so that nobody is alone with us. */
  readonly chat?: InboundInput["chat"];
  /** Grant turn slots only on request. @default false */
  readonly holdSlots?: boolean;
  readonly record?: string;
}

export class Rig {
  settings: ConversationSettings;
  conversation: Conversation;
  now = 0;
  readonly log: (Effect & { readonly t: number })[] = [];
  readonly deadlines = new Map<string, number>();
  /** A turn slot was asked for and not yet granted or given back. */
  wantsSlot = false;
  readonly #chat: InboundInput["chat"];
  readonly #holdSlots: boolean;
  #seq = 0;
  #turns = 0;

  constructor(options: RigOptions = {}) {
    this.settings = settingsWith(options.settings);
    this.#chat = options.chat ?? { id: "room", kind: "group" };
    this.#holdSlots = options.holdSlots ?? false;
    const { record = null } = options;
    this.conversation = createConversation({ key: "rig", settings: this.settings, record });
    if (record !== null || this.#chat.kind === "direct") return;
    const membership = { humans: 3, bots: 0, truncated: true, fetchedAt: 0 };
    this.step({ type: "membership.read", at: 0, membership });
  }

  step(event: ConversationEvent): readonly Effect[] {
    const effects = this.conversation.step(event, this.settings);
    for (const effect of effects) {
      this.log.push({ ...effect, t: this.now });
      if (effect.type === "deadline.set") this.deadlines.set(effect.id, effect.at);
      if (effect.type === "deadline.clear") this.deadlines.delete(effect.id);
      if (effect.type === "lane.request") this.wantsSlot = true;
      if (effect.type === "lane.release") this.wantsSlot = false;
    }
    checkState(this.conversation, this.deadlines);
    if (this.wantsSlot && !this.#holdSlots) this.grant();
    return effects;
  }

  message(author: string, text: string, said: Said = {}): MessageReceived {
    this.#seq += 1;
    const { bot = false, to, chat = this.#chat, id = `m${this.#seq}`, ...rest } = said;
    const mentions =
      to === undefined ? [] : [to === "us" ? { id: "we", isSelf: true } : { id: "someone" }];
    const message = inboundSchema.parse({
      channel: "test",
      chat,
      id,
      author: { id: author, isBot: bot },
      text,
      mentions,
      ...rest,
    });
    const authority = { commandAuthorized: false, owner: false };
    return { type: "message.received", at: this.now, seq: this.#seq, message, authority };
  }

  /** Somebody speaks; the answer is the rule that decided. */
  say(author: string, text: string, said: Said = {}): string {
    const effects = this.step(this.message(author, text, said));
    const decided = effects.filter((effect) => effect.type === "decided");
    expect(decided).toHaveLength(1);
    return decided[0]?.rule ?? "";
  }

  edit(id: string, text: string): number {
    this.#seq += 1;
    const place = { channel: "test", account: "default", chat: this.#place(), thread: null };
    const edit = { ...place, id, text };
    this.step({ type: "message.edited", at: this.now, seq: this.#seq, edit });
    return this.#seq;
  }

  remove(id: string): void {
    this.#seq += 1;
    const deletion = {
      channel: "test",
      account: "default",
      chat: this.#place(),
      thread: null,
      id,
    };
    this.step({ type: "message.deleted", at: this.now, seq: this.#seq, deletion });
  }

  /** Bob reacts to a message. */
  react(id: string): void {
    this.#seq += 1;
    const author = { id: "bob", name: "Bob", isBot: false, isSelf: false };
    const place = { channel: "test", account: "default", chat: this.#place(), thread: null };
    const reaction = { ...place, id, author, added: ["👍"], removed: [] };
    this.step({ type: "message.reacted", at: this.now, seq: this.#seq, reaction });
  }

  #place() {
    const { id, kind } = this.#chat;
    return { id, kind };
  }

  /** Time passes; what falls due fires at its moment, the earliest first. */
  wait(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const due = [...this.deadlines].filter(([, at]) => at <= until).sort(([, a], [, b]) => a - b);
      const next = due[0];
      if (next === undefined) break;
      this.now = Math.max(this.now, next[1]);
      this.deadlines.delete(next[0]);
      this.step({ type: "deadline.due", at: this.now, id: next[0] });
    }
    this.now = until;
  }

  grant(): string {
    this.#turns += 1;
    const turnId = `T${this.#turns}`;
    this.wantsSlot = false;
    this.step({ type: "lane.granted", at: this.now, turnId });
    return turnId;
  }

  get turnId(): string {
    return this.conversation.view().turnId ?? "";
  }

  /** The running agent says a block. */
  answer(text: string, over: Partial<{ index: number; from: number; mentions: string[] }> = {}) {
    const { run } = this.conversation.context;
    const { index = run?.blocks ?? 0, from = run?.offset ?? 0, mentions = [] } = over;
    const to = from + text.length;
    const turnId = this.turnId;
    return this.step({
      type: "agent.text",
      at: this.now,
      turnId,
      index,
      from,
      to,
      text,
      mentions,
    } as ConversationEvent);
  }

  end(silent = false): void {
    this.step({ type: "agent.ended", at: this.now, turnId: this.turnId, silent });
  }

  fail(code: "error" | "aborted" | "host-lost" | "idle-timeout" = "error"): void {
    const turnId = this.turnId;
    this.step({ type: "agent.failed", at: this.now, turnId, code, message: "boom" });
  }

  sent(index = 0, turnId = this.turnId, messageIds = [`${turnId}-${index}`]): void {
    this.step({ type: "delivery.sent", at: this.now, turnId, index, messageIds });
  }

  lost(index = 0): void {
    const { turnId } = this;
    this.step({ type: "delivery.failed", at: this.now, turnId, index, status: "dead" });
  }

  /** A whole turn: one block, its end, its delivery. */
  reply(text = "ok"): void {
    this.answer(text);
    this.end();
    this.sent();
  }

  of<Type extends Effect["type"]>(type: Type): Step<Type>[] {
    return this.log.filter((one): one is Step<Type> => one.type === type);
  }

  get runs(): (TurnRun & { readonly t: number })[] {
    return this.of("turn.run");
  }

  batches(): string[][] {
    return this.runs.map(({ batch }) => batch.map(({ id }) => id));
  }

  outcomes(): string[] {
    return this.of("outcome").map(({ turnId, outcome }) => `${turnId} ${outcome}`);
  }

  get attention(): string {
    return this.conversation.view().attention;
  }

  get credits(): string[] {
    return Object.keys(this.conversation.context.ledger);
  }

  /** Messages that carry our reaction now. */
  acked(): string[] {
    const on: string[] = [];
    for (const one of this.log) {
      if (one.type === "react") on.push(one.message);
      if (one.type === "unreact") on.splice(on.indexOf(one.message), 1);
    }
    return on;
  }

  typing(): boolean {
    return this.of("typing").at(-1)?.on ?? false;
  }
}

/** What holds after every step, whatever happened. Plain comparisons: it runs a million times. */
export function checkState(
  conversation: Conversation,
  deadlines: ReadonlyMap<string, number>,
): void {
  const { attention } = conversation.view();
  const { run, inbox, forming, typing, quietAt, heartbeat, prompts } = conversation.context;
  const pending = inbox.length + forming.length;
  const owed = heartbeat !== null || prompts.length > 0;
  const laws: readonly (readonly [string, boolean])[] = [
    [
      "observing owes nothing and shows nothing",
      attention !== "observing" || (pending === 0 && !owed && run === null && typing === null),
    ],
    ["waiting has a line", attention !== "engaged.waiting" || inbox.length > 0 || owed],
    ["gathering has something to gather", attention !== "engaged.gathering" || pending > 0],
    [
      "a line waits for a lane, a turn or a quiet window",
      attention !== "engaged.gathering" || inbox.length === 0 || quietAt !== null,
    ],
    ["running has a turn", attention !== "engaged.running" || run !== null],
    [
      "settling has deliveries open",
      attention !== "engaged.settling" || (run?.open.length ?? 0) > 0,
    ],
    [
      "the flush deadline is the first window's",
      (deadlines.get("flush") ?? null) === (forming[0]?.closesAt ?? null),
    ],
    ["the quiet deadline is the one set", (deadlines.get("quiet") ?? null) === quietAt],
  ];
  const broken = laws.filter(([, holds]) => !holds).map(([law]) => law);
  if (broken.length > 0) expect({ attention, broken }).toEqual({ attention, broken: [] });
}
