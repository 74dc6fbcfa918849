/**
 * Words that stop a turn
 * ======================
 * A person who may give commands ends their running turn with one word, ahead of every queue. Only
 * the whole message counts, never a word inside it: "please stop" and "Stop!" are commands, "please
 * stop the music" is talk.
 */
import { fold } from "../../domain/fold-text.ts";
import type { Inbound } from "../../domain/message.ts";
import { stopLanguages } from "../../domain/stop-words.ts";

const commands: readonly string[] = ["/stop", "/abort"];
/** A command and a name, or a word of the config with what is polite. */
const unitsMax = 128;
const accents = /[\u0300-\u036f]/gu;
/** What ends a sentence or stands for a feeling; nothing that quotes, lists or begins a command. */
const marks = /(?:[\s.,!?…;:¡¿。、，！？؟،।'’]|\p{Extended_Pictographic}|\uFE0F)+/gu;
/** Scripts that put no space between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The words alone: without case, accents and punctuation. */
const plain = (text: string): string =>
  fold(fold(text).normalize("NFD").replace(accents, "")).replace(marks, " ").trim();

const polite = Object.values(stopLanguages)
  .flatMap((language) => language.polite)
  .map((words) => ({ words: plain(words), gap: unspaced.test(words) ? "" : " " }));

/** The words of the config, and the first word of each of them and of each polite one. */
interface Listed {
  readonly all: ReadonlySet<string>;
  readonly first: ReadonlySet<string>;
}

/** The config has one list until the next config. */
const listedWords = new WeakMap<readonly string[], Listed>();

function listedIn(stopWords: readonly string[]): Listed {
  const known = listedWords.get(stopWords);
  if (known !== undefined) return known;
  const all = new Set(stopWords.map(plain));
  const starts = [...all, ...polite.map(({ words }) => words)];
  const words = { all, first: new Set(starts.map((start) => start.split(" ", 1)[0] ?? "")) };
  listedWords.set(stopWords, words);
  return words;
}

/** A first word of ASCII without marks, which nothing but lower-casing changes. Most talk begins with one. */
const asciiStart = /^[\s.,!?;:']*(["-&(-+\-/-9<->@-~]+)(?=[\s.,!?;:']|$)/u;

/** Whether it cannot be one of the words, as seen by its first word alone. */
function beginsOtherwise(text: string, { first }: Listed): boolean {
  const word = asciiStart.exec(text)?.[1];
  return word !== undefined && !first.has(word.toLowerCase());
}

/**
 * Whether a message is nothing but the order to stop: a command, or one of the words of the config.
 * `/stop@name` counts where the name is ours.
 */
export function isAbortWord(
  { text, attachments, mentions }: Inbound,
  stopWords: readonly string[],
): boolean {
  const said = text.trim();
  if (said.length > unitsMax || attachments.length > 0) return false;
  const word = said.toLowerCase();
  const at = word.startsWith("/") ? word.indexOf("@") : -1;
  if (at !== -1)
    return commands.includes(word.slice(0, at)) && mentions.some(({ isSelf }) => isSelf === true);
  return commands.includes(word) || saysStop(said, stopWords);
}

/** Whether a text is one of the words, whatever case, punctuation and polite words it has. */
export function saysStop(text: string, stopWords: readonly string[]): boolean {
  if (text.length > unitsMax) return false;
  const listed = listedIn(stopWords);
  if (beginsOtherwise(text, listed)) return false;
  let said: string | null = plain(text);
  while (said !== null && said !== "") {
    if (listed.all.has(said)) return true;
    said = withoutPolite(said);
  }
  return false;
}

/** The text without one polite word at its start or end; null: there is none. */
function withoutPolite(said: string): string | null {
  for (const { words, gap } of polite) {
    if (said.startsWith(words + gap)) return said.slice(words.length).trim();
    if (said.endsWith(gap + words)) return said.slice(0, -words.length).trim();
  }
  return null;
}
