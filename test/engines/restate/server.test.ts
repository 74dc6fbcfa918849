/** `npm run restate`: a real server, from the npm registry. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { haveRestate, runRestate } from "../../support/restate/server.ts";

const script = new URL("../../../scripts/restate.mjs", import.meta.url).pathname;
const healthOf = (url: string) => fetch(url).then(({ ok }) => ok);
const failed = (args: readonly string[]) =>
  promisify(execFile)(process.execPath, [script, ...args]).then(
    () => ({ code: 0, stderr: "" }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );

describe.skipIf(!haveRestate)("npm run restate", () => {
  test("starts a server that answers on both ports, and ends it on SIGTERM", async () => {
    const server = await runRestate();
    try {
      expect(await healthOf(`${server.ingress}/restate/health`)).toBe(true);
      expect(await healthOf(`${server.admin}/health`)).toBe(true);
      expect(server.version).toMatch(/^1\.7\.\d+$/u);
    } finally {
      expect(await server.stop()).toBe(0);
    }
    expect(await server.ended).toBe("restate: stopped\n");
    await expect(fetch(`${server.ingress}/restate/health`)).rejects.toThrow();
    expect(() => process.kill(server.pid, 0)).toThrow("ESRCH");
  });

  test("says which port is in use, and which flag chooses another", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { readonly port: number };
    const { code, stderr } = await failed(["--admin-port", "0", "--ingress-port", String(port)]);
    other.close();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        `restate: Cannot start Restate: port ${port} is in use. ` +
        "Choose another with --ingress-port; 0 takes a free one.\n",
    });
  });

  test("chooses other ports when one was taken before the server could have it", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, "--install", "--json"]);
    const { binary } = JSON.parse(stdout) as { readonly binary: string };
    const cache = mkdtempSync(join(tmpdir(), "earshot-restate-cache-"));
    const inCache = join(cache, binary.slice(binary.indexOf("/restate-server-")));
    mkdirSync(dirname(inCache), { recursive: true });
    // At the first start somebody else has the port of the ingress by the time the server wants it.
    const taken = join(cache, "taken");
    writeFileSync(
      inCache,
      `#!/bin/sh
if [ ! -e ${taken} ]; then
  ${process.execPath} -e '
    const [host, port] = process.env.RESTATE_INGRESS__BIND_ADDRESS.split(":");
    require("net").createServer().listen(port, host, () =>
      require("fs").writeFileSync("${taken}", port));
    const server = process.ppid;
    setInterval(() => process.ppid === server || process.exit(), 100)' &
  while [ ! -s ${taken} ]; do sleep 0.02; done
fi
exec ${binary} "$@"
`,
      { mode: 0o755 },
    );
    const server = await runRestate("--ingress-port", "0", "--cache", cache);
    try {
      expect(new URL(server.ingress).port).not.toBe(readFileSync(taken, "utf8"));
      expect(await healthOf(`${server.ingress}/restate/health`)).toBe(true);
      expect(readFileSync(server.log, "utf8")).toMatch(/address (already )?in use/iu);
    } finally {
      expect(await server.stop()).toBe(0);
      rmSync(cache, { recursive: true });
    }
  });

  test("says that the server has died, and where its log is", async () => {
    const server = await runRestate();
    process.kill(server.pid, "SIGKILL");
    expect(await server.ended).toBe(
      `restate: the server ended by itself (SIGKILL). See ${server.log}\n`,
    );
    expect(await server.stop()).toBe(1);
  });
});

test("npm run restate refuses a port that is none", async () => {
  const { code, stderr } = await failed(["--admin-port", "70000"]);
  expect(code).toBe(2);
  expect(stderr).toContain(
    "restate: Cannot start Restate: --admin-port is a port, from 0 to 65535 (got 70000).\n",
  );
});
