/**
 * A real prosody, as Debian has it, run from a temporary folder and not as a service: accounts, rooms
 * with an archive (rooms.xmpp.test) and without one (plain.xmpp.test), files, STARTTLS.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "../daemon/self-signed.ts";
import { freePort } from "../free-port.ts";

const program = "/usr/bin/prosody";

/** What must be installed; empty: nothing. */
export const missingProsody = existsSync(program) ? "" : "prosody";

export const domain = "xmpp.test";
export const archivedRooms = `rooms.${domain}`;
export const plainRooms = `plain.${domain}`;
/** Rooms of a service that answers nothing, once `startSilent` has taken its place. */
export const silentRooms = `silent.${domain}`;

export interface Prosody {
  readonly port: number;
  readonly tlsPort: number;
  readonly componentPort: number;
  stop(): Promise<void>;
}

/** A running prosody with these accounts: name to password. */
export async function startProsody(accounts: Readonly<Record<string, string>>): Promise<Prosody> {
  const folder = mkdtempSync(join(tmpdir(), "prosody-"));
  const [port, tlsPort, httpPort] = [await freePort(), await freePort(), await freePort()];
  const componentPort = await freePort();
  const { cert, key } = selfSigned(domain, [domain]);
  writeFileSync(join(folder, "cert.pem"), cert);
  writeFileSync(join(folder, "key.pem"), key, { mode: 0o600 });
  // The form of prosody's internal storage (https://prosody.im/doc/storage).
  const stored = join(folder, "data", domain.replace(".", "%2e"), "accounts");
  mkdirSync(stored, { recursive: true });
  for (const [name, password] of Object.entries(accounts))
    writeFileSync(join(stored, `${name}.dat`), `return { ["password"] = "${password}"; };\n`);
  const file = join(folder, "prosody.cfg.lua");
  writeFileSync(file, configOf({ folder, port, tlsPort, httpPort, componentPort }));
  const child = spawn(program, ["-F", "--config", file], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => {
      said = (said + String(data)).slice(-4_000);
    });
  await reachable(port, child, () => said);
  return {
    port,
    tlsPort,
    componentPort,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

const componentSecret = "component";

/** Takes the place of a service (XEP-0114) that gets everything and answers nothing. */
export async function startSilent({ componentPort }: Prosody): Promise<{ close(): void }> {
  const socket = connect({ host: "127.0.0.1", port: componentPort });
  const said: string[] = [];
  const until = async (pattern: RegExp) => {
    for (;;) {
      const found = pattern.exec(said.join(""));
      if (found !== null) return found;
      await once(socket, "data");
    }
  };
  socket.on("data", (data) => said.push(String(data)));
  await once(socket, "connect");
  socket.write(
    `<stream:stream xmlns="jabber:component:accept" xmlns:stream="http://etherx.jabber.org/streams" to="${silentRooms}">`,
  );
  const [, id = ""] = await until(/<stream:stream[^>]*\sid=['"]([^'"]+)/);
  const proof = createHash("sha1").update(id).update(componentSecret).digest("hex");
  socket.write(`<handshake>${proof}</handshake>`);
  await until(/<handshake\s*\/>/);
  return { close: () => socket.destroy() };
}

async function reachable(port: number, child: ChildProcess, said: () => string): Promise<void> {
  for (let tries = 0; tries < 800; tries += 1) {
    if (child.exitCode !== null) throw new Error(`prosody ended: ${said()}`);
    const socket = connect({ host: "127.0.0.1", port });
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`prosody does not answer: ${said()}`);
}

const configOf = ({
  folder,
  port,
  tlsPort,
  httpPort,
  componentPort,
}: {
  readonly folder: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly httpPort: number;
  readonly componentPort: number;
}) => `
-- Otherwise it becomes another user, who cannot read the folder.
run_as_root = true
daemonize = false
pidfile = "${folder}/prosody.pid"
data_path = "${folder}/data"
log = { { levels = { min = "warn" }, to = "console" } }
interfaces = { "127.0.0.1" }
c2s_ports = { ${port} }
c2s_direct_tls_ports = { ${tlsPort} }
s2s_ports = {}
component_ports = { ${componentPort} }
http_ports = { ${httpPort} }
https_ports = {}
http_interfaces = { "127.0.0.1" }
http_external_url = "http://127.0.0.1:${httpPort}/"
network_backend = "epoll"
modules_enabled = {
  "roster", "saslauth", "tls", "disco", "ping", "mam", "register_ibr", "user_account_management",
  "time", "offline", "presence", "message", "iq", "c2s"
}
modules_disabled = { "s2s" }
c2s_require_encryption = false
authentication = "internal_hashed"
-- Not for secrets: with the usual 10,000, each login of a test would take a quarter of a second.
default_iteration_count = 4
storage = "internal"
default_archive_policy = true
archive_expires_after = "never"
ssl = { certificate = "${folder}/cert.pem"; key = "${folder}/key.pem" }
VirtualHost "${domain}"
Component "${archivedRooms}" "muc"
  modules_enabled = { "muc_mam" }
  muc_log_by_default = true
  muc_log_expires_after = "never"
Component "${plainRooms}" "muc"
Component "${silentRooms}"
  component_secret = "${componentSecret}"
Component "files.${domain}" "http_file_share"
  http_host = "127.0.0.1"
  http_file_share_size_limit = 100000
`;
