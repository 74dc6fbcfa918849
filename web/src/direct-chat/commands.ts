/**
 * Completion of commands
 * ======================
 * Which commands of the daemon's table fit a line that begins with a slash. Pure: the table is
 * fetched elsewhere.
 */

/** A command as `GET /api/commands` has it. */
export interface Offer {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly usage: string;
  readonly help: string;
}

const offersMax = 8;
/** Only the first word is completed, and only while nothing follows it. */
const typed = /^\/([a-z0-9:_-]*)$/i;

/** What fits the line, in the order of the table: names first, then other words for them. */
export function offersFor(line: string, commands: readonly Offer[]): readonly Offer[] {
  const word = typed.exec(line)?.[1]?.toLowerCase();
  if (word === undefined) return [];
  const byName = commands.filter(({ name }) => name.startsWith(word));
  const byOther = commands.filter(
    (command) =>
      !byName.includes(command) && command.aliases.some((other) => other.startsWith(word)),
  );
  return [...byName, ...byOther].slice(0, offersMax);
}

/** The line with the command in it, ready for its words. */
export const completed = ({ name, usage }: Offer): string =>
  usage === "" ? `/${name}` : `/${name} `;

/** The answer of the daemon; what is no command is left out. */
export function offersIn(answer: unknown): readonly Offer[] {
  const list = (answer as { commands?: unknown } | null)?.commands;
  return Array.isArray(list) ? list.filter(isOffer) : [];
}

function isOffer(value: unknown): value is Offer {
  if (typeof value !== "object" || value === null) return false;
  const { name, aliases, usage, help } = value as Record<string, unknown>;
  const texts = [name, usage, help].every((item) => typeof item === "string");
  return texts && Array.isArray(aliases) && aliases.every((alias) => typeof alias === "string");
}
