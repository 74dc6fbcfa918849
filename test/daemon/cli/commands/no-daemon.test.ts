/** Commands where no daemon answers: they say whether none runs or one stands still, and claim nothing else. */
import { chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../../../support/built/command.ts";
import { newFolder } from "../../../support/daemon/folder.ts";

describe("of a daemon that was stopped (SIGSTOP) or hangs", () => {
  const stateDir = newFolder();
  // The system takes its connections, and nothing answers.
  const silent = createServer(() => undefined);
  let base = "";
  beforeAll(async () => {
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    base = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    chmodSync(stateDir, 0o700);
    writeFileSync(join(stateDir, "address"), `${base}\n`, { mode: 0o600 });
    writeFileSync(join(stateDir, "token"), `${"t".repeat(32)}\n`, { mode: 0o600 });
  });
  afterAll(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const run = (...args: string[]) => runCommand(args, { env: { EARSHOT_STATE_DIR: stateDir } });

  test("status says that it does not answer, not that none runs", async () => {
    const { code, out, err } = await run("status");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`Cannot reach the daemon of ${stateDir}: ${base} does not answer`);
  });

  test("why does not look for its journal elsewhere", async () => {
    const { code, out, err } = await run("why", "4711");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("does not answer");
  });

  test("doctor calls it a problem", async () => {
    const { code, out } = await run("doctor", "--offline", "--json");
    expect(code).toBe(1);
    const says = expect.stringContaining("does not answer");
    expect(JSON.parse(out)).toContainEqual({ check: "daemon", state: "wrong", says });
  });

  test("the token is replaced, and nobody is told that no daemon runs", async () => {
    const { code, out, err } = await run("token", "rotate");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("the daemon does not answer");
    expect(out).not.toContain("no daemon is running");
  });
});

test("a daemon of another version has no such route: the command says so, not that there is nothing", async () => {
  const stateDir = newFolder();
  const other = createServer((request, response) => {
    const isLook = request.url === "/healthz";
    const error = { code: "unknown-path", message: "Cannot find that path" };
    response.writeHead(isLook ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isLook ? { ok: true } : { error }));
  });
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  const base = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  chmodSync(stateDir, 0o700);
  writeFileSync(join(stateDir, "address"), `${base}\n`, { mode: 0o600 });
  writeFileSync(join(stateDir, "token"), `${"t".repeat(32)}\n`, { mode: 0o600 });
  const env = { EARSHOT_STATE_DIR: stateDir };
  const { code, out, err } = await runCommand(["sessions", "list"], { env });
  other.close();
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(`Cannot ask the daemon at ${base} for this: it runs another version`);
  expect(err).toContain("/api/sessions");
});

test("a token of a state directory that is not there cannot be replaced", async () => {
  const stateDir = join(newFolder(), "none");
  const { code, out, err } = await runCommand(["token", "rotate", "--state-dir", stateDir]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(`Cannot rotate the token: there is no state directory ${stateDir}`);
});
