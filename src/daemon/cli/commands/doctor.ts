/**
 * `earshot doctor`: checks everything that a daemon needs to run well, and says how to fix what is
 * wrong. It changes nothing. Platforms are asked which account a token belongs to.
 */
import { existsSync } from "node:fs";
import { access, constants, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { Command } from "commander";
import pc from "picocolors";
import { createSystemClock } from "../../../adapters/system/clock.ts";
import { accountsOf } from "../../../domain/config/daemon/channels.ts";
import type { EarshotConfig } from "../../../domain/config/index.ts";
import type { ChannelDefinition } from "../../../domain/ports/index.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import type { Session } from "../../../domain/session.ts";
import { noFacts } from "../../checks/check.ts";
import { checkConfig } from "../../checks/config-checks.ts";
import { tlsFacts } from "../../checks/tls-facts.ts";
import { createRegistry } from "../../config/registry.ts";
import { checkStateDir } from "../../state/state-dir.ts";
import { readToken, tokenFileOf } from "../../state/token.ts";
import { callApi, type DaemonAddress, findDaemon } from "../lib/api-client.ts";
import {
  action,
  errorText,
  printJson,
  printText,
  type StateOptions,
  stateDirFor,
  withStateDir,
} from "../lib/command.ts";
import { identifyAccount } from "../lib/identify-account.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { loadConfig } from "./config.ts";

interface DoctorOptions extends StateOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly offline?: boolean;
}

interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "wrong";
  readonly says: string;
}

const freeBytesMin = 200_000_000;
/** Width of the mark column. */
const markUnits = 9;
const sessionsShownMax = 20;
/** An earlier clock is wrong: this version did not exist then. */
const plausibleSince = Date.UTC(2025, 0, 1);

const help: HelpText = {
  about: "Changes nothing. Every finding that is not ok says how to fix it.",
  examples: [
    "earshot doctor",
    ["earshot doctor --offline", "without asking the platforms about their bots"],
    `earshot doctor --json | jq '.[] | select(.state != "ok")'`,
  ],
  exits: "0 nothing wrong (perhaps warnings), 1 something is wrong, 2 bad use.",
};

export function addDoctorCommand(program: Command): void {
  addHelp(withStateDir(program.command("doctor")), help)
    .description("Check state directory, config, port, disk, clock, tokens and dangerous settings")
    .option("--config <file>", "config file (EARSHOT_CONFIG)")
    .option("--offline", "do not ask the platforms")
    .option("--json", "for programs")
    .action(action(doctor));
}

const ok = (check: string, says: string): Finding => ({ check, state: "ok", says });
const warning = (check: string, says: string): Finding => ({ check, state: "warning", says });
const wrong = (check: string, error: unknown): Finding => ({
  check,
  state: "wrong",
  says: typeof error === "string" ? error : errorText(error),
});

async function doctor(options: DoctorOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  const findings = [await stateFinding(stateDir), await diskFinding(stateDir), clockFinding()];
  const loaded = await loadConfig(options).catch((error: unknown) => {
    findings.push(wrong("config", error));
    return null;
  });
  if (loaded !== null) {
    findings.push(ok("config", loaded.path ?? "embedded defaults"));
    for (const problem of loaded.warnings) findings.push(warning("config", problem));
    const folder = loaded.path === null ? stateDir : dirname(loaded.path);
    findings.push(await portFinding(loaded.config, stateDir));
    const daemon = await findDaemon(stateDir).catch(() => null);
    findings.push(...(await configFindings(loaded.config, folder, daemon)));
    if (daemon !== null) findings.push(...(await sessionFindings(daemon)));
    if (options.offline !== true) findings.push(...(await accountFindings(loaded.config)));
  }
  process.exitCode = findings.some(({ state }) => state === "wrong") ? 1 : 0;
  if (options.json === true) return printJson(findings);
  const marks = {
    ok: pc.green("ok     "),
    warning: pc.yellow("warning"),
    wrong: pc.red("wrong  "),
  };
  for (const { check, state, says } of findings)
    printText(`${marks[state]}  ${terminalSafe(`${check}: ${says}`)}`, markUnits);
}

const incomplete = (stateDir: string): Finding =>
  ok("state directory", `${stateDir} will be completed at the first start`);

async function stateFinding(stateDir: string): Promise<Finding> {
  try {
    await checkStateDir(stateDir);
    await access(stateDir, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${stateDir} cannot be written (${error.code}): name another --state-dir`);
    });
    // The first start writes the token.
    if (!existsSync(tokenFileOf(stateDir))) return incomplete(stateDir);
    await readToken(stateDir);
    return ok("state directory", stateDir);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing ? incomplete(stateDir) : wrong("state directory", error);
  }
}

async function diskFinding(stateDir: string): Promise<Finding> {
  for (const folder of [stateDir, "/", "."]) {
    const disk = await statfs(folder).catch(() => null);
    if (disk === null) continue;
    const free = disk.bavail * disk.bsize;
    const says = `${Math.floor(free / 1_000_000)} MB free`;
    return free < freeBytesMin
      ? warning("disk", `only ${says}: free some space`)
      : ok("disk", says);
  }
  return warning("disk", "the free space cannot be determined on this system");
}

function clockFinding(): Finding {
  const now = createSystemClock().now();
  return now < plausibleSince
    ? wrong("clock", `the clock says ${new Date(now).toISOString()}: set it, or credits never end`)
    : ok("clock", new Date(now).toISOString());
}

/** The port is free, or this state directory's daemon uses it. */
async function portFinding(config: EarshotConfig, stateDir: string): Promise<Finding> {
  const { host } = config.server;
  // The same precedence as `earshot start`.
  const variable = process.env.PORT ?? "";
  const port = variable === "" ? config.server.port : Number(variable);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return wrong("port", `PORT is "${variable}": expected a whole number from 0 to 65535`);
  const running = await findDaemon(stateDir).catch(() => null);
  if (running !== null) return ok("port", `a daemon answers on ${running.base}`);
  const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    const probe = createServer();
    probe.once("error", resolve);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)));
  });
  return error === null
    ? ok("port", `${host}:${port} is free`)
    : wrong("port", `${host}:${port} cannot be used (${error.code}): choose another with --port`);
}

/** The findings of all config checks. */
async function configFindings(
  config: EarshotConfig,
  folder: string,
  daemon: DaemonAddress | null,
): Promise<Finding[]> {
  const { channels } = createRegistry();
  const found = await checkConfig(config, ["mistake", "missing", "risk"], {
    ...noFacts,
    baseDir: folder,
    approved: daemon === null ? [] : await approvedPeople(daemon),
    local: (channel) => channels.get(channel)?.local ?? false,
    tls: await tlsFacts(config.server, folder, createSystemClock().now()),
  });
  if (found.length === 0) return [ok("settings", "nothing dangerous")];
  return found.map(({ at, wrong: problem, fix, level }) => ({
    check: at,
    state: level,
    says: `${problem}: ${fix}`,
  }));
}

/** Sessions of the running daemon in which an owner gave an agent more rights than its config. */
async function sessionFindings(daemon: DaemonAddress): Promise<Finding[]> {
  const found: Finding[] = [];
  for (let after: string | null = ""; after !== null && found.length < sessionsShownMax; ) {
    const query: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
    const page: SessionPage | null = await callApi(daemon, `/api/sessions?limit=1000${query}`);
    for (const { key, settings } of page?.sessions ?? []) {
      const { elevated, exec } = settings;
      const says = "its agent may do whatever it asks for, because an owner allowed it there";
      if (elevated === "full") found.push(warning(key, `${says}: /elevated off revokes that`));
      if (exec?.security === "full")
        found.push(warning(key, `${says}: /exec security=deny revokes that`));
    }
    after = page?.next ?? null;
  }
  return found.slice(0, sessionsShownMax);
}

/** People who may write directly because a code was approved or redeemed. */
async function approvedPeople(daemon: DaemonAddress): Promise<readonly string[]> {
  const answer = await callApi<{ people: readonly Admitted[] }>(daemon, "/api/pairings");
  const direct = (answer?.people ?? []).filter(({ scope }) => scope !== "group");
  return direct.map(({ channel, id }) => `${channel}:${id}`);
}

interface Admitted {
  readonly channel: string;
  readonly id: string;
  readonly scope: string;
}

interface SessionPage {
  readonly sessions: readonly Pick<Session, "key" | "settings">[];
  readonly next: string | null;
}

async function accountFindings(config: EarshotConfig): Promise<Finding[]> {
  const { channels } = createRegistry();
  const asked = Object.entries(config.channels).flatMap(([id, channel]) => {
    const definition = channels.get(id);
    if (definition === undefined || definition.local) return [];
    return accountsOf(channel).map(([account, own]) => identify(definition, account, own));
  });
  return Promise.all(asked);
}

async function identify(
  definition: ChannelDefinition,
  account: string,
  config: Readonly<Record<string, unknown>>,
): Promise<Finding> {
  const check = `${definition.id}/${account}`;
  try {
    const identity = await identifyAccount(definition, account, config);
    return ok(
      check,
      identity === undefined ? "configured" : `is ${identity.name} (${identity.id}) there`,
    );
  } catch (error) {
    return wrong(check, error);
  }
}
