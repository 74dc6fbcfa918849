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

/** The line of a value, and what is in it by key or index. */
interface Lines {
  readonly line: number;
  below: Map<string, Lines> | null;
}

/** An object or list that is being read. */
interface Place {
  readonly lines: Lines;
  /** The index of the value that comes now; null in an object. */
  index: number | null;
  /** The value that comes now; null before an object's next key and before a list's next value. */
  here: Lines | null;
}

function put({ lines }: Place, step: string, line: number): Lines {
  lines.below ??= new Map();
  const here: Lines = { line, below: null };
  lines.below.set(step, here);
  return here;
}

/** The lines of a text, counted from 1. Takes time in proportion to the text, however deep it is. */
function linesOf(text: string): Lines {
  const all: Lines = { line: 1, below: null };
  const open: Place[] = [];
  let line = 1;
  let at = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    for (; at < index; at += 1) if (text[at] === "\n") line += 1;
    if (token.startsWith("//") || token.startsWith("/*")) continue;
    const place = open.at(-1);
    if (token === "}" || token === "]") {
      open.pop();
    } else if (place !== undefined && token === ",") {
      if (place.index !== null) place.index += 1;
      place.here = null;
    } else if (place !== undefined && place.here === null && place.index === null) {
      const key = /^["']/u.test(token) ? String(JSON5.parse(token)) : token;
      place.here = put(place, key, line);
    } else if (token !== ":") {
      if (place !== undefined) place.here ??= put(place, String(place.index), line);
      if (token === "{" || token === "[")
        open.push({
          lines: place?.here ?? all,
          index: token === "[" ? 0 : null,
          here: null,
        });
    }
  }
  return all;
}

/**
 * Returns a function from a path to its line, or to the line of the nearest enclosing value.
 */
export function lineFinder(text: string): (path: readonly PropertyKey[]) => number {
  let all: Lines | null = null;
  return (path) => {
    all ??= linesOf(text);
    let found = all;
    for (const step of path) {
      const below = found.below?.get(String(step));
      if (below === undefined) break;
      found = below;
    }
    return found.line;
  };
}
