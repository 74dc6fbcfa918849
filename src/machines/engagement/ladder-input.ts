/**
 * One case before the ladder
 * ==========================
 * The input of one decision with what several rungs ask of it (the folded text, the head count,
 * whether the author is credited), each worked out at most once and only when a rung gets that far.
 * A case lives for one decision and is never kept.
 */
import type { EngagementInput, Trigger } from "../../domain/decision.ts";
import { containsFolded, containsFoldedWord, fold } from "../../domain/fold-text.ts";
import { limits } from "../../domain/limits.ts";
import { countHumans, isFreshAndComplete, isMultiHumanGroup } from "./humans.ts";
import { holdsCredit } from "./sticky.ts";

/** How an author is credited: by a row of the ledger, by a turn that is still under way, or not. */
export type CreditState = "live" | "held" | "none";

/** Code points. Names this short match as whole words only: other words contain them by chance. */
const wholeWordCharsMax = 2;
/** Scripts that put no space between a name and what follows it ("토토야", "小白在吗"). */
const unspaced = /^[\p{scx=Hangul}\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}]+$/u;

const foldedAliases = new WeakMap<readonly string[], readonly string[]>();

/**
 * The aliases as they are compared. Config arrays live long and are shared, so each is folded once.
 */
function foldAliases(aliases: readonly string[]): readonly string[] {
  const known = foldedAliases.get(aliases);
  if (known !== undefined) return known;
  const folded = aliases.map((alias) => (alias.trim() === "" ? "" : fold(alias)));
  foldedAliases.set(aliases, folded);
  return folded;
}

/** Index of the first alias that a folded text contains, or -1. */
export function aliasIn(foldedText: string, aliases: readonly string[]): number {
  if (aliases.length === 0) return -1;
  return foldAliases(aliases).findIndex((alias) => containsFolded(foldedText, alias));
}

/** Whether a folded name is looked for inside words, too. */
function matchesInWords(folded: string): boolean {
  // A code point is at most two units, so longer names need not be counted.
  if (folded.length > 2 * wholeWordCharsMax) return true;
  return [...folded].length > wholeWordCharsMax || unspaced.test(folded);
}

export class LadderCase {
  readonly input: EngagementInput;
  /** Sticky, alias and always are off where only rule 1 and solo-human may engage. */
  readonly explicitOnly: boolean;
  /** Sticky and solo-human are off: a post in a broadcast channel is for its readers. */
  readonly calledOnly: boolean;
  /** No rung is switched off for this message. */
  readonly unrestricted: boolean;
  #text: string | undefined;
  #humans = -1;
  #alias: number | undefined;
  #peer: string | null | undefined;
  #credit: CreditState | undefined;

  constructor(input: EngagementInput) {
    this.input = input;
    this.explicitOnly = input.message.explicitOnly === true;
    this.calledOnly = input.message.inBroadcast === true && input.rules.broadcasts !== "ladder";
    this.unrestricted =
      !this.explicitOnly && !this.calledOnly && input.rules.activation === "ladder";
  }

  triggers(trigger: Trigger): boolean {
    return this.input.rules.trigger.includes(trigger);
  }

  /** It calls others of the agents that hear it, and not us: then nothing else counts. */
  get calledOthers(): boolean {
    return this.input.message.namesOnly !== undefined;
  }

  /** Effective humans of the room. */
  get humans(): number {
    if (this.#humans < 0) {
      const { room, rules, message, now } = this.input;
      this.#humans = countHumans(room, rules, now, message.authorId);
    }
    return this.#humans;
  }

  get multiHumanGroup(): boolean {
    return isMultiHumanGroup(this.input.message.isDirect, this.humans);
  }

  /** Whether the author is in the middle of a conversation with us. */
  get credit(): CreditState {
    this.#credit ??= this.#findCredit();
    return this.#credit;
  }

  #findCredit(): CreditState {
    const { rules, message, credits, held, now } = this.input;
    if (!rules.stickiness.enabled) return "none";
    if (holdsCredit(credits, message.authorId, now)) return "live";
    return rules.stickiness.holdDuringTurn && held.includes(message.authorId) ? "held" : "none";
  }

  /** Index of the first alias in the text, or -1. */
  get alias(): number {
    const { aliases } = this.input.rules;
    this.#alias ??= aliases.length === 0 ? -1 : aliasIn(this.#folded(), aliases);
    return this.#alias;
  }

  /** Name of the first peer bot in the text, as it was observed, or null. */
  get peer(): string | null {
    if (this.#peer === undefined) this.#peer = this.#findPeer();
    return this.#peer;
  }

  #findPeer(): string | null {
    const { room, message } = this.input;
    for (const { isBot, id, name } of room.participants) {
      if (!isBot || id === message.authorId) continue;
      const folded = fold(name.slice(0, limits.labelUnitsMax)).trim();
      const contained = matchesInWords(folded)
        ? containsFolded(this.#folded(), folded)
        : containsFoldedWord(this.#folded(), folded);
      if (contained) return name;
    }
    return null;
  }

  /** Replies to someone else's message where we are not part of the talk. */
  get repliesElsewhere(): boolean {
    return this.input.message.repliesToOther && !this.input.room.botInThread;
  }

  /** Structurally aimed at someone else; `null`: at nobody else. */
  get aim(): "mention" | "reply" | "name" | null {
    if (this.input.message.mentionsOthers) return "mention";
    if (this.repliesElsewhere) return "reply";
    return this.peer === null ? null : "name";
  }

  /** A fresh and whole member read says that at most one human is here. */
  get knownSolo(): boolean {
    const { room, rules, now } = this.input;
    const { membership } = room;
    return (
      membership !== null && membership.humans <= 1 && isFreshAndComplete(membership, rules, now)
    );
  }

  #folded(): string {
    this.#text ??= fold(this.input.message.text.slice(0, limits.matchUnitsMax));
    return this.#text;
  }
}
