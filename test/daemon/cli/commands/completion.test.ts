/**
 * Completion in the shells themselves: the script is read by the shell that it is for, and asked what
 * it would offer. A shell that is not installed is left out.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram } from "../../../../src/daemon/cli/program.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "earshot-completion-"));
  writeFileSync(join(folder, "file.json5"), "{}");
  for (const shell of ["bash", "zsh", "fish"]) writeFileSync(scriptOf(shell), await textFor(shell));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The script that a shell is given, in a file. */
const scriptOf = (shell: string) => join(folder, `earshot.${shell}`);

async function textFor(shell: string): Promise<string> {
  const program = await createProgram(["completion"]);
  const { write } = process.stdout;
  let text = "";
  process.stdout.write = (part: string | Uint8Array) => {
    text += String(part);
    return true;
  };
  try {
    await program.parseAsync(["completion", shell], { from: "user" });
  } finally {
    process.stdout.write = write;
  }
  return text;
}

const there = (shell: string) => ["/bin", "/usr/bin"].some((at) => existsSync(join(at, shell)));
const run = (shell: string, ...args: string[]): string =>
  execFileSync(shell, args, { encoding: "utf8", cwd: folder, env: { PATH: process.env.PATH } });

/** What is typed, its last word unfinished, and what is offered for it. */
const cases: readonly (readonly [string, readonly string[]])[] = [
  ["sta", ["start", "status"]],
  ["config ", ["check", "schema", "show"]],
  ["config s", ["schema", "show"]],
  ["config show --j", ["--json"]],
  ["inspect --decision ", ["engage", "observe", "denied", "claim", "duplicate", "command"]],
  ["inspect --decision en", ["engage"]],
  ["start --log-format j", ["json"]],
  ["completion z", ["zsh"]],
  ["start --config ", []],
  // A group takes the options of its default command.
  ["channels --j", ["--json"]],
  ["sessions --st", ["--state-dir"]],
  // The name of a command as an argument of another one.
  ["config show channels --or", ["--origins"]],
  ["find status --au", ["--author"]],
  ["find config ch", []],
  ["send webhook config che", []],
  // What is left is the name of a file.
  ["replay ", []],
];
/** Options are offered beside the words; looked at only where one was begun. */
const wordsOf = (typed: string, offered: readonly string[]) =>
  (typed.includes(" --") ? offered : offered.filter((one) => !one.startsWith("-"))).toSorted();

describe("bash", () => {
  test.skipIf(!there("bash")).each(cases)("earshot %s", (typed, expected) => {
    const words = ["earshot", ...typed.split(" ")].map((word) => `"${word}"`);
    const ask = `source ${scriptOf("bash")}; COMP_WORDS=(${words.join(" ")});
      COMP_CWORD=${words.length - 1}; _earshot; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const offered = run("bash", "--norc", "-c", ask).trim().split("\n").filter(Boolean);
    expect(wordsOf(typed, offered)).toEqual(expected.toSorted());
    if (typed === "replay ") expect(offered).toEqual([]);
  });

  test.skipIf(!there("bash"))("knows the command, and reads --option=value", () => {
    const source = `source ${scriptOf("bash")};`;
    expect(run("bash", "--norc", "-c", `${source} complete -p earshot`)).toBe(
      "complete -o default -F _earshot earshot\n",
    );
    const words = "COMP_WORDS=(earshot inspect --decision = ob); COMP_CWORD=4";
    const ask = `${source} ${words}; _earshot; echo "\${COMPREPLY[@]}"`;
    expect(run("bash", "--norc", "-c", ask)).toBe("observe\n");
  });
});

describe("fish", () => {
  test.skipIf(!there("fish")).each(cases)("earshot %s", (typed, expected) => {
    const ask = `source ${scriptOf("fish")}; complete -C "earshot ${typed}"`;
    const lines = run("fish", "-N", "-c", ask).trim().split("\n").filter(Boolean);
    const offered = lines.map((line) => line.split("\t")[0] ?? "");
    if (typed.endsWith("--config ") || typed === "replay ") expect(offered).toContain("file.json5");
    else expect(wordsOf(typed, offered)).toEqual(expected.toSorted());
  });
});

describe("zsh", () => {
  // The completion system runs only behind a keyboard; what it would be handed is written out.
  const ears = `compdef() { }; _files() { print files }; compset() { }
    _describe() { print -l -- "\${(@)\${(@P)2}%%:*}" }
    compadd() { shift; print -l -- "$@" }`;
  test.skipIf(!there("zsh")).each(cases)("earshot %s", (typed, expected) => {
    const words = ["earshot", ...typed.split(" ")].map((word) => `"${word}"`).join(" ");
    const ask = `${ears}; source ${scriptOf("zsh")}; words=(${words}); CURRENT=$#words; _earshot`;
    const offered = run("zsh", "-f", "-c", ask).trim().split("\n").filter(Boolean);
    const begun = typed.split(" ").at(-1) ?? "";
    const fitting = offered.filter((one) => one.startsWith(begun));
    expect(
      wordsOf(
        typed,
        fitting.filter((one) => one !== "files"),
      ),
    ).toEqual(expected.toSorted());
    if (typed.endsWith("--config ") || typed === "replay ") expect(offered).toEqual(["files"]);
  });

  test.skipIf(!there("zsh"))("reads --option=value", () => {
    const words = "words=(earshot inspect --decision=ob); CURRENT=3";
    const ask = `${ears}; source ${scriptOf("zsh")}; ${words}; _earshot`;
    expect(run("zsh", "-f", "-c", ask).split("\n")).toContain("observe");
  });
});
