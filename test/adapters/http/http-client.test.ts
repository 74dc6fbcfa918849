/**
 * The guarded HTTP client: where it will not go, whatever the address looks like, and what it caps.
 */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHttpClient, type HttpRequest } from "../../../src/adapters/http/http-client.ts";
import { isPublicAddress } from "../../../src/adapters/http/private-addresses.ts";
import { property } from "../../support/property.ts";

const signal = new AbortController().signal;
const usual: HttpRequest = { signal, msMax: 5_000, bytesMax: 1_000 };

async function listen(answer: RequestListener) {
  let connections = 0;
  const server = createServer(answer);
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, origin: `http://127.0.0.1:${port}`, connections: () => connections };
}

const hello: RequestListener = (_request, response) => void response.end("hello");

describe("guarded HTTP client", () => {
  test.each([
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:10.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://localhost:PORT/",
    "http://localhost.:PORT/",
    "http://user:secret@example.com/",
    "file:///etc/passwd",
    "data:text/plain,hi",
    "gopher://127.0.0.1:PORT/",
    "ftp://example.com/",
    "not a url",
  ])("%s is refused and no connection is made", async (address) => {
    const local = await listen(hello);
    const http = createHttpClient();
    const asked = http.fetch(address.replace("PORT", String(local.port)), usual);
    await expect(asked).rejects.toMatchObject({ code: "EAR_HTTP_REFUSED" });
    expect(local.connections()).toBe(0);
  });

  test("connections to a configured origin are kept where that is wanted, and only to that one", async () => {
    const local = await listen(hello);
    const keeping = createHttpClient({ allowPrivate: [local.origin], keep: true });
    for (let n = 0; n < 3; n += 1) await keeping.fetch(local.origin, usual);
    expect(local.connections()).toBe(1);
    const usually = createHttpClient({ allowPrivate: [local.origin] });
    for (let n = 0; n < 2; n += 1) await usually.fetch(local.origin, usual);
    expect(local.connections()).toBe(3);
    const refused = keeping.fetch((await listen(hello)).origin, usual);
    await expect(refused).rejects.toMatchObject({ code: "EAR_HTTP_REFUSED" });
  });

  test("a kept connection that turns out to be closed: the request goes out on a new one", async () => {
    let requests = 0;
    const local = await listen((request, response) => {
      requests += 1;
      if (requests === 2) request.socket.resetAndDestroy();
      else response.end("hello");
    });
    const http = createHttpClient({ allowPrivate: [local.origin], keep: true });
    const post = { ...usual, method: "POST", body: "one" } as const;
    await http.fetch(local.origin, post);
    const { body } = await http.fetch(local.origin, post);
    expect(Buffer.from(body).toString()).toBe("hello");
    expect([requests, local.connections()]).toEqual([3, 2]);
  });

  test("a connection that closes at its first request fails it: nobody knows whether it arrived", async () => {
    const local = await listen((request) => void request.socket.resetAndDestroy());
    const http = createHttpClient({ allowPrivate: [local.origin], keep: true });
    await expect(http.fetch(local.origin, usual)).rejects.toMatchObject({
      code: "EAR_HTTP_FAILED",
    });
    expect(local.connections()).toBe(1);
  });

  test("an origin the operator configured is fetched, another port of it is not", async () => {
    const local = await listen(hello);
    const other = await listen(hello);
    const http = createHttpClient({ allowPrivate: [local.origin] });
    const answer = await http.fetch(local.origin, usual);
    expect(Buffer.from(answer.body).toString()).toBe("hello");
    await expect(http.fetch(other.origin, usual)).rejects.toMatchObject({
      code: "EAR_HTTP_REFUSED",
    });
    expect(other.connections()).toBe(0);
  });

  test("a redirect from an allowed place to a private one is refused", async () => {
    const secret = await listen(hello);
    const entry = await listen((_request, response) => {
      response.writeHead(302, { location: `${secret.origin}/inside` }).end();
    });
    const http = createHttpClient({ allowPrivate: [entry.origin] });
    await expect(http.fetch(entry.origin, usual)).rejects.toMatchObject({
      code: "EAR_HTTP_REFUSED",
    });
    expect(secret.connections()).toBe(0);
  });

  test("a redirect within what is allowed is followed, an endless one is not", async () => {
    const local = await listen((request, response) => {
      if (request.url === "/end") return void response.end("there");
      response.writeHead(302, { location: request.url === "/loop" ? "/loop" : "/end" }).end();
    });
    const http = createHttpClient({ allowPrivate: [local.origin] });
    const answer = await http.fetch(`${local.origin}/start`, usual);
    expect(Buffer.from(answer.body).toString()).toBe("there");
    await expect(http.fetch(`${local.origin}/loop`, usual)).rejects.toMatchObject({
      code: "EAR_HTTP_REFUSED",
    });
  });

  test("a name with one private answer among public ones is refused", async () => {
    const local = await listen(hello);
    const resolve = async () => [
      { address: "93.184.216.34", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ];
    const asked = createHttpClient({ resolve }).fetch(`http://rebind.test:${local.port}/`, usual);
    await expect(asked).rejects.toMatchObject({ code: "EAR_HTTP_REFUSED" });
    expect(local.connections()).toBe(0);
  });

  test("the socket goes to the address that was checked; the name is asked once", async () => {
    const local = await listen((request, response) => void response.end(request.headers.host));
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return [{ address: "127.0.0.1", family: 4 }];
    };
    const origin = `http://pinned.test:${local.port}`;
    const answer = await createHttpClient({ resolve, allowPrivate: [origin] }).fetch(origin, usual);
    expect(Buffer.from(answer.body).toString()).toBe(`pinned.test:${local.port}`);
    expect(asked).toBe(1);
  });

  test("a body over the cap is cut off while it streams, whatever length was declared", async () => {
    const local = await listen((_request, response) => {
      const more = setInterval(() => response.write(Buffer.alloc(512)), 1);
      response.on("close", () => clearInterval(more));
    });
    const http = createHttpClient({ allowPrivate: [local.origin] });
    await expect(http.fetch(local.origin, usual)).rejects.toMatchObject({
      code: "EAR_HTTP_REFUSED",
    });
    const stream = await http.stream(local.origin, usual);
    await expect(new Response(stream as never).text()).rejects.toBeDefined();
  });

  test("an answer that never comes ends at the time limit", async () => {
    const local = await listen(() => {});
    const http = createHttpClient({ allowPrivate: [local.origin] });
    const asked = http.fetch(local.origin, { ...usual, msMax: 100 });
    await expect(asked).rejects.toMatchObject({ code: "EAR_HTTP_FAILED", disposition: "retry" });
  });

  test("errors say why without repeating the address", async () => {
    const error: unknown = await createHttpClient()
      .fetch("http://127.0.0.1/?token=canary", usual)
      .catch((reason: unknown) => reason);
    expect(String(error)).toContain("private place");
    expect(String(error)).not.toContain("canary");
  });

  property([fc.ipV4()])("an IPv4 address inside IPv6 is never public", (address) => {
    expect(isPublicAddress(`::ffff:${address}`)).toBe(false);
    expect(isPublicAddress(`64:ff9b::${address}`)).toBe(false);
  });

  test.each(["93.184.216.34", "8.8.8.8", "2606:4700::1111"])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});
