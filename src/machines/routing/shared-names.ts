/**
 * Names that call two
 * ===================
 * Agents of one room are distinguished by their names. Where a name of one is part of a name of
 * another, a call of the second calls the first as well, and both answer. Names are compared as
 * the ladder finds them.
 */

import { type EarshotConfig, pathText } from "../../domain/config/index.ts";
import { agentAliases } from "../../domain/config/resolve/agent.ts";
import type { ConfigFinding } from "../../domain/config-finding.ts";
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

/** Pairs of agents of one room that cannot be called apart. */
export function sharedNames(config: EarshotConfig): ConfigFinding[] {
  const listeners = new Map<string, Listener>();
  for (const [index, entry] of config.agents.list.entries()) {
    const names = agentAliases(entry).map((name) => [name, fold(name)] as const);
    listeners.set(entry.id, { index, id: entry.id, names });
  }
  const found = new Map<string, ConfigFinding>();
  for (const [place, agents] of Object.entries(config.broadcast)) {
    if (!Array.isArray(agents)) continue;
    const heard = [...listeners.values()].filter(({ id }) => agents.includes(id));
    for (const [position, one] of heard.entries())
      for (const other of heard.slice(position + 1)) {
        const pair = `${one.index} ${other.index}`;
        if (found.has(pair)) continue;
        const finding = sharedBy(one, other, place);
        if (finding !== undefined) found.set(pair, finding);
      }
  }
  return [...found.values()];
}

function sharedBy(one: Listener, other: Listener, place: string): ConfigFinding | undefined {
  for (const [name, folded] of one.names)
    for (const [theirs, foldedTheirs] of other.names) {
      const isIn = containsFolded(foldedTheirs, folded);
      if (!isIn && !containsFolded(folded, foldedTheirs)) continue;
      const [called, inside] = isIn ? [theirs, name] : [name, theirs];
      const agents = `the agents ${shown(one.id)} and ${shown(other.id)}`;
      const why =
        folded === foldedTheirs
          ? `both listen to ${shown(name)}`
          : `both hear ${shown(called)}, as ${shown(inside)} is in it`;
      return {
        at: pathText(["broadcast", place]),
        wrong: `${agents} ${why}, so a call to one is a call to both`,
        fix: `give ${pathText(["agents", "list", other.index])} other names`,
      };
    }
  return undefined;
}
