/** Every `earshot …` that a page shows is a command that there is, with options that it takes. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { blocksOf, manual, type Page, root } from "../support/docs.ts";

type Add = (program: Command) => void;

const folders = [
  "commands",
  "commands/unasked",
  "commands/quality",
  "commands/search",
  "commands/needs",
  "commands/move",
  "chat",
].map((name) => join(root, "src/daemon/cli", name));
const program = new Command("earshot").option("--version").option("--help");
for (const path of folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name)),
)) {
  const exported = (await import(path)) as Record<string, unknown>;
  for (const [name, add] of Object.entries(exported))
    if (/^add\w+Commands?$/u.test(name)) (add as Add)(program);
}

/** Words of a command line; what is quoted, placed after a pipe, or said in a comment is cut. */
const wordsOf = (line: string): string[] =>
  line
    .replace(/\s#.*$/u, "")
    .replace(/'[^']*'|"[^"]*"/gu, "quoted")
    .split(/[|;&>)]/u)[0]
    ?.trim()
    .split(/\s+/u)
    .slice(1) ?? [];

/** Command lines in shell blocks, and in the text between backticks. */
function shownOn(page: Page): { at: string; line: string; words: string[] }[] {
  const shell = blocksOf(page).filter(({ language }) => language === "sh");
  const lines = shell.flatMap(({ text }) => text.split("\n"));
  const prose = page.text.replace(/^ *```[\s\S]*?^ *```$/gmu, "");
  // As many backticks end a span as began it.
  const spans = [...prose.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/gsu)].map(([, , code = ""]) =>
    code.replace(/\s+/gu, " "),
  );
  const all = [...lines, ...spans].filter((line) => !/^\s*npm /u.test(line));
  return all.flatMap((line) => {
    const [found] = line.match(/(?:^|\s|\()earshot [a-z-].*/u) ?? [];
    return found === undefined ? [] : [{ at: page.path, line, words: wordsOf(found.trim()) }];
  });
}

/** What is wrong with a command line; null: nothing. */
function wrong(words: readonly string[]): string | null {
  let command = program;
  const rest = [...words];
  for (let sub = find(command, rest[0]); sub !== undefined; sub = find(command, rest[0])) {
    command = sub;
    rest.shift();
  }
  if (command === program && rest[0]?.startsWith("-") !== true) return `no command ${rest[0]}`;
  const flags = rest.flatMap((word) => /^--?[a-z][a-z-]*/u.exec(word) ?? []);
  const known = [...command.options.flatMap(({ long, short }) => [long, short]), "--help", "-h"];
  const unknown = flags.filter((flag) => !known.includes(flag));
  if (unknown.length > 0) return `${command.name()} has no ${unknown.join(", ")}`;
  const needsSub = command.commands.length > 0 && command.registeredArguments.length === 0;
  return needsSub && rest.length > 0 && flags.length === 0 && /^[a-z]+$/u.test(rest[0] ?? "")
    ? `${command.name()} has no ${rest[0]}`
    : null;
}

const find = (command: Command, name: string | undefined) =>
  command.commands.find((sub) => sub.name() === name);

test("commands and options of the pages exist", () => {
  expect(wrong(["replay", "room.jsonl", "--sede", "1"])).toBe("replay has no --sede");
  expect(wrong(["relpay"])).toBe("no command relpay");
  expect(wrong(["sessions", "shwo"])).toBe("sessions has no shwo");
  const shown = manual().flatMap(shownOn);
  expect(shown.length).toBeGreaterThan(60);
  const bad = shown.map(({ at, line, words }) => [wrong(words), `${at}: ${line}`] as const);
  expect(bad.filter(([why]) => why !== null)).toEqual([]);
});
