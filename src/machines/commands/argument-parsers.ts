/**
 * The forms that the words after a command may have. Each turns what was written into what a handler
 * expects (one spelling for each value) or refuses it.
 */
import { z } from "zod";
import { type ExecSettings, execAskModes, execSecurities } from "../../domain/permission.ts";

type Words = z.ZodType<readonly string[], readonly string[]>;
type Word = z.ZodType<string, string>;

const wordUnitsMax = 512;

/** None. */
export const nothing: Words = z.tuple([]);

/** Any one word. */
export const word: Word = z.string().min(1).max(wordUnitsMax);

/** One word of this form. */
export const path = (form: RegExp): Word => z.string().max(wordUnitsMax).regex(form);

/** Longer text after a command is no command. */
export const freeTextUnitsMax = 8_000;
/** Text as it was written. */
export const freeText: Words = z.tuple([z.string().min(1).max(freeTextUnitsMax)]);

/** One of these words in any case; `also`: other spellings of them. */
export function choice(
  values: readonly string[],
  also: Readonly<Record<string, string>> = {},
): Word {
  return z
    .string()
    .max(wordUnitsMax)
    .transform((given) => {
      const lower = given.toLowerCase();
      return Object.hasOwn(also, lower) ? (also[lower] as string) : lower;
    })
    .refine((value) => values.includes(value));
}

/** This word, or none. */
export const maybe = (one: Word): Words => z.union([z.tuple([one]), z.tuple([])]);

/** Names with dots. */
const place = path(/^[\w.@:+-]{1,256}$/u);
const value = z.array(word).min(1).max(64);

/** `show PATH`, `set PATH VALUE` and so on. */
export const verbAndPath: Words = z.union([
  z.tuple([choice(["show", "undo"])]),
  z.tuple([choice(["show", "get", "unset"]), place]),
  z
    .tuple([choice(["set"]), place], word)
    .refine((words) => value.safeParse(words.slice(2)).success),
]);

/** The same for what is forgotten at a restart. */
export const debugWords: Words = z.union([
  maybe(choice(["show", "reset"])),
  z.tuple([choice(["unset"]), place]),
  z
    .tuple([choice(["set"]), place], word)
    .refine((words) => value.safeParse(words.slice(2)).success),
]);

/** The short id of a question, and what is answered. */
const shortId = path(/^[0-9a-z]{2,16}$/iu);
export const approveWords: Words = z.union([
  z.tuple([]),
  z.tuple([shortId]),
  z.tuple([shortId, choice(["once", "always", "deny"])]),
]);

/** `add ID` and so on; ids as platforms have them. */
const person = path(/^\S{1,256}$/u);
export const listWords: Words = z.union([
  maybe(choice(["list"])),
  z.tuple([choice(["add", "remove"]), person]),
]);

export const subagentWords: Words = z.union([
  maybe(choice(["list"])),
  z.tuple([choice(["stop"]), shortId]),
]);

/** What is asked about models; any case. */
const aboutModels = /^(?:default|list|status)$/iu;
const modelName = /^[\w.:/@-]{1,128}$/u;

/** The name of a model, or what is asked about models. */
export const modelWord: Word = z
  .string()
  .regex(modelName)
  .transform((given) => (aboutModels.test(given) ? given.toLowerCase() : given));

/**
 * Whether a word among others is the name of a model. It has to hold more than letters, so that
 * "/model please" is not taken for one.
 */
export const looksLikeModel = (given: string): boolean =>
  modelName.test(given) && (aboutModels.test(given) || /[\d:/-]/u.test(given));

const queueModes = ["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"];
const drops = ["summarize", "old", "new"];
const waitMsMax = 3_600_000;
const capMax = 1_000;

/** One word of `/queue` in its one spelling (`debounce:2000`, times in ms); null: it is none. */
export function queueWord(given: string): string | null {
  const lower = given.toLowerCase();
  if (queueModes.includes(lower)) return lower;
  if (lower === "default" || lower === "reset") return "default";
  const [, name, value = ""] = /^(debounce|cap|drop):(.{1,16})$/u.exec(lower) ?? [];
  if (name === "drop") return drops.includes(value) ? lower : null;
  if (name === "cap") return within(Number(/^\d{1,4}$/u.exec(value)?.[0] ?? 0), "cap", capMax);
  const [, count, unit = "ms"] = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s|m)?$/u.exec(value) ?? [];
  if (name === undefined || count === undefined) return null;
  const ms = Math.round(Number(count) * { ms: 1, s: 1_000, m: 60_000 }[unit as "ms" | "s" | "m"]);
  return ms <= waitMsMax ? `debounce:${ms}` : null;
}

/** One word of `/exec` in its one spelling; null: it is none. There is one place to run: here. */
export function execWord(given: string): string | null {
  const lower = given.toLowerCase();
  if (lower === "default" || lower === "reset") return "default";
  if (lower === "host=here") return lower;
  const [, name, value = ""] = /^(security|ask)=([a-z-]{1,16})$/u.exec(lower) ?? [];
  const known: readonly string[] = name === "ask" ? execAskModes : execSecurities;
  return name !== undefined && known.includes(value) ? lower : null;
}

/** What those words set; null: as configured. */
export function execOf(words: readonly string[]): ExecSettings | null {
  if (words[0] === "default") return null;
  const said = words.map((one) => one.split("=")).filter(([name]) => name !== "host");
  return Object.fromEntries(said) as ExecSettings;
}

/** What `/exec` may be followed by: `default` alone, or settings. */
export const execWords: Words = settingWords(execWord, 3);

const within = (value: number, name: string, most: number) =>
  value >= 1 && value <= most ? `${name}:${value}` : null;

/** What `/queue` may be followed by: `default` alone, or a mode and options. */
export const queueWords: Words = settingWords(queueWord, 4);

/** At most so many words, each with one spelling; `default` comes alone. */
function settingWords(wordOf: (given: string) => string | null, most: number): Words {
  return z
    .array(z.string().max(wordUnitsMax))
    .max(most)
    .transform((given) => given.map(wordOf))
    .refine((words) => !words.includes(null) && (!words.includes("default") || words.length === 1))
    .transform((words) => words as string[]);
}
