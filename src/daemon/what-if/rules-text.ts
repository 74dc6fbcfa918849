/**
 * The part of the config that decides which messages are answered, written as JSON5 for people to
 * edit, and read back with all its problems, each with path and line. Keys that the text omits keep
 * their values.
 */
import JSON5 from "json5";
import { configProblems, isPlain, overlay, parseConfig } from "../../domain/config/index.ts";
import type { WhatIfEdit, WhatIfProblem } from "../api-types/what-if.ts";

type Path = readonly (string | number)[];

/** Sections that the page shows; others may be added. */
const shown = ["engagement", "context", "loopGuard", "messages"] as const;
const problemsMax = 20;

/** The rules of a parsed config (without secrets) as people edit them. */
export function rulesText(config: Readonly<Record<string, unknown>>): string {
  const list = listOf(config).map((agent) => {
    const { id, name, aliases } = agent as Readonly<Record<string, unknown>>;
    return { id, name, aliases };
  });
  const sections = Object.fromEntries(shown.map((name) => [name, config[name]]));
  return `${compact(JSON5.stringify({ agents: { list }, ...sections }, { space: 2, quote: '"' }))}\n`;
}

const listWidthMax = 60;

/** Puts short lists of plain values on one line, as people write them. */
function compact(text: string): string {
  return text.replace(/\[\n([^[\]{}]*?),?\n\s*\]/g, (whole, inner: string) => {
    const line = `[${inner.trim().split(/\n\s*/).join(" ")}]`;
    return line.length > listWidthMax ? whole : line;
  });
}

function listOf(config: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { agents } = config;
  return isPlain(agents) && Array.isArray(agents.list) ? agents.list : [];
}

export type ReadRules =
  | { readonly problems: readonly WhatIfProblem[] }
  | {
      readonly problems: null;
      /** The whole config under these rules. */
      readonly config: Readonly<Record<string, unknown>>;
      readonly edits: readonly WhatIfEdit[];
      readonly places: readonly EditPlace[];
    };
/** An edit by its steps. */
export interface EditPlace {
  readonly path: Path;
  readonly before: unknown;
  readonly after: unknown;
}

/** Reads rules over a base config (parsed, without secrets). */
export function readRules(text: string, base: Readonly<Record<string, unknown>>): ReadRules {
  let written: unknown;
  try {
    written = JSON5.parse(text);
  } catch (error) {
    const { message, lineNumber } = error as { message: string; lineNumber?: number };
    const what = message.replace(/^JSON5: /, "");
    return { problems: [{ path: "", message: what, line: lineNumber ?? null }] };
  }
  if (!isPlain(written))
    return { problems: [{ path: "", message: "expected an object: { … }", line: 1 }] };
  const whole = overlay(base, withAgents(written, base));
  const problems = configProblems(whole);
  if (problems.length > 0)
    return {
      problems: problems.slice(0, problemsMax).map(({ path, message }) => ({
        path: path.map(String).join("."),
        message,
        line: lineOf(text, path),
      })),
    };
  const config = parseConfig(whole) as unknown as Readonly<Record<string, unknown>>;
  const places = [...editsOf(parseConfig(base), config, [])];
  const edits = places.map(({ path, before, after }) => ({ path: path.join("."), before, after }));
  return { problems: null, config, edits, places };
}

/** Merges agents by id; other lists are replaced as a whole. */
function withAgents(
  written: Readonly<Record<string, unknown>>,
  base: Readonly<Record<string, unknown>>,
): unknown {
  const list = listOf(written);
  if (list.length === 0 || !isPlain(written.agents)) return written;
  const known = listOf(base);
  const merged = list.map((agent) => {
    const same = known.find(
      (candidate) => isPlain(candidate) && isPlain(agent) && candidate.id === agent.id,
    );
    return same === undefined ? agent : overlay(same, agent);
  });
  return { ...written, agents: { ...written.agents, list: merged } };
}

/** Where two configs differ: lists as a whole, except that of the agents. */
function* editsOf(before: unknown, after: unknown, path: Path): Generator<EditPlace> {
  if (isPlain(before) && isPlain(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* editsOf(before[key], after[key], [...path, key]);
    return;
  }
  const isAgents = path.length === 2 && path[0] === "agents" && path[1] === "list";
  if (isAgents && Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, item] of before.entries())
      yield* editsOf(item, after[index], [...path, index]);
    return;
  }
  if (JSON.stringify(before) !== JSON.stringify(after)) yield { path, before, after };
}

/**
 * The line of a path: each of its names is searched after the previous one. Exact enough for a
 * marker beside the text.
 */
function lineOf(text: string, path: readonly PropertyKey[]): number | null {
  let at = 0;
  let found = false;
  for (const step of path) {
    if (typeof step !== "string") continue;
    const next = [`${step}:`, `"${step}":`, `'${step}':`, `${step} :`]
      .map((form) => text.indexOf(form, at))
      .filter((index) => index >= 0);
    if (next.length === 0) break;
    at = Math.min(...next);
    found = true;
  }
  return found ? text.slice(0, at).split("\n").length : null;
}
