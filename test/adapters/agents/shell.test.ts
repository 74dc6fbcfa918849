/** Command lines of owners, in a real shell. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runShell } from "../../../src/adapters/agents/command/shell.ts";
import { newFolder } from "../../support/daemon/folder.ts";

const order = {
  cwd: newFolder(),
  msMax: 60_000,
  bytesMax: 8_192,
  signal: new AbortController().signal,
};
const run = (command: string, over: Partial<typeof order> = {}) =>
  runShell({ ...order, command, ...over });

test("output and errors come in order, without escapes, with the exit code", async () => {
  const end = await run("echo one; echo two >&2; printf '\\033[31mthree\\033[0m\\n'; exit 3 # so");
  expect(end).toEqual({
    why: "ended",
    code: 3,
    problem: "exited with code 3",
    output: "one\ntwo\nthree\n",
    isCut: false,
  });
  expect(await run("pwd")).toMatchObject({ code: 0, problem: null, output: `${order.cwd}\n` });
  expect((await run("cat")).output).toBe("");
});

test("no secret of the daemon is in its environment", async () => {
  process.env.EARSHOT_TEST_SECRET = "hunter2";
  try {
    expect((await run("env")).output).not.toContain("hunter2");
  } finally {
    delete process.env.EARSHOT_TEST_SECRET;
  }
});

test("only the end of a long output is kept", async () => {
  const { output, isCut } = await run("seq 1 100000", { bytesMax: 100 });
  expect(isCut).toBe(true);
  expect(output.length).toBeLessThanOrEqual(100);
  expect(output).toMatch(/99999\n100000\n$/);
});

test("at the limit of time, and by the signal, it ends with its children", async () => {
  const late = join(order.cwd, "late");
  const command = `echo begun; (sleep 5.0471; touch ${late}) & wait`;
  expect(await run(command, { msMax: 300 })).toMatchObject({ why: "time", code: null });
  const stopping = new AbortController();
  const stopped = run(command, { signal: stopping.signal });
  setTimeout(() => stopping.abort(), 200);
  expect(await stopped).toMatchObject({ why: "stopped" });
  expect((await run("ps -e -o args= | grep -c '^sleep 5.0471$'")).output).toBe("0\n");
  expect(existsSync(late)).toBe(false);
});
