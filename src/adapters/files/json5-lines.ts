/**
 * Lines of a JSON5 text
 * =====================
 * Finds the line of a value, so that a config error names the place to look at. Expects text that a
 * real parser has already accepted.
 */
import JSON5 from "json5";

/**
 * One token: a string, a bare word or number, or one of `{}[]:,`; comments and space are left out.
 */
const tokens =
  /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[{}[\]:,]|[^\s{}[\]:,"'/]+/gu;

interface Place {
  readonly steps: (string | number)[];
  readonly isList: boolean;
}

const name = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

/** Paths to lines, counted from 1. */
function linesOf(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>([[name([]), 1]]);
  const open: Place[] = [];
  let path: (string | number)[] = [];
  let key: string | null = null;
  let line = 1;
  let at = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    for (; at < index; at += 1) if (text[at] === "\n") line += 1;
    if (token.startsWith("//") || token.startsWith("/*")) continue;
    const place = open.at(-1);
    if (token === "{" || token === "[") {
      if (!lines.has(name(path))) lines.set(name(path), line);
      open.push({ steps: path, isList: token === "[" });
      if (token === "[") path = [...path, 0];
    } else if (token === "}" || token === "]") {
      path = open.pop()?.steps ?? [];
    } else if (token === "," && place !== undefined) {
      const last = path.at(-1);
      path = place.isList ? [...place.steps, Number(last) + 1] : place.steps;
      key = null;
    } else if (token === ":" && place !== undefined && key !== null) {
      path = [...place.steps, key];
    } else if (place !== undefined && !place.isList && path === place.steps) {
      key = /^["']/u.test(token) ? String(JSON5.parse(token)) : token;
      lines.set(name([...path, key]), line);
    } else if (!lines.has(name(path))) lines.set(name(path), line);
  }
  return lines;
}

/**
 * Returns a function from a path to its line, or to the line of the nearest enclosing value.
 */
export function lineFinder(text: string): (path: readonly PropertyKey[]) => number {
  let lines: ReadonlyMap<string, number> | null = null;
  return (path) => {
    lines ??= linesOf(text);
    for (let length = path.length; length > 0; length -= 1) {
      const line = lines.get(name(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  };
}
