// Starts one Restate server on loopback, as one node with all roles, and knows when it is ready. It reports
// nothing to its makers (disable-telemetry), keeps to a small memory, and writes its log beside its data.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";

const startMsMax = 60_000;
/** A free port may be taken before the server binds it: then others are chosen. */
const startsMax = 5;

/** Resolves to the port if it is free, to a free one for 0. Throws an Error that names the flag. */
async function freePort(port, flag) {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (error.code !== "EADDRINUSE") throw error;
    throw new Error(
      `Cannot start Restate: port ${port} is in use. Choose another with ${flag}; 0 takes a free one.`,
    );
  }
  const found = server.address().port;
  server.close();
  await once(server, "close");
  return found;
}

/**
 * Starts it and resolves when both its ports answer as healthy; `signal` ends it in order, at any time. What `own`
 * names of Restate's documented variables is as it says, unless they are set.
 * Throws an Error with the end of its log when it ends before it is ready.
 */
export async function startServer(binary, options) {
  for (let starts = 1; ; starts += 1) {
    try {
      return await startOnce(binary, options);
    } catch (error) {
      if (!(error instanceof PortTaken) || starts === startsMax) throw error;
    }
  }
}

class PortTaken extends Error {}

async function startOnce(binary, { ingressPort, adminPort, data, signal, own = {} }) {
  const ingress = await freePort(ingressPort, "--ingress-port");
  const admin = await freePort(adminPort, "--admin-port");
  // For other nodes of a cluster: there are none.
  const fabric = await freePort(0, "");
  mkdirSync(data, { recursive: true });
  const log = join(data, "server.log");
  // What a developer has set for Restate wins: those are its documented variables.
  const env = {
    RESTATE_CLUSTER_NAME: "earshot",
    RESTATE_NODE_NAME: "earshot",
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_LOG_DISABLE_ANSI_CODES: "true",
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "512 MiB",
    RESTATE_SHUTDOWN_TIMEOUT: "10s",
    // A node that stands still keeps its connection, and with it every call: by default for a minute.
    RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL: "2s",
    RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT: "3s",
    ...own,
    ...process.env,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${fabric}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${fabric}/`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
  };
  const output = openSync(log, "a");
  const before = fstatSync(output).size;
  const child = spawn(binary, ["--no-logo", "--base-dir", data], {
    env,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  const end = () => child.kill("SIGTERM");
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const server = {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    pid: child.pid,
    data,
    log,
    ended: once(child, "exit").then(([code, by]) => ({ code, by })),
  };
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  for (const until = Date.now() + startMsMax; ; await passed(50)) {
    if (await isHealthy(server)) return server;
    if (!isOver() && Date.now() < until) continue;
    child.kill("SIGKILL");
    const why = isOver() ? "it ended" : `it does not answer after ${startMsMax / 1_000} s`;
    const said = readFileSync(log).subarray(before).toString();
    const lines = said.trimEnd().split("\n").slice(-12);
    const Kind = isOver() && /address (already )?in use/iu.test(said) ? PortTaken : Error;
    throw new Kind(`Cannot start Restate: ${why}. See ${log}:\n${lines.join("\n")}`);
  }
}

async function isHealthy({ ingress, admin }) {
  for (const url of [`${ingress}/restate/health`, `${admin}/health`]) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok !== true) return false;
  }
  return true;
}
