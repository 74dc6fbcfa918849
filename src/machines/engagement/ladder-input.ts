/**
 * One case before the ladder
 * ==========================
 * The input of one decision with what several rungs ask of it (the folded text, the head count,
 * whether the author is credited), each worked out at most once and only when a rung gets that far.
 * A case lives for one decision and is never kept.
 */
import type { EngagementInput, Participant, Trigger } from "../../domain/decision.ts";
import { emptyFloors, floorThreshold } from "../../domain/floor.ts";
import { containsFolded, containsFoldedWord, fold } from "../../domain/fold-text.ts";
import { limits } from "../../domain/limits.ts";
import { countTalks, rowOf, unknownFloor } from "./floor.ts";
import { type FloorCase, floorProbability } from "./floor-facts.ts";
import { wordsOfLine } from "./floor-words.ts";
import { countHumans, hasSeveralHumans, isFreshAndComplete } from "./humans.ts";
import { holdsCredit } from "./sticky.ts";

/** How an author is credited: by a row of the ledger, by a turn that is still under way, or not. */
export type CreditState = "live" | "held" | "none";

/** Code points. Names this short match as whole words only: other words contain them by chance. */
const wholeWordCharsMax = 2;
/** Scripts that put no space between a name and what follows it ("토토야", "小白在吗"). */
const unspaced = /^[\p{scx=Hangul}\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}]+$/u;

/** UTF-16 units. Shorter names of people are words by chance too often. */
const otherNameUnitsMin = 3;

/** A participant's name as it is compared. */
interface ComparedName {
  readonly folded: string;
  /** It is looked for inside words, too. */
  readonly inWords: boolean;
}
const comparedNames = new WeakMap<Participant, ComparedName>();

/** The record of one who is silent stays the same object, so each name is folded once. */
function nameOf(participant: Participant): ComparedName {
  const known = comparedNames.get(participant);
  if (known !== undefined) return known;
  const folded = fold(participant.name.slice(0, limits.labelUnitsMax)).trim();
  const name = { folded, inWords: matchesInWords(folded) };
  comparedNames.set(participant, name);
  return name;
}

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
  const folded = foldAliases(aliases);
  for (let index = 0; index < folded.length; index += 1)
    if (containsFolded(foldedText, folded[index] as string)) return index;
  return -1;
}

/** Whether a folded name is looked for inside words, too. */
function matchesInWords(folded: string): boolean {
  // A code point is at most two units, so longer names need not be counted.
  if (folded.length > 2 * wholeWordCharsMax) return true;
  return [...folded].length > wholeWordCharsMax || unspaced.test(folded);
}

/** The first four words of a text: where somebody is addressed together with others. */
const head = /^\s*(?:\S+\s+){0,3}\S*/;
const headOf = (text: string) => head.exec(text)?.[0] ?? "";

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
  #several: boolean | undefined;
  #alias: number | undefined;
  #peer: string | null | undefined;
  #credit: CreditState | undefined;
  #probability: number | undefined;

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

  /** Whether more than one human is effectively here. */
  get severalHumans(): boolean {
    const { room, rules, message, now } = this.input;
    this.#several ??=
      this.#humans < 0 ? hasSeveralHumans(room, rules, now, message.authorId) : this.#humans > 1;
    return this.#several;
  }

  get multiHumanGroup(): boolean {
    return !this.input.message.isDirect && this.severalHumans;
  }

  /** Whether the author is in the middle of a conversation with us. */
  get credit(): CreditState {
    this.#credit ??= this.#findCredit();
    return this.#credit;
  }

  #findCredit(): CreditState {
    const { rules, message, credits, held, now } = this.input;
    if (!rules.stickiness.enabled) return "none";
    const isHeld = rules.stickiness.holdDuringTurn && held.includes(message.authorId);
    if (isHeld && this.judgesFloor) return "held";
    if (holdsCredit(credits, message.authorId, now)) return "live";
    return isHeld ? "held" : "none";
  }

  /** Index of the first alias in the text, or -1. */
  get alias(): number {
    const { aliases } = this.input.rules;
    this.#alias ??= aliases.length === 0 ? -1 : this.#findAlias(aliases);
    return this.#alias;
  }

  /** Where the floor is judged, a name inside another word ("ud" in "sudo") is no call. */
  #findAlias(aliases: readonly string[]): number {
    if (!this.judgesFloor) return aliasIn(this.#folded(), aliases);
    const { mentionsOthers } = this.input.message;
    const text = mentionsOthers ? headOf(this.#folded()) : this.#folded();
    return foldAliases(aliases).findIndex((alias) =>
      unspaced.test(alias) ? containsFolded(text, alias) : containsFoldedWord(text, alias),
    );
  }

  /** A credit alone does not engage: facts have to say that the author still talks with us. */
  get judgesFloor(): boolean {
    const { mode, enabled } = this.input.rules.stickiness;
    return mode === "floor" && enabled;
  }

  /** How sure to be that a line goes on with our talk. */
  get threshold(): number {
    return this.input.rules.stickiness.threshold ?? floorThreshold;
  }

  /** How sure we are; 1 where the floor is not judged: who adds to a message is not asked again. */
  get probability(): number {
    const isJudged = this.judgesFloor && this.credit !== "held";
    this.#probability ??= isJudged ? floorProbability(this.floorCase("")) : 1;
    return this.#probability;
  }

  /** The line before the floor. @param who its author, as facts name them */
  floorCase(who: string): FloorCase {
    const { message, credits, floors = emptyFloors, rules, now } = this.input;
    const endsAt = credits[message.authorId] ?? now;
    const known = rowOf(floors.rows, message.authorId);
    const row = known ?? unknownFloor(floors, endsAt - rules.stickiness.windowMs);
    return {
      row,
      who,
      now,
      others: Math.max(0, floors.heard - row.heard - row.own),
      talks: countTalks(floors, message.authorId, now),
      spokeAt: floors.spokeAt === 0 ? row.since : floors.spokeAt,
      length: message.text.length,
      namesOther: this.#namesSomebody(),
      hasName: this.alias !== -1,
      words: wordsOfLine(this.#folded()),
    };
  }

  /** Name of the first peer bot in the text, as it was observed, or null. */
  get peer(): string | null {
    if (this.#peer === undefined) this.#peer = this.#findPeer();
    return this.#peer;
  }

  #findPeer(): string | null {
    const { room, message } = this.input;
    for (const participant of room.participants) {
      if (!participant.isBot || participant.id === message.authorId) continue;
      const { folded, inWords } = nameOf(participant);
      const contained = inWords
        ? containsFolded(this.#folded(), folded)
        : containsFoldedWord(this.#folded(), folded);
      if (contained) return participant.name;
    }
    return null;
  }

  /** Contains the name of somebody else here, as a word. */
  #namesSomebody(): boolean {
    const { room, message } = this.input;
    const text = this.#folded();
    return room.participants.some((one) => {
      if (one.id === message.authorId) return false;
      const { folded } = nameOf(one);
      return folded.length >= otherNameUnitsMin && containsFoldedWord(text, folded);
    });
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
