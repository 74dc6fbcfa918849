/**
 * A conversation, said plainly
 * ============================
 * A second account of what surrounds the ladder: credits, who counts as here, who is held by a
 * pending turn, and the guard against bots in circles. Lists and loops, no chart, no rule modules;
 * every rule as docs/guide/engagement.md says it. The suite holds the runtime against it on
 * generated rooms; with a config of yours, so may you (`differencesFrom`).
 *
 * It knows one agent and what the room's lines show: not what commands change, and not what an
 * agent does with its tools.
 */
import type { EngagementInput, Membership, Rule, Verdict } from "../domain/decision.ts";
import type { Inbound } from "../domain/message.ts";
import type { ConversationSettings } from "../domain/settings.ts";
import { referenceVerdict } from "./reference-ladder.ts";

/** What of a conversation's settings it goes by. */
export type ReferenceSettings = Pick<
  ConversationSettings,
  "engagement" | "everyoneMentions" | "loopGuard"
>;

/** The reference model of one conversation. Times are ms, from whatever moment the caller likes. */
export class ReferenceConversation {
  readonly #settings: ReferenceSettings;
  /** Author to the moment the credit ends. */
  readonly credits = new Map<string, number>();
  /** Everyone who has spoken, the latest last. */
  readonly speakers = new Map<string, { name: string; isBot: boolean; lastSeenAt: number }>();
  /** Engaged messages that no turn has done with yet, and their authors. */
  readonly pending = new Map<string, string>();
  /** Threads in which something of ours was delivered. */
  readonly spokenIn = new Set<string>();
  /** Turns that bots have caused since a person spoke. */
  botTurns = 0;
  membership: Membership | null = null;

  constructor(settings: ReferenceSettings) {
    this.#settings = settings;
  }

  /** What a message should come to, and what it does to the credits. */
  hear(message: Inbound, at: number): Pick<Verdict, "decision" | "rule" | "credit"> {
    const { author } = message;
    const isBot = author.isBot || this.speakers.get(author.id)?.isBot === true;
    this.speakers.delete(author.id);
    this.speakers.set(author.id, { name: author.name, isBot, lastSeenAt: at });
    const verdict = this.#isMuted && isBot ? muted : referenceVerdict(this.#input(message, at));
    const { decision, rule, credit } = verdict;
    if (credit === "consumed") this.credits.delete(author.id);
    if (credit === "slid")
      this.credits.set(author.id, at + this.#settings.engagement.stickiness.windowMs);
    if (!isBot) this.botTurns = 0;
    else if (decision === "engage") this.botTurns += 1;
    if (decision === "engage") this.pending.set(message.id, author.id);
    return { decision, rule, credit };
  }

  /** A part of the answer to `authors` has reached the room. */
  delivered(authors: readonly string[], thread: string | null, at: number): void {
    const { enabled, windowMs } = this.#settings.engagement.stickiness;
    if (thread !== null) this.spokenIn.add(thread);
    if (enabled) for (const author of authors) this.credits.set(author, at + windowMs);
  }

  /** A turn is done with these messages, or they were dropped: they hold their authors no more. */
  settled(ids: readonly string[]): void {
    for (const id of ids) this.pending.delete(id);
  }

  get #isMuted(): boolean {
    const { hardLimit } = this.#settings.loopGuard;
    return hardLimit > 0 && this.botTurns >= hardLimit;
  }

  #input(message: Inbound, now: number): EngagementInput {
    const { author, chat, mentions, replyTo, thread } = message;
    const self =
      mentions.some(({ isSelf }) => isSelf) ||
      (message.mentionsEveryone && this.#settings.everyoneMentions);
    return {
      message: {
        text: ownWords(message.text),
        authorId: author.id,
        authorIsBot: this.speakers.get(author.id)?.isBot === true,
        isDirect: chat.kind === "direct",
        inThread: thread !== null,
        mentionsSelf: self,
        mentionsOthers: !self && mentions.length > 0,
        repliesToSelf: replyTo?.authorIsSelf === true,
        repliesToOther: replyTo?.authorIsSelf === false,
        explicitOnly: message.explicitOnly,
      },
      rules: this.#settings.engagement,
      room: {
        participants: [...this.speakers].map(([id, who]) => ({ id, ...who })),
        membership: this.membership,
        botInThread: thread !== null && this.spokenIn.has(thread.id),
      },
      credits: Object.fromEntries(this.credits),
      held: [...this.pending.values()],
      now,
    };
  }
}

const muted = { decision: "observe", rule: "loop-guard" satisfies Rule, credit: "none" } as const;

/** Quoted lines and links are nobody's call. */
const ownWords = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith(">"))
    .join("\n")
    .replace(/[a-z0-9+.-]*:\/\/\S*/giu, " ");
