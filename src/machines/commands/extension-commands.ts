/**
 * Commands of agents and plugins
 * ==============================
 * Further entries of the table: a skill is a folder in an agent's workspace, a plugin brings handlers
 * of its own. Each has a full name with what it comes from in front (`/skill:review`,
 * `/pigeon:feed`). The short name works where it is free: a built-in word is never shadowed, and a
 * word that two of them want belongs to neither.
 */
import { commandNamed } from "./table.ts";

/** `skill:<name>` or `<plugin>:<name>`. */
export type ExtraName = `${string}:${string}`;

export interface ExtraCommand {
  readonly name: ExtraName;
  readonly who: "authorised" | "owner";
  readonly usage: string;
  readonly help: string;
  readonly menu: boolean;
  /** The agent whose skill it is; null: a plugin's, for every agent. */
  readonly agentId: string | null;
}

/** How each half of a name is formed. */
export const extraWord = /^[a-z][a-z0-9_-]{0,31}$/u;
/** How one is written at the start of a message; what follows is its own. */
const written = /^\/((?:[a-z][a-z0-9_-]{0,31}:)?[a-z][a-z0-9_-]{0,31})(?:@(\S{1,64}))?(?=\s|$)/iu;

export const isExtra = (name: string): name is ExtraName => name.includes(":");
export const shortOf = ({ name }: Pick<ExtraCommand, "name">): string =>
  name.slice(name.indexOf(":") + 1);

/** Those that an agent knows: its own skills, and what plugins bring. */
export const extrasFor = (
  extras: readonly ExtraCommand[],
  agentIds: ReadonlySet<string>,
): readonly ExtraCommand[] =>
  extras.filter(({ agentId }) => agentId === null || agentIds.has(agentId));

/** The one of that full or short name, in any case. */
export function extraNamed(
  extras: readonly ExtraCommand[],
  word: string,
): ExtraCommand | undefined {
  const lower = word.toLowerCase();
  if (isExtra(lower)) return extras.find(({ name }) => name === lower);
  if (commandNamed(lower) !== undefined) return undefined;
  const named = extras.filter((extra) => shortOf(extra) === lower);
  return new Set(named.map(({ name }) => name)).size === 1 ? named[0] : undefined;
}

/** Whether its short name is enough. */
export const hasShort = (extras: readonly ExtraCommand[], extra: ExtraCommand): boolean =>
  extraNamed(extras, shortOf(extra)) !== undefined;

/** One at the start of a text, the bot that it names, and the words behind it. */
export function extraAt(
  extras: readonly ExtraCommand[],
  text: string,
): { extra: ExtraCommand; named: boolean; words: string } | null {
  if (extras.length === 0 || !text.startsWith("/")) return null;
  const match = written.exec(text);
  if (match === null) return null;
  const [mark, word = "", to] = match;
  const extra = extraNamed(extras, word);
  if (extra === undefined) return null;
  return { extra, named: to !== undefined, words: text.slice(mark.length).trim() };
}
