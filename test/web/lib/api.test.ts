/** Questions of a page to the daemon, as over a slow line. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "../../../web/src/lib/api.ts";

const server = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  // The rest never comes.
  response.write('{"channels":');
});
let base = "";
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test("a question that is given up in the middle of its answer has none", async () => {
  const stop = new AbortController();
  const { fetch } = globalThis;
  const begun = new Promise<void>((resolve) => {
    globalThis.fetch = async (...request) => {
      const response = await fetch(...request);
      resolve();
      return response;
    };
  });
  const asked = ask(`${base}/api/channels`, { token: "", signal: stop.signal });
  await begun.finally(() => {
    globalThis.fetch = fetch;
  });
  stop.abort();
  await expect(asked).rejects.toThrow(/abort/);
});
