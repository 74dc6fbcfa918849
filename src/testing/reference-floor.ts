/**
 * The floor as a reference model
 * ==============================
 * A second implementation of what stickiness mode "floor" judges by: all lines and answers are kept,
 * and each fact is counted from them each time (docs/guide/engagement.md). Only the table of weights is
 * the runtime's own.
 */
import { limits } from "../domain/limits.ts";
import { floorWeights } from "../machines/engagement/floor-weights.ts";
import { hashesOf, wordsOfLine } from "../machines/engagement/floor-words.ts";

interface TalkLine {
  readonly author: string;
  readonly at: number;
  readonly addresses: readonly string[];
  readonly engaged: boolean;
  readonly calls: boolean;
}
interface TalkAnswer {
  readonly at: number;
  readonly authors: readonly string[];
  readonly named: readonly string[];
  readonly text: string;
}
/** A talk begins when somebody gets a credit, and is forgotten with the credit. */
interface TalkBegin {
  readonly begins: string;
  readonly at: number;
}

/** The line that is judged. */
export interface JudgedLine {
  readonly author: string;
  readonly at: number;
  /** Without quoted lines and links; folded. */
  readonly folded: string;
  /** UTF-16 units of it. */
  readonly length: number;
  readonly hasName: boolean;
  readonly namesOther: boolean;
}

/** Everything that was said in a room, as far as talks go. */
export class ReferenceTalks {
  readonly #said: (TalkLine | TalkAnswer | TalkBegin)[] = [];
  /** How much had been said when a talk ended, by author. */
  readonly #ended = new Map<string, number>();

  hear(line: TalkLine): void {
    this.#said.push(line);
  }

  answer(answer: TalkAnswer): void {
    this.#said.push(answer);
  }

  /** A credit began where there was none; nothing before it counts. */
  begin(author: string, at: number): void {
    this.#said.push({ begins: author, at });
  }

  #beginOf(author: string): number {
    return this.#said.findLastIndex((one) => "begins" in one && one.begins === author);
  }

  /** Their last answer, or where their talk began. */
  #sinceOf(author: string): number {
    const begin = this.#beginOf(author);
    const answer = this.#said.findLastIndex((one) => "text" in one && one.authors.includes(author));
    return Math.max(begin, answer);
  }

  /** Parts of the last answer to them: nothing was said between these. */
  #partsOf(author: string): TalkAnswer[] {
    const parts: TalkAnswer[] = [];
    for (const one of this.#said.slice(0, this.#sinceOf(author) + 1).reverse()) {
      if (!("text" in one)) break;
      if (one.authors.includes(author)) parts.push(one);
    }
    return parts;
  }

  #exchangesOf(author: string, talk: readonly (TalkLine | TalkAnswer | TalkBegin)[]): number {
    let count = 0;
    let spoke = true;
    for (const one of talk) {
      if ("addresses" in one && one.author === author) spoke = true;
      if (!("text" in one) || !one.authors.includes(author)) continue;
      if (spoke) count += 1;
      spoke = false;
    }
    return count;
  }

  #facts({ author, at, folded, length, hasName, namesOther }: JudgedLine) {
    const talk = this.#said.slice(Math.max(0, this.#beginOf(author)));
    const parts = this.#partsOf(author);
    const start = this.#said[this.#sinceOf(author)];
    const startedAt = start?.at ?? at;
    const answered = start !== undefined && "text" in start;
    const heard = talk.flatMap((one) => ("addresses" in one ? one : []));
    const since = this.#said
      .slice(this.#sinceOf(author) + 1)
      .flatMap((one) => ("addresses" in one ? one : []));
    const mine = heard.filter((line) => line.author === author);
    const own = since.filter((line) => line.author === author);
    const others = since.filter((line) => line.author !== author);
    const isAddress = (line: TalkLine) => line.author !== author && line.addresses.includes(author);
    const addressedAt = heard.findLast(isAddress)?.at;
    const within = (seconds: number) =>
      addressedAt !== undefined && at - addressedAt < seconds * 1000 ? 1 : 0;
    const last = mine.at(-1);
    const soon = last !== undefined && at - last.at < 25_000;
    const first = answered && own.length === 0;
    const elsewhere = (line: TalkLine) => !line.engaged && line.addresses.length > 0;
    const calls = mine.filter((line) => line.engaged && line.calls).length;
    const plain = mine.filter((line) => line.engaged && !line.calls).length;
    const spoken = this.#said.findLast((one) => "text" in one)?.at ?? startedAt;
    const seconds = (from: number) => Math.max(0, at - from) / 1000;
    const words = wordsOfLine(folded);
    const ours = [...new Set(parts.flatMap(({ text }) => hashesOf(text)))];
    const known = ours.slice(0, limits.floorWordsMax);
    return {
      first: first ? 1 : 0,
      waiting: answered ? 0 : 1,
      othersFirst: first ? Math.log1p(others.length) : 0,
      othersLater: first ? 0 : Math.log1p(others.length),
      addressedMinute: within(60),
      addressedFive: within(300),
      addressed: Math.min(3, since.filter(isAddress).length),
      quiet: Math.log1p(Math.min(900, seconds(spoken))),
      pace: Math.min(30, length / (Math.max(3, seconds(startedAt)) + 0.5)) / 10,
      own: Math.min(4, own.length),
      elsewhere: Math.min(3, own.filter(elsewhere).length),
      lastEngaged: last?.engaged === true ? 1 : 0,
      lastElsewhere: last !== undefined && elsewhere(last) ? 1 : 0,
      soon: soon ? 1 : 0,
      flow: soon && last.engaged ? 1 : 0,
      exchanges: Math.min(4, this.#exchangesOf(author, talk)),
      habit: (calls + 1) / (calls + plain + 2),
      asked: first && (parts[0]?.text.trimEnd().endsWith("?") ?? false) ? 1 : 0,
      named: parts.some(({ named }) => named.includes(author)) ? 1 : 0,
      shared: Math.min(3, words.hashes.filter((hash) => known.includes(hash)).length),
      name: hasName ? 1 : 0,
      namesOther: namesOther ? 1 : 0,
      acknowledges: words.acknowledges ? 1 : 0,
      thanks: words.thanks ? 1 : 0,
      saysYou: words.saysYou ? 1 : 0,
      callsAll: words.callsAll ? 1 : 0,
      talks: Math.min(4, this.#talksBeside(author, at)),
      question: words.asks ? 1 : 0,
    };
  }

  /** A credit ended. */
  end(author: string): void {
    this.#ended.set(author, this.#said.length);
  }

  #talksBeside(author: string, at: number): number {
    return this.holders.filter(
      (other) => other !== author && at - (this.#said[this.#sinceOf(other)]?.at ?? 0) < 300_000,
    ).length;
  }

  /** Whether there is one with them, without an answer so far. */
  waits(author: string): boolean {
    return this.holds(author) && this.#sinceOf(author) === this.#beginOf(author);
  }

  /** Whether there is one with them now. */
  holds(author: string): boolean {
    const begin = this.#beginOf(author);
    return begin !== -1 && (this.#ended.get(author) ?? 0) <= begin;
  }

  /** Those whose talks have not ended. */
  get holders(): string[] {
    const begun = new Set(this.#said.flatMap((one) => ("begins" in one ? one.begins : [])));
    return [...begun].filter((author) => this.holds(author));
  }

  /** How sure it is that the line goes on with our talk, 0 to 1. */
  probability(line: JudgedLine): number {
    const facts: Record<string, number> = { start: 1, ...this.#facts(line) };
    let sum = 0;
    for (const [name, weight] of Object.entries(floorWeights.weights))
      sum += weight * (facts[name] ?? 0);
    return 1 / (1 + Math.exp(-sum));
  }
}
