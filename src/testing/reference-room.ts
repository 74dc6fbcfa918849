/**
 * A conversation as a reference model
 * ===================================
 * A second implementation of what surrounds the ladder: credits, who counts as present, who is held
 * by a pending turn, and the guard against loops between bots. Lists and loops, no chart, no rule
 * modules; every rule as docs/guide/engagement.md describes it. The suite compares the runtime with
 * it on generated rooms; you can do the same with your config (`differencesFrom`).
 *
 * It knows one agent and the lines of the room, not the effects of commands or of an agent's tools.
 */
import type { EngagementInput, Membership, Rule, Verdict } from "../domain/decision.ts";
import { limits } from "../domain/limits.ts";
import type { Inbound } from "../domain/message.ts";
import type { ConversationSettings } from "../domain/settings.ts";
import { ReferenceTalks } from "./reference-floor.ts";
import { ownFold, referenceVerdict } from "./reference-ladder.ts";

/** The settings that it uses. */
export type ReferenceSettings = Pick<
  ConversationSettings,
  "engagement" | "everyoneMentions" | "loopGuard"
>;

/** The reference model of one conversation. Times are ms from any start. */
export class ReferenceConversation {
  readonly #settings: ReferenceSettings;
  /** Author to the moment the credit ends. */
  readonly credits = new Map<string, number>();
  /** Everyone who has written, the latest last. */
  readonly speakers = new Map<string, { name: string; isBot: boolean; lastSeenAt: number }>();
  /** Engaged messages that no turn has finished, and their authors. */
  readonly pending = new Map<string, string>();
  /** Threads in which one of our messages was delivered. */
  readonly ownThreads = new Set<string>();
  #started: ReadonlySet<string> = new Set();
  readonly #talks = new ReferenceTalks();
  /** Ids of the latest messages of a group, for replies that name nothing else. */
  #heard: string[] = [];
  /** Turns that bots have caused since the last message of a person. */
  botTurns = 0;
  membership: Membership | null = null;

  constructor(settings: ReferenceSettings) {
    this.#settings = settings;
  }

  /** The expected decision on a message, and its effect on the credits. */
  hear(message: Inbound, at: number): Pick<Verdict, "decision" | "rule" | "credit"> {
    const { author } = message;
    const isBot = author.isBot || this.speakers.get(author.id)?.isBot === true;
    this.speakers.delete(author.id);
    this.speakers.set(author.id, { name: author.name, isBot, lastSeenAt: at });
    const input = this.#input(message, at);
    const verdict = this.#isMuted && isBot ? muted : referenceVerdict(input, this.#talks);
    this.#heard = [...this.#heard, message.id].slice(-heardMax);
    const { decision, rule, credit } = verdict;
    if (message.chat.kind !== "direct") this.#endTalks(at);
    if (credit === "consumed") this.credits.delete(author.id);
    const calls = rule === "mention" || rule === "reply" || rule === "alias";
    if (credit === "slid" || (calls && this.#judgesFloor && message.chat.kind !== "direct"))
      this.credits.set(author.id, at + this.#settings.engagement.stickiness.windowMs);
    if (message.chat.kind !== "direct") this.#noteTalk(message, at, verdict);
    if (!isBot) this.botTurns = 0;
    else if (decision === "engage") this.botTurns += 1;
    if (decision === "engage") this.pending.set(message.id, author.id);
    return { decision, rule, credit };
  }

  /** A part of the answer to `authors` was delivered. */
  delivered(
    answered: readonly string[],
    { thread, at, text }: { readonly thread: string | null; at: number; text: string },
  ): void {
    const { enabled, windowMs } = this.#settings.engagement.stickiness;
    if (thread !== null) this.ownThreads.add(thread);
    if (!enabled) return;
    const folded = ownFold(text);
    const named = this.#judgesFloor ? this.#namedBy(folded) : [];
    const authors = [...answered, ...named];
    for (const author of authors) this.credits.set(author, at + windowMs);
    if (!this.#judgesFloor) return;
    for (const author of new Set(authors))
      if (!this.#talks.holds(author)) this.#talks.begin(author, at);
    this.#talks.answer({ at, authors, named, text: folded });
    this.#endTalks(at);
  }

  get #judgesFloor(): boolean {
    const { enabled, mode } = this.#settings.engagement.stickiness;
    return enabled && mode === "floor";
  }

  /** People whose name the text begins with, as in "Ann: yes". */
  #namedBy(folded: string): string[] {
    return [...this.speakers].flatMap(([id, { name }]) => {
      const called = ownFold(name).trim();
      const isNamed = called !== "" && [":", ","].some((mark) => folded.startsWith(called + mark));
      return isNamed ? id : [];
    });
  }

  #noteTalk(message: Inbound, at: number, { decision, rule }: Pick<Verdict, "decision" | "rule">) {
    if (!this.#judgesFloor) return;
    const { author, mentions, replyTo } = message;
    const parent = replyTo?.authorIsSelf === true ? undefined : replyTo?.authorId;
    const addressed = mentions.flatMap(({ id, isSelf }) => (isSelf === true ? [] : id));
    const addresses = [...new Set([...addressed, ...(parent === undefined ? [] : [parent])])];
    const engaged = decision === "engage";
    const calls = rule === "mention" || rule === "reply" || rule === "alias";
    if (engaged && calls && !this.#talks.holds(author.id)) this.#talks.begin(author.id, at);
    this.#talks.hear({ author: author.id, at, addresses, engaged, calls });
  }

  /** Talks end with the credits. */
  #endTalks(at: number): void {
    for (const author of this.#talks.holders)
      if ((this.credits.get(author) ?? 0) <= at) this.#talks.end(author);
  }

  /** A turn has begun with these messages: where the floor is judged they hold nobody any more. */
  started(ids: readonly string[]): void {
    this.#started = new Set(ids);
  }

  /** A turn ended without a word: who has only called us has no credit by that. */
  stayedSilent(authors: readonly string[]): void {
    for (const author of authors)
      if (this.#judgesFloor && this.#talks.waits(author)) {
        this.credits.delete(author);
        this.#talks.end(author);
      }
  }

  /** A turn has finished these messages, or they were dropped: they hold their authors no more. */
  settled(ids: readonly string[]): void {
    for (const id of ids) this.pending.delete(id);
  }

  #isOthers({ id, authorId, authorIsSelf }: NonNullable<Inbound["replyTo"]>): boolean {
    if (authorIsSelf !== undefined) return !authorIsSelf;
    return authorId !== undefined || this.#heard.includes(id);
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
        text: ownText(message.text),
        authorId: author.id,
        authorIsBot: this.speakers.get(author.id)?.isBot === true,
        isDirect: chat.kind === "direct",
        inThread: thread !== null,
        inBroadcast: chat.kind === "channel",
        mentionsSelf: self,
        mentionsOthers: !self && mentions.length > 0,
        repliesToSelf: replyTo?.authorIsSelf === true,
        repliesToOther: replyTo !== null && this.#isOthers(replyTo),
        explicitOnly: message.explicitOnly,
      },
      rules: this.#settings.engagement,
      room: {
        participants: [...this.speakers].map(([id, speaker]) => ({ id, ...speaker })),
        membership: this.membership,
        botInThread: thread !== null && this.ownThreads.has(thread.id),
      },
      credits: Object.fromEntries(this.credits),
      held: [...this.pending].flatMap(([id, author]) =>
        this.#judgesFloor && this.#started.has(id) ? [] : author,
      ),
      now,
    };
  }
}

const heardMax = limits.heardMessagesCountMax;
const muted = { decision: "observe", rule: "loop-guard" satisfies Rule, credit: "none" } as const;

/** Text without quoted lines and links, which call nobody. */
const ownText = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith(">"))
    .join("\n")
    .replace(/[a-z0-9+.-]*:\/\/\S*/giu, " ");
