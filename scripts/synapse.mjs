// The Matrix channel against a real homeserver: `npm run synapse`. Debian stable has no Synapse, so that of
// Debian's unstable branch is installed into a folder of its own (debootstrap), started there on loopback,
// and the tests that need it run. Nothing is changed outside that folder; it stays for the next time.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";
import { commandLine } from "./command-line.mjs";
import { root } from "./prepare.mjs";

const folder = process.env.EARSHOT_SYNAPSE_FOLDER ?? "/var/tmp/earshot-synapse";
const say = (line) => process.stderr.write(`synapse: ${line}\n`);

const debian = join(folder, "debian");
const data = join(debian, "earshot");
const program = "/usr/bin/synapse_homeserver";
const conf = ["--config-path", "/earshot/homeserver.yaml"];
const help = `Usage: npm run synapse

Tests the Matrix channel against a real Synapse. It needs:
  Linux, as root (it installs with debootstrap and starts with chroot)
  the Debian package debootstrap
  a Debian mirror that can be reached, 700 MB of disk, two minutes the first time
EARSHOT_SYNAPSE_FOLDER says where it is installed. Default: ${folder}
Example: EARSHOT_SYNAPSE_FOLDER=/srv/synapse npm run synapse

`;

function must(command, args) {
  const { status } = spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status === 0) return;
  say(`failed: ${command} ${args.join(" ")}`);
  process.exit(1);
}

/** What the machine lacks, each with what to do. */
function lacking() {
  return [
    ...(process.platform === "linux" ? [] : ["it runs on Linux only"]),
    ...(process.getuid?.() === 0 ? [] : ["run it as root: sudo npm run synapse"]),
    ...(existsSync("/usr/sbin/debootstrap")
      ? []
      : ["install debootstrap: apt-get install debootstrap"]),
  ];
}

function install() {
  if (!existsSync(join(debian, program))) {
    say(`installs Debian's unstable branch into ${debian}`);
    rmSync(debian, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    must("debootstrap", ["--variant=minbase", "sid", debian]);
    say("installs Synapse there");
    // A mirror may be a picture of an earlier day, which is good enough for a test.
    const install =
      "export DEBIAN_FRONTEND=noninteractive; " +
      "apt-get update -qq -o Acquire::Check-Valid-Until=false && " +
      "apt-get install -y -qq --no-install-recommends matrix-synapse";
    must("chroot", [debian, "sh", "-c", install]);
  }
}

async function freePort() {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address();
  taken.close();
  await once(taken, "close");
  return port;
}

/** Writes what Synapse reads at its start, and its key. */
function configure(port, secret) {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
  const often = { per_second: 10_000, burst_count: 10_000 };
  const config = {
    server_name: "hs.test",
    report_stats: false,
    pid_file: "/earshot/pid",
    signing_key_path: "/earshot/signing.key",
    media_store_path: "/earshot/media",
    log_config: "/earshot/log.yaml",
    listeners: [
      {
        port,
        bind_addresses: ["127.0.0.1"],
        type: "http",
        resources: [{ names: ["client"], compress: false }],
      },
    ],
    database: { name: "sqlite3", args: { database: "/earshot/homeserver.db" } },
    registration_shared_secret: secret,
    macaroon_secret_key: randomBytes(24).toString("hex"),
    trusted_key_servers: [],
    rc_message: often,
    rc_login: { address: often, account: often, failed_attempts: often },
    rc_joins: { local: often, remote: often },
    rc_invites: { per_room: often, per_user: often, per_issuer: often },
    rc_room_creation: often,
  };
  const log = {
    version: 1,
    formatters: { plain: { format: "%(asctime)s %(levelname)s %(message)s" } },
    handlers: {
      file: { class: "logging.FileHandler", filename: "/earshot/log", formatter: "plain" },
    },
    root: { level: "WARNING", handlers: ["file"] },
  };
  // YAML includes JSON.
  writeFileSync(join(data, "homeserver.yaml"), JSON.stringify(config));
  writeFileSync(join(data, "log.yaml"), JSON.stringify(log));
  must("chroot", [debian, program, ...conf, "--generate-keys"]);
}

async function run() {
  const lacks = lacking();
  for (const line of lacks) say(line);
  if (lacks.length > 0) process.exit(2);
  install();
  const port = await freePort();
  const secret = randomBytes(24).toString("hex");
  configure(port, secret);
  const url = `http://127.0.0.1:${port}`;
  const server = spawn("chroot", [debian, program, ...conf], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const end = () => server.kill("SIGTERM");
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  try {
    say(`starts at ${url}`);
    for (const until = Date.now() + 60_000; ; await passed(200)) {
      const answer = await fetch(`${url}/_matrix/client/versions`).catch(() => null);
      if (answer?.ok) break;
      if (server.exitCode !== null || Date.now() > until)
        throw new Error(`it does not answer; see ${join(data, "log")}`);
    }
    const env = { ...process.env, EARSHOT_SYNAPSE: url, EARSHOT_SYNAPSE_SECRET: secret };
    const args = ["vitest", "run", "test/adapters/channels/matrix/synapse.test.ts"];
    const tests = spawn("npx", args, { cwd: root, env, stdio: "inherit" });
    const [code] = await once(tests, "exit");
    return code === 0;
  } catch (error) {
    say(String(error.message ?? error));
    return false;
  } finally {
    end();
  }
}

await commandLine({ name: "synapse", help, docs: "docs/channels/matrix.md", run });
