/**
 * Narrowing
 * =========
 * Where several agents hear a place, a line that calls some of them by name is for those alone. All
 * names are known only where the message is admitted, so it is found out there and becomes a part
 * of the record. Names are looked for as the ladder does: in the author's own words, wherever they
 * are. A platform mention of the account that all of them share calls nobody in particular.
 */
import { fold } from "../../domain/fold-text.ts";
import { limits } from "../../domain/limits.ts";
import { type Inbound, isForwarded } from "../../domain/message.ts";
import { aliasIn } from "./ladder-input.ts";
import { ownWords } from "./signals.ts";

/** An agent under all its names. */
export interface Called {
  readonly name: string;
  readonly aliases: readonly string[];
}

/**
 * Which of the agents a text calls, by their places in the list; null: all of them or none, so it is
 * for everybody. Linear in the text's length for each agent.
 */
export function narrowTo(
  text: string,
  { mentions, forwarded }: Pick<Inbound, "mentions" | "forwarded">,
  agents: readonly Called[],
): readonly number[] | null {
  if (isForwarded({ forwarded })) return null;
  const looked = ownWords(text).slice(0, limits.matchUnitsMax);
  const isToUs = mentions.some(({ isSelf }) => isSelf);
  const said = fold(isToUs ? withoutOurAccount(looked, agents) : looked);
  const called = agents.flatMap(({ aliases }, place) =>
    aliasIn(said, aliases) === -1 ? [] : [place],
  );
  return called.length === 0 || called.length === agents.length ? null : called;
}

/**
 * A line that begins with a name, as people call somebody before they say what they want: which agents it
 * calls, and how many UTF-16 units come before the rest. Null: it begins with no name.
 */
export function callAtStart(
  text: string,
  agents: readonly Called[],
): { readonly place: number; readonly units: number } | null {
  const start = text.length - text.trimStart().length;
  let found: { place: number; units: number } | null = null;
  for (const [place, { aliases }] of agents.entries()) {
    for (const alias of aliases) {
      const end = start + alias.length;
      const gap = /^[,:]?\s+/u.exec(text.slice(end, end + callGapUnitsMax))?.[0];
      if (gap === undefined || fold(text.slice(start, end)) !== fold(alias)) continue;
      if (found === null || end + gap.length > found.units)
        found = { place, units: end + gap.length };
    }
  }
  return found;
}

const callGapUnitsMax = 16;
const handle = /@([\p{L}\p{N}_.-]{1,64})/gu;

/** Without handles, as ours may hold a name by chance; one that is wholly a name calls its agent. */
function withoutOurAccount(text: string, agents: readonly Called[]): string {
  const names = new Set(agents.flatMap(({ aliases }) => aliases.map(fold)));
  return text.replace(handle, (whole, given: string) =>
    names.has(fold(given.replace(/[.-]+$/u, ""))) ? whole : " ",
  );
}
