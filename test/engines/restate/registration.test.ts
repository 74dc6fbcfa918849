/** Registering with a server that accepts connections and answers nothing more: a start ends with an error that says so. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { engineLimits } from "../../../src/domain/ports/engine/engine-limits.ts";
import { registerNodes } from "../../../src/engines/restate/registration.ts";

const uri = "http://127.0.0.1:1";

describe("registering with a server that stands still", () => {
  const before = { ...engineLimits };
  afterEach(() => void Object.assign(engineLimits, before));

  /** What registering ends with where the server answers only this method, and of others just begins to. */
  async function registered(answered: string): Promise<string> {
    const server = createServer(({ method }, response) => {
      if (method === answered) response.end('{"deployments":[]}');
      else response.write("{");
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const admin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const says = await registerNodes(admin, uri).then(
      () => "registered",
      ({ code, message }) => `${code} ${message.replaceAll(admin, "ADMIN")}`,
    );
    server.closeAllConnections();
    server.close();
    return says;
  }

  test("that answers nothing at all is known after the time of a look", async () => {
    Object.assign(engineLimits, { serverLookMsMax: 300 });
    expect(await registered("none")).toBe(
      "EAR_HTTP_FAILED Cannot read the addresses that Restate calls: ADMIN gives no answer in 300 ms. " +
        "Restart its server, or correct engine.admin.",
    );
  });

  test("that stands still while it registers is given up, too", async () => {
    Object.assign(engineLimits, { serverLookMsMax: 60_000, registerMsMax: 300 });
    expect(await registered("GET")).toBe(
      `EAR_HTTP_FAILED Cannot register ${uri} with Restate: ADMIN gives no answer in 300 ms. ` +
        "Restart its server, or correct engine.admin.",
    );
  });
});
