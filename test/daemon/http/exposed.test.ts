/**
 * A daemon that others can reach: only with TLS of its own or behind a proxy that is named, with its
 * own names, and with nothing believed that a stranger's header says.
 */
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { knownHosts } from "../../../src/daemon/http/allowed-hosts.ts";
import { createClientAddresses } from "../../../src/daemon/http/client-address.ts";
import { readTls } from "../../../src/daemon/http/tls.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import {
  openHookDaemon,
  rawRequest,
  requestText,
  statusOf,
} from "../../support/daemon/hook-daemon.ts";
import { selfSigned } from "../../support/daemon/self-signed.ts";

function tlsFolder(common = "first") {
  const stateDir = newFolder();
  const files = { cert: join(stateDir, "cert.pem"), key: join(stateDir, "key.pem") };
  const renew = (name: string) => {
    const pair = selfSigned(name, ["bot.example.com"]);
    writeFileSync(files.cert, pair.cert);
    writeFileSync(files.key, pair.key, { mode: 0o600 });
  };
  renew(common);
  return { stateDir, files, renew };
}

/** The port of the https listener, from the log's words about being ready. */
function exposedPort(log: readonly string[]): number {
  const ready = log.map((line) => JSON.parse(line)).find(({ exposed }) => exposed !== undefined);
  return Number(new URL(ready?.exposed).port);
}

const subjectAt = (port: number) =>
  new Promise<string>((resolve, reject) => {
    const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate(true).raw).subject);
      socket.destroy();
    });
    socket.on("error", reject);
  });

const secureStatus = (port: number, path: string, headers: Record<string, string> = {}) =>
  new Promise<number>((resolve, reject) => {
    const asked = request(
      { port, host: "127.0.0.1", path, headers, rejectUnauthorized: false, agent: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    asked.on("error", reject);
    asked.end();
  });

test("with a certificate others are answered in https, this machine in plain http, both by the token", async () => {
  const { stateDir } = tlsFolder();
  const server = { host: "0.0.0.0", exposed: true, tls: { cert: "cert.pem", key: "key.pem" } };
  const door = await openHookDaemon({ server }, { stateDir });
  const port = exposedPort(door.log);
  const authorization = `Bearer ${door.daemon.token}`;
  expect(await secureStatus(port, "/healthz")).toBe(200);
  expect(await secureStatus(port, "/api/status")).toBe(401);
  expect(await secureStatus(port, "/api/status", { authorization })).toBe(200);
  expect(await secureStatus(port, "/healthz", { host: "evil.example" })).toBe(421);
  expect(await secureStatus(port, "/healthz", { origin: `http://127.0.0.1:${port}` })).toBe(403);
  expect(await secureStatus(port, "/healthz", { origin: `https://127.0.0.1:${port}` })).toBe(200);
  expect(door.daemon.base).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await door.api("/api/status")).status).toBe(200);
  // Plain words at the secure port are no request.
  const plain = await rawRequest(port, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").catch(() => "");
  expect(plain).not.toContain("200 OK");
  const page = new WebSocket(`wss://127.0.0.1:${port}/ws`, { rejectUnauthorized: false });
  const ready = new Promise((resolve) => page.on("message", (data) => resolve(String(data))));
  page.on("open", () => {
    page.send(JSON.stringify({ type: "hello", token: door.daemon.token, after: 0 }));
  });
  expect(JSON.parse(String(await ready))).toMatchObject({ type: "ready" });
  page.close();
});

test("a renewed certificate is used without a restart, a broken one is not", async () => {
  const { stateDir, files, renew } = tlsFolder();
  const server = { host: "0.0.0.0", exposed: true, tls: files };
  const door = await openHookDaemon({ server }, { stateDir });
  const port = exposedPort(door.log);
  expect(await subjectAt(port)).toBe("CN=first");
  const findings = async (event: string) => {
    for (let n = 0; n < 250 && !door.log.join("").includes(event); n += 1)
      await new Promise((go) => setTimeout(go, 100));
  };
  writeFileSync(files.cert, "this is no certificate");
  await findings("tls.refused");
  expect(door.log.join("")).toContain("the last good certificate");
  expect(await subjectAt(port)).toBe("CN=first");
  renew("second");
  await findings("tls.renewed");
  expect(await subjectAt(port)).toBe("CN=second");
});

test("a certificate that cannot be read, or fits no key, stops the start by its name", async () => {
  const one = tlsFolder();
  const other = tlsFolder();
  await expect(readTls({ ...one.files, key: "/nowhere/key.pem" })).rejects.toThrow(
    "server.tls.key: /nowhere/key.pem cannot be read (ENOENT)",
  );
  const mixed = { cert: one.files.cert, key: other.files.key };
  await expect(readTls(mixed)).rejects.toThrow("are not a certificate and its key");
  const server = { host: "0.0.0.0", exposed: true, tls: mixed };
  await expect(openHookDaemon({ server }, { stateDir: one.stateDir })).rejects.toMatchObject({
    code: "EAR_CONFIG_INVALID",
  });
  expect(await readTls(one.files)).toMatchObject({ cert: expect.stringContaining("BEGIN") });
});

/** An address of this machine that is not loopback; null where there is none. */
const outside = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

test("behind a proxy its name is ours, and nothing that a header says makes anybody local", async () => {
  const server = { proxy: { addresses: ["127.0.0.1"] }, publicUrl: "https://bot.example.com" };
  const door = await openHookDaemon({ server });
  const ask = (path: string, ...lines: string[]) =>
    door.raw(requestText([`GET ${path} HTTP/1.1`, "Connection: close", ...lines])).then(statusOf);
  const own = `Host: 127.0.0.1:${door.port}`;
  const proxied = ["Host: bot.example.com", "X-Forwarded-For: 203.0.113.9"];
  expect(await ask("/healthz", ...proxied)).toBe(200);
  expect(await ask("/healthz", ...proxied, "Origin: https://bot.example.com")).toBe(200);
  expect(await ask("/healthz", ...proxied, "Origin: http://bot.example.com")).toBe(403);
  expect(await ask("/healthz", "Host: other.example.com")).toBe(421);
  expect(await ask("/healthz", own, "X-Forwarded-Host: other.example.com")).toBe(200);
  expect(await ask("/api/status", ...proxied, "X-Forwarded-User: owner")).toBe(401);
  // What only this machine may see: a proxy's visitor is not this machine, whatever he claims.
  expect(await ask("/metrics", own)).toBe(200);
  for (const claim of ["X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "Via: 1.1 a"])
    expect(await ask("/metrics", own, claim)).toBe(401);
});

test("exposed behind a proxy, only the proxy and this machine get a connection", () => {
  const { admits } = createClientAddresses({ proxies: ["192.0.2.0/24"], onlyProxies: true });
  const from = (remoteAddress: string | undefined, localAddress: string | undefined = "10.0.0.1") =>
    admits({ remoteAddress, localAddress });
  expect(from("192.0.2.77")).toBe(true);
  expect(from("::ffff:192.0.2.1", "::ffff:10.0.0.1")).toBe(true);
  expect(from("127.0.0.1", "127.0.0.1")).toBe(true);
  expect(from("10.0.0.1")).toBe(true);
  expect(from("198.51.100.7")).toBe(false);
  expect(from("::ffff:198.51.100.7")).toBe(false);
  expect(admits({ remoteAddress: undefined, localAddress: undefined })).toBe(false);
  const anyone = createClientAddresses({ proxies: ["192.0.2.0/24"], onlyProxies: false });
  expect(anyone.admits({ remoteAddress: "198.51.100.7", localAddress: "10.0.0.1" })).toBe(true);
});

test.runIf(outside !== undefined)("our own outer address is still this machine", async () => {
  const proxy = { addresses: ["203.0.113.0/24"] };
  const door = await openHookDaemon({ server: { host: "0.0.0.0", exposed: true, proxy } });
  expect((await fetch(`http://${outside}:${door.port}/healthz`)).status).toBe(200);
});

test.runIf(outside !== undefined)(
  "one address beyond this machine gets 200 connections",
  async () => {
    const proxy = { addresses: ["203.0.113.0/24"] };
    const door = await openHookDaemon({ server: { host: "0.0.0.0", exposed: true, proxy } });
    let shut = 0;
    const sockets = Array.from({ length: 230 }, () => {
      const socket = connect(door.port, outside as string).resume();
      socket.on("error", () => undefined);
      socket.on("close", () => {
        shut += 1;
      });
      return socket;
    });
    for (let n = 0; n < 400 && shut < 30; n += 1) await new Promise((go) => setTimeout(go, 20));
    expect(shut).toBe(30);
    expect((await door.api("/api/status")).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    for (let n = 0; n < 400 && shut < 230; n += 1) await new Promise((go) => setTimeout(go, 20));
    // The server hears in its own time that they are gone.
    const health = () => fetch(`http://${outside}:${door.port}/healthz`);
    await expect
      .poll(() => health().then(({ status }) => status, String), { timeout: 60_000 })
      .toBe(200);
  },
);

test("of a chain of addresses only what our own proxies wrote is believed", () => {
  const { address } = createClientAddresses({
    proxies: ["10.0.0.0/8", "fd00::1"],
    onlyProxies: false,
  });
  const from = (remoteAddress: string, forwarded?: string | string[]) =>
    address({
      headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
      socket: { remoteAddress },
    } as never);
  expect(from("203.0.113.9", "127.0.0.1")).toBe("203.0.113.9");
  expect(from("10.0.0.1", "127.0.0.1, 203.0.113.9")).toBe("203.0.113.9");
  expect(from("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2")).toBe("203.0.113.9");
  expect(from("10.0.0.1", ["6.6.6.6", "203.0.113.9"])).toBe("203.0.113.9");
  expect(from("fd00::1", "2001:db8::5")).toBe("2001:db8::5");
  expect(from("10.0.0.1", "no address at all")).toBe("10.0.0.1");
  expect(from("::ffff:10.0.0.1", "203.0.113.9")).toBe("203.0.113.9");
  expect(from("10.0.0.1")).toBe("10.0.0.1");
  expect(from("10.0.0.1", Array.from({ length: 500 }, () => "10.0.0.3").join(","))).toBe(
    "10.0.0.3",
  );
});

test("a listener knows its names whole, and both schemes apart", () => {
  const known = knownHosts(
    [
      { host: "bot.lan", port: 443, scheme: "https" },
      { host: "127.0.0.1", port: 4_747, scheme: "http" },
    ],
    "https://Bot.Example.com/",
  );
  for (const name of ["bot.lan", "bot.lan:443", "BOT.example.com", "127.0.0.1:4747", "localhost"])
    expect(known.host(name)).toBe(true);
  for (const name of ["bot.lan:4747", "bot.example.com:80", "bot.example.com.", "x.bot.lan", ""])
    expect(known.host(name)).toBe(false);
  expect(known.origin("https://bot.example.com")).toBe(true);
  expect(known.origin("http://bot.example.com")).toBe(false);
  expect(known.origin("https://127.0.0.1:4747")).toBe(false);
});
