/**
 * Names that call two
 * ===================
 * Agents of one room are told apart by their names. Where a name of one stands in a name of
 * another, whoever calls the second calls the first as well, and both answer. Names are compared as
 * the ladder finds them.
 */

import { type EarshotConfig, pathText } from "../../domain/config/index.ts";
import { agentAliases } from "../../domain/config/resolve/agent.ts";
import { containsFolded, fold } from "../../domain/fold-text.ts";

interface Listener {
  /** Its place in the list of agents. */
  readonly index: number;
  readonly id: string;
  /** As written, and as compared. */
  readonly names: readonly (readonly [name: string, folded: string])[];
}

const shownUnitsMax = 64;
const shown = (text: string) => JSON.stringify(text.slice(0, shownUnitsMax));

/** Agents of one room that cannot be called apart, a line a pair. */
export function sharedNames(config: EarshotConfig): string[] {
  const listeners = new Map<string, Listener>();
  for (const [index, entry] of config.agents.list.entries()) {
    const names = agentAliases(entry).map((name) => [name, fold(name)] as const);
    listeners.set(entry.id, { index, id: entry.id, names });
  }
  const told = new Map<string, string>();
  for (const [place, agents] of Object.entries(config.broadcast)) {
    if (!Array.isArray(agents)) continue;
    const heard = [...listeners.values()].filter(({ id }) => agents.includes(id));
    for (const [position, one] of heard.entries())
      for (const other of heard.slice(position + 1)) {
        const pair = `${one.index} ${other.index}`;
        if (told.has(pair)) continue;
        const line = sharedBy(one, other, place);
        if (line !== undefined) told.set(pair, line);
      }
  }
  return [...told.values()];
}

function sharedBy(one: Listener, other: Listener, place: string): string | undefined {
  for (const [name, folded] of one.names)
    for (const [theirs, foldedTheirs] of other.names) {
      const isIn = containsFolded(foldedTheirs, folded);
      if (!isIn && !containsFolded(folded, foldedTheirs)) continue;
      const [called, inside] = isIn ? [theirs, name] : [name, theirs];
      const who = `the agents ${shown(one.id)} and ${shown(other.id)}`;
      const why =
        folded === foldedTheirs
          ? `both listen to ${shown(name)}`
          : `both hear ${shown(called)}, as ${shown(inside)} is in it`;
      const room = pathText(["broadcast", place]);
      const fix = `give ${pathText(["agents", "list", other.index])} other names`;
      return `${room}: ${who} ${why}; whoever calls one calls two: ${fix}`;
    }
  return undefined;
}
