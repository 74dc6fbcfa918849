// Runs the lines of `sh` blocks as one shell session, and says of each what it printed.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The commands of the `sh` blocks of a page, each with the output that is shown below it, if any. */
export function commandsOf(text) {
  const found = [];
  for (const [, block] of text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gmu)) {
    let line = "";
    for (const part of block.split("\n")) {
      line += part.replace(/\\$/u, "\\\n");
      if (part.endsWith("\\")) continue;
      const shown = /^\s*# (\{.*\})$/u.exec(line);
      if (shown !== null) found.at(-1).shown = shown[1];
      else if (!/^\s*(#|$)/u.test(line)) found.push({ line: line.trim(), shown: null });
      line = "";
    }
  }
  return found;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Each line in turn, with what the ones before left behind; a line that fails does not end it. */
function scriptOf(lines, folder) {
  const file = (name, n) => quoted(join(folder, `${name}${n}`));
  return lines.flatMap((line, n) => [
    `{ ${line}\n} >${file("out", n)} 2>${file("err", n)} </dev/null`,
    `echo $? >${file("code", n)}`,
  ]);
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The lines with what they printed and their exit codes; `code` is NaN where none was reached. */
export async function runLines(lines, { cwd, env, temp }) {
  mkdirSync(temp, { recursive: true });
  const folder = mkdtempSync(join(temp, "session-"));
  const shell = spawn("bash", ["-c", scriptOf(lines, folder).join("\n")], {
    cwd,
    env,
    stdio: "ignore",
  });
  await new Promise((resolve, reject) => shell.once("error", reject).once("exit", resolve));
  return lines.map((line, n) => ({
    line,
    out: read(join(folder, `out${n}`)),
    err: read(join(folder, `err${n}`)),
    code: Number.parseInt(read(join(folder, `code${n}`)), 10),
  }));
}

/** Keys of a JSON value, however deep; a list counts by its first element. */
function shapeOf(value) {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

/** What is wrong with what a line printed; null: nothing. */
export function wrongWith({ code, out, err }, { codes = [0], shown = null }) {
  if (!codes.includes(code)) return `it ended with ${code}\n${out}${err}`;
  if (shown === null) return null;
  try {
    const [is, wanted] = [out, shown].map((text) => JSON.stringify(shapeOf(JSON.parse(text))));
    return is === wanted ? null : `it printed ${out}, the page shows ${shown}`;
  } catch {
    return `it printed ${out} instead of JSON`;
  }
}
