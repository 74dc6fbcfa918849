/**
 * Real IRC servers, as Debian has them: inspircd with the capabilities of IRCv3 and, if wanted, the
 * services of atheme (accounts, SASL, NickServ); ngircd with RFC 2812 and little more.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "../daemon/self-signed.ts";
import { freePort } from "../free-port.ts";
import { IrcPerson } from "./person.ts";

/** The programs, and the Debian packages that have them. */
const programs = {
  inspircd: "/usr/sbin/inspircd",
  ngircd: "/usr/sbin/ngircd",
  "atheme-services": "/usr/bin/atheme-services",
} as const;

/** What must be installed for these servers; empty: nothing. */
export const missingPackages = (...names: readonly (keyof typeof programs)[]): string =>
  names.filter((name) => !existsSync(programs[name])).join(" ");

export interface Ircd {
  readonly port: number;
  readonly tlsPort: number;
  /** Ends it at once and starts it again on the same ports, with another server password. */
  restart(password?: string): Promise<void>;
  stop(): Promise<void>;
}

/** Paths of a new certificate for localhost and of its key. */
function certificateIn(folder: string): { readonly cert: string; readonly key: string } {
  const { cert, key } = selfSigned("localhost", ["localhost"]);
  const paths = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  writeFileSync(paths.cert, cert);
  writeFileSync(paths.key, key);
  return paths;
}

async function reachable(port: number, child: ChildProcess, said: () => string): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (child.exitCode !== null) throw new Error(`the IRC server ended: ${said()}`);
    const socket = connect({ host: "127.0.0.1", port });
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`the IRC server does not answer: ${said()}`);
}

function run(program: string, args: readonly string[], cwd: string) {
  const child = spawn(program, [...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => {
      said = (said + String(data)).slice(-4_000);
    });
  return { child, said: () => said };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** Another inspircd of the same network, which an operator of this one can CONNECT to and SQUIT. */
interface Peer {
  readonly name: string;
  readonly linkPort: number;
}

interface InspircdStart {
  readonly services?: boolean;
  /** @default irc.test, 1TS */
  readonly as?: { readonly name: string; readonly id: string };
  readonly linkPort?: number;
  readonly peer?: Peer;
}

/** A running inspircd; with `services`, atheme is linked to it. */
export async function startInspircd(options: InspircdStart = {}): Promise<Ircd> {
  const folder = mkdtempSync(join(tmpdir(), "insp-"));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const linkPort = options.linkPort ?? (await freePort());
  const { as = { name: "irc.test", id: "1TS" }, peer } = options;
  const { cert, key } = certificateIn(folder);
  const file = join(folder, "inspircd.conf");
  const services = options.services === true;
  const configure = (password?: string) =>
    writeFileSync(
      file,
      inspircdConfig({ folder, port, tlsPort, linkPort, cert, key, services, password, as, peer }),
    );
  configure();
  const begin = async () => {
    const started = run(programs.inspircd, ["--nofork", "--runasroot", `--config=${file}`], folder);
    await reachable(port, started.child, started.said);
    return started.child;
  };
  let child = await begin();
  const linked = services ? await startAtheme(folder, linkPort, () => port) : null;
  return {
    port,
    tlsPort,
    async restart(password) {
      await end(child);
      configure(password);
      child = await begin();
    },
    async stop() {
      if (linked !== null) await end(linked);
      await end(child);
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Two inspircds that know each other, not yet linked. */
export async function startInspircdPair(): Promise<readonly [Ircd, Ircd]> {
  const [one, two] = [
    { name: "irc.test", linkPort: await freePort() },
    { name: "leaf.test", linkPort: await freePort() },
  ];
  return [
    await startInspircd({ linkPort: one.linkPort, peer: two }),
    await startInspircd({ as: { name: two.name, id: "2TS" }, linkPort: two.linkPort, peer: one }),
  ];
}

interface InspircdOptions {
  readonly as: { readonly name: string; readonly id: string };
  readonly peer: Peer | undefined;
  readonly folder: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly linkPort: number;
  readonly cert: string;
  readonly key: string;
  readonly services: boolean;
  readonly password: string | undefined;
}

function inspircdConfig(options: InspircdOptions): string {
  const { folder, port, tlsPort, linkPort, cert, key, services, password, as, peer } = options;
  const modules = [
    ...["ssl_gnutls", "cap", "ircv3", "ircv3_accounttag", "ircv3_batch", "ircv3_capnotify"],
    ...["ircv3_chghost", "ircv3_ctctags", "ircv3_echomessage", "ircv3_labeledresponse"],
    ...[
      "ircv3_msgid",
      "ircv3_servertime",
      "chanhistory",
      "botmode",
      "namesx",
      "uhnames",
      "chghost",
    ],
    ...(services ? ["sasl", "services_account"] : []),
    ...(services || peer !== undefined ? ["spanningtree"] : []),
  ];
  const linkTo = (name: string, to: number) => `
<bind address="127.0.0.1" port="${linkPort}" type="servers">
<link name="${name}" ipaddr="127.0.0.1" allowmask="127.0.0.1/32" port="${to}"
  sendpass="linked" recvpass="linked">`;
  const link = `${linkTo("services.test", linkPort)}
<sasl target="services.test" requiressl="no">
<uline server="services.test" silent="yes">`;
  return `${modules.map((name) => `<module name="${name}">`).join("\n")}
<server name="${as.name}" description="test" network="Test" id="${as.id}">
<admin name="a" nick="a" email="a@irc.test">
<bind address="127.0.0.1" port="${port}" type="clients">
<bind address="127.0.0.1" port="${tlsPort}" type="clients" sslprofile="tls">
<sslprofile name="tls" provider="gnutls" certfile="${cert}" keyfile="${key}">
<connect allow="*" ${password === undefined ? "" : `password="${password}"`} fakelag="no"
  threshold="1000" commandrate="1000000"
  resolvehostnames="no" timeout="20" pingfreq="120" localmax="200" globalmax="200" maxchans="200">
<class name="all" commands="*" privs="*" usermodes="*" chanmodes="*">
<type name="Root" classes="all"><oper name="root" password="root" host="*@*" type="Root">
<performance softlimit="400" somaxconn="128">
<chanhistory maxlines="100" prefixmsg="no" bots="yes">
<pid file="${join(folder, "inspircd.pid")}">
<files motd="/dev/null">
<log method="file" type="*" level="default" target="${join(folder, "inspircd.log")}">
${services ? link : ""}${peer === undefined ? "" : linkTo(peer.name, peer.linkPort)}
`;
}

/** Links the services; resolves when NickServ answers. */
async function startAtheme(
  folder: string,
  linkPort: number,
  port: () => number,
): Promise<ChildProcess> {
  const file = join(folder, "atheme.conf");
  writeFileSync(file, athemeConfig(linkPort));
  const data = ["-D", folder, "-l", join(folder, "atheme.log"), "-p", join(folder, "atheme.pid")];
  const { child, said } = run(programs["atheme-services"], ["-n", "-c", file, ...data], folder);
  const asking = await IrcPerson.connect(port(), "asking");
  for (let tries = 0; ; tries += 1) {
    const answer = await asking.ask("WHOIS NickServ");
    if (answer.some((line) => line.includes(" 311 "))) break;
    if (tries > 200 || child.exitCode !== null) throw new Error(`atheme is not linked: ${said()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await asking.close();
  return child;
}

const athemeConfig = (linkPort: number) => {
  const modules = [
    ...["protocol/inspircd", "backend/opensex", "crypto/rawsha1", "nickserv/main"],
    ...["nickserv/identify", "nickserv/register", "nickserv/set_core", "nickserv/set_password"],
    ...["saslserv/main", "saslserv/plain"],
  ];
  return `${modules.map((name) => `loadmodule "modules/${name}";`).join("\n")}
serverinfo {
  name = "services.test";
  desc = "services";
  numeric = "00A";
  recontime = 1;
  netname = "Test";
  adminname = "a";
  adminemail = "a@irc.test";
  registeremail = "a@irc.test";
  auth = none;
  loglevel = { error; };
  maxlogins = 100;
  maxusers = 0;
  mdlimit = 30;
  emaillimit = 100;
  emailtime = 300;
  casemapping = ascii;
};
uplink "irc.test" {
  host = "127.0.0.1";
  send_password = "linked";
  receive_password = "linked";
  port = ${linkPort};
};
nickserv {
  nick = "NickServ";
  user = "NickServ";
  host = "services.test";
  real = "n";
};
saslserv {
  nick = "SaslServ";
  user = "SaslServ";
  host = "services.test";
  real = "s";
};
general {
  commit_interval = 60;
};
`;
};

/** A running ngircd. */
export async function startNgircd(serverPassword?: string): Promise<Ircd> {
  const folder = mkdtempSync(join(tmpdir(), "ngircd-"));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const { cert, key } = certificateIn(folder);
  const file = join(folder, "ngircd.conf");
  const configure = (password?: string) =>
    writeFileSync(file, ngircdConfig({ port, tlsPort, cert, key, password }));
  configure(serverPassword);
  const begin = async () => {
    const started = run(programs.ngircd, ["--nodaemon", "--config", file], folder);
    await reachable(port, started.child, started.said);
    return started.child;
  };
  let child = await begin();
  return {
    port,
    tlsPort,
    async restart(password) {
      await end(child);
      configure(password);
      child = await begin();
    },
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** As root it would become another user, who cannot read the folder. */
const owner = () => spawnSync("id", ["-un"]).stdout.toString().trim();

const ngircdConfig = ({
  port,
  tlsPort,
  cert,
  key,
  password,
}: Pick<InspircdOptions, "port" | "tlsPort" | "cert" | "key" | "password">) => `[Global]
Name = ng.test
Info = test
Listen = 127.0.0.1
Ports = ${port}
MotdPhrase = hello
ServerUID = ${owner()}
${password === undefined ? "" : `Password = ${password}`}
[Limits]
MaxNickLength = 30
MaxConnectionsIP = 0
MaxJoins = 50
PingTimeout = 120
# No pauses after commands: our side decides how fast lines are sent.
MaxPenaltyTime = 0
[Options]
DNS = no
Ident = no
PAM = no
[Operator]
Name = root
Password = root
[SSL]
CertFile = ${cert}
KeyFile = ${key}
Ports = ${tlsPort}
`;
