// A real Restate server on this machine: `npm run restate`. The binary comes from the npm registry into a
// cache folder the first time; it is no dependency of earshot. It runs until SIGINT or SIGTERM.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { commandLine } from "./command-line.mjs";
import { cacheFolder, installed, version } from "./restate/install.mjs";
import { startServer } from "./restate/server.mjs";

const say = (line) => process.stderr.write(`restate: ${line}\n`);
const dataFolder = join(
  process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"),
  "earshot",
  "restate",
);
const help = `Usage: npm run restate [-- options]

Starts Restate ${version} on 127.0.0.1 and ends it on SIGINT or SIGTERM. The first time it is installed
from the npm registry. Its license is the Business Source License 1.1: docs/scaling.md says what it allows.
Example: npm run restate -- --data /tmp/restate --json

  --ingress-port N  where calls come in. Default: 8080; 0: a free one
  --admin-port N    where services are registered, and its page. Default: 9070; 0: a free one
  --data FOLDER     what it stores, and server.log. Default: ${dataFolder}
  --cache FOLDER    where it is installed. Default: ${cacheFolder()}
  --install         installs it, and starts nothing
  --json            prints one line of JSON when it is ready (with --install: when it is installed)
`;

function port(text, flag) {
  const number = Number(text);
  if (/^\d+$/u.test(text) && number <= 65_535) return number;
  throw new Error(`Cannot start Restate: ${flag} is a port, from 0 to 65535 (got ${text}).`);
}

const options = /** @type {const} */ ({
  "ingress-port": { type: "string", default: "8080" },
  "admin-port": { type: "string", default: "9070" },
  data: { type: "string", default: dataFolder },
  cache: { type: "string", default: cacheFolder() },
  install: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
});

function check(values) {
  return {
    ...values,
    ingressPort: port(values["ingress-port"], "--ingress-port"),
    adminPort: port(values["admin-port"], "--admin-port"),
    data: resolve(values.data),
    cache: resolve(values.cache),
  };
}

async function run(asked) {
  const announce = (ready, line) =>
    asked.json ? process.stdout.write(`${JSON.stringify(ready)}\n`) : say(line);
  const binary = await installed(asked.cache, say);
  if (asked.install) {
    announce({ version, binary }, `is installed: ${binary}`);
    return true;
  }

  const stopping = new AbortController();
  const { signal } = stopping;
  for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => stopping.abort());
  const server = await startServer(binary, { ...asked, signal }).catch((error) => {
    if (!signal.aborted) throw error;
    return null;
  });
  if (server === null) {
    say("stopped");
    return true;
  }
  const { ended, ...ready } = server;
  const { ingress, admin, log } = ready;
  announce(
    { version, ...ready },
    `${version} is ready: ingress ${ingress}, admin ${admin}, log ${log}`,
  );
  const { code, by } = await ended;
  const isStopped = signal.aborted && code === 0;
  say(
    isStopped ? "stopped" : `the server ended by itself (${by ?? `exit code ${code}`}). See ${log}`,
  );
  return isStopped;
}

try {
  await commandLine({ name: "restate", help, docs: "docs/scaling.md", options, check, run });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
