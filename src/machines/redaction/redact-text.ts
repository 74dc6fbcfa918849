/**
 * Words, names and numbers are replaced by pseudonyms; spaces, punctuation, emoji and lengths stay. What
 * decides by its very letters is kept: names of ours, words that stop or reset, commands of the
 * table with the words they know, the silent token. Names of other bots are replaced alike wherever
 * they are, inside other words too, because that is how they are looked for.
 */
import { agentOf, type EarshotConfig, namesInRooms } from "../../domain/config/index.ts";
import { claimIn } from "../access/codes.ts";
import { saysStop } from "../commands/abort-words.ts";
import { commandList, commandNamed } from "../commands/table.ts";
import { floorWords } from "../engagement/floor-words.ts";
import { lowered, Pseudonyms } from "./pseudonyms.ts";

/** A run of what is replaced as one. */
const wordRun = /[\p{L}\p{N}\p{M}]+/gu;
const command = /(?<![^\s])\/([a-z][a-z_-]{0,31})/giu;
/** As a simulated platform names what it was sent. */
const simulated = /^sent-\d+$/u;
/** Names shorter than this are looked for as whole words only. */
const partUnitsMin = 3;
const botsMax = 1_000;

/** Words that commands know: levels, modes, verbs. Kept only beside a command. */
const commandWords: ReadonlySet<string> = new Set(
  (
    "on off full ask stream minimal low medium high xhigh max ladder mention always inherit " +
    "default allow deny collect followup queue steer backlog interrupt debounce cap drop old new " +
    "summarize show get set unset reset add remove list once session status audio tagged"
  ).split(" "),
);
/** What lines begin with and say when they go on with a talk: decisions depend on it. */
const keptWords: ReadonlySet<string> = new Set(floorWords);
const commandNames: ReadonlySet<string> = new Set(
  commandList.flatMap(([name, { aliases }]) => [name, ...aliases]),
);

interface Range {
  readonly from: number;
  readonly to: number;
  /** The replacement; null: the original text. */
  readonly as: string | null;
}

export class TextRedactor {
  readonly #words: Pseudonyms;
  /** Left as they are everywhere; lower case. */
  readonly #plainNames: readonly string[];
  /** Kept where they are all that is said, or what is said first. */
  readonly #orders: readonly string[];
  readonly #stopWords: readonly string[];
  readonly #bots = new Map<string, string>();
  readonly #taken: ReadonlySet<string>;

  /** `key`: the same key gives the same pseudonyms. */
  constructor(key: string, config: EarshotConfig) {
    const { list } = config.agents;
    const ofAgents = list.flatMap(({ id }) => agentOf(config, id).aliases);
    const aliases = [...ofAgents, ...namesInRooms(config)];
    const silent = [config.silent.token, ...list.flatMap((agent) => agent.silent?.token ?? [])];
    this.#plainNames = [...new Set([...aliases, ...silent].map(lowered))].filter(
      (name) => name !== "",
    );
    this.#stopWords = config.commands.stopWords;
    this.#orders = [...config.commands.stopWords, ...config.session.resetTriggers].map(lowered);
    this.#taken = new Set([...this.#plainNames, ...this.#orders, ...commandNames, ...keptWords]);
    this.#words = new Pseudonyms(key, (word) => this.#isTaken(word));
  }

  /** A name of another bot: replaced alike inside other words from now on. */
  noteBot(name: string): void {
    if (this.#bots.size >= botsMax) return;
    const whole = lowered(name).trim();
    for (const part of [whole, ...(whole.match(wordRun) ?? [])]) {
      const known = this.#bots.has(part) || this.#plainNames.some((kept) => part.includes(kept));
      if (part.length >= partUnitsMin && !known) this.#bots.set(part, this.#plain(part));
    }
  }

  /** An id: every run of letters and digits is replaced, whatever it says. */
  id(id: string): string {
    return simulated.test(id) ? id : this.#plain(id);
  }

  text(text: string): string {
    const lower = lowered(text);
    if (saysStop(text, this.#stopWords)) return text;
    // A claim stays one: good or not is a question of its code alone.
    const claim = claimIn(text);
    if (claim !== null) return this.#claim(claim);
    const ranges = this.#ranges(text, lower);
    let out = "";
    let at = 0;
    const isOrder = isCommand(text);
    for (const { from, to, as } of ranges) {
      if (from < at) continue;
      out += this.#between(text.slice(at, from), isOrder) + (as ?? text.slice(from, to));
      at = to;
    }
    return out + this.#between(text.slice(at), isOrder);
  }

  #claim(code: string): string {
    const [, ...groups] = code.split("-");
    return ["claim", ...groups.map((group) => this.#plain(group))].join("-");
  }

  #between(text: string, isOrder: boolean): string {
    return text.replaceAll(wordRun, (word) =>
      keptWords.has(word.toLowerCase()) ||
      (isOrder && (commandWords.has(word.toLowerCase()) || /^\d/u.test(word)))
        ? word
        : this.#words.word(word),
    );
  }

  #plain(text: string): string {
    return text.replaceAll(wordRun, (word) => this.#words.word(word));
  }

  /** What is not replaced word by word, in order, the longest first where several begin. */
  #ranges(text: string, lower: string): Range[] {
    const ranges: Range[] = [];
    for (const name of this.#plainNames)
      for (const from of places(lower, name))
        ranges.push({ from, to: from + name.length, as: null });
    for (const [name, as] of this.#bots)
      for (const from of places(lower, name)) ranges.push({ from, to: from + name.length, as });
    const start = text.length - text.trimStart().length;
    for (const order of this.#orders)
      if (lower.startsWith(order, start))
        ranges.push({ from: start, to: start + order.length, as: null });
    for (const found of text.matchAll(command))
      if (commandNamed(found[1] ?? "") !== undefined)
        ranges.push({ from: found.index, to: found.index + found[0].length, as: null });
    return ranges.sort((a, b) => a.from - b.from || b.to - a.to);
  }

  #isTaken(word: string): boolean {
    if (this.#taken.has(word)) return true;
    for (const name of this.#plainNames) if (word.includes(name)) return true;
    for (const as of this.#bots.values()) if (as.length >= 4 && word.includes(as)) return true;
    return false;
  }
}

function* places(text: string, name: string): Generator<number> {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + name.length)) yield at;
}

/** Whether it contains a command of the table. */
const isCommand = (text: string): boolean =>
  text.includes("/") &&
  [...text.matchAll(command)].some(([, word = ""]) => commandNamed(word) !== undefined);
