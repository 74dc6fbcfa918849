/** A command line with a mistake: the error names it, with what may be meant, and nothing else is printed. */
import { expect, test } from "vitest";
import { runCommand } from "../../../support/built/command.ts";

test.each([
  // An unknown command, wherever it stands.
  ["statsu", "error: unknown command 'statsu'\n(Did you mean status?)\n"],
  ["bogus --help", "error: unknown command 'bogus'\n"],
  ["statsu -h", "error: unknown command 'statsu'\n(Did you mean status?)\n"],
  ["help statsu", "error: unknown command 'statsu'\n(Did you mean status?)\n"],
  ["sessions lst", "error: unknown command 'lst'\n(Did you mean list?)\n"],
  ["sessions lst --help", "error: unknown command 'lst'\n(Did you mean list?)\n"],
  ["sessions help lst", "error: unknown command 'lst'\n(Did you mean list?)\n"],
  ["help sessions lst", "error: unknown command 'lst'\n(Did you mean list?)\n"],
  ["channels ad telegram", "error: unknown command 'ad'\n(Did you mean add?)\n"],
  ["config sho", "error: unknown command 'sho'\n(Did you mean show?)\n"],
  // A mistyped option, also where another one must be given.
  ["status --jsn", "error: unknown option '--jsn'\n(Did you mean --json?)\n"],
  ["record --sinc 1d", "error: unknown option '--sinc'\n(Did you mean --since?)\n"],
  ["tune a.jsonl --wnat f1", "error: unknown option '--wnat'\n(Did you mean --want?)\n"],
  ["migrate --too restate", "error: unknown option '--too'\n(Did you mean --to?)\n"],
  ["claim new --rol owner", "error: unknown option '--rol'\n(Did you mean --role?)\n"],
  // One that is missing.
  ["record", "error: required option '--since <time>' not specified\n"],
  ["tune a.jsonl", "error: required option '--want <target>' not specified\n"],
  ["migrate", "error: required option '--to <engine>' not specified\n"],
  ["claim new", "error: required option '--role <role>' not specified\n"],
])("earshot %s", async (typed, err) => {
  expect(await runCommand(typed.split(" "))).toEqual({ code: 2, out: "", err });
});

test.each(["help", "help sessions", "sessions help", "help sessions list", "sessions help list"])(
  "earshot %s prints the help",
  async (typed) => {
    const { code, out, err } = await runCommand(typed.split(" "));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^Usage: earshot /u);
  },
);
