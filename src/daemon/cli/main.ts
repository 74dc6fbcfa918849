#!/usr/bin/env node
/**
 * `earshot`
 * =========
 * Runs the command line. Exit codes are the same everywhere: 0 done, 1 the answer is no, 2 usage error or
 * bad input.
 */
import { CommanderError } from "commander";
import { fail } from "./lib/command.ts";
import { createProgram, refuseUnknown } from "./program.ts";

/** Commander prints the problem itself; only the exit code is set here. */
function endUse(error: CommanderError): void {
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}

/**
 * A closed pipe (`earshot inspect | head`) ends the process without an error. Node.js ignores
 * SIGPIPE, so nothing else would end a command that follows events. A daemon has printed its address
 * and continues.
 */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") return fail(error);
  if (process.argv[2] !== "start") process.exit();
});

try {
  const words = process.argv.slice(2);
  const program = await createProgram(words);
  refuseUnknown(program, words);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) endUse(error);
  else fail(error);
}
