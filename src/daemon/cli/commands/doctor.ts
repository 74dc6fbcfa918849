/**
 * `earshot doctor`: checks everything that a daemon needs to run well, and says how to fix what is
 * wrong. It changes nothing. Models, web services and platforms that the config names are tried.
 */
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { Command } from "commander";
import pc from "picocolors";
import { checkDatabase } from "../../../adapters/stores/check-database.ts";
import { createSystemClock } from "../../../adapters/system/clock.ts";
import type { EarshotConfig } from "../../../domain/config/index.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import type { Session } from "../../../domain/session.ts";
import { type Checked, checkEverything } from "../../checks/live/everything.ts";
import type { CheckResult } from "../../checks/live/live-checks.ts";
import { machineResults } from "../../checks/live/machine.ts";
import { createRegistry } from "../../config/registry.ts";
import { storePathOf } from "../../state/state-dir.ts";
import { callApi, type DaemonAddress, DaemonSilent, findDaemon } from "../lib/api-client.ts";
import { collectChecks } from "../lib/check-progress.ts";
import {
  action,
  errorText,
  printJson,
  printText,
  type StateOptions,
  stateDirFor,
  withStateDir,
} from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { loadConfig } from "./config.ts";

interface DoctorOptions extends StateOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly offline?: boolean;
}

type Finding = CheckResult;

/** Width of the mark column. */
const markUnits = 9;
const sessionsReadMax = 20;

const help: HelpText = {
  about: "Changes nothing. Every problem comes with its fix.",
  examples: [
    "earshot doctor",
    ["earshot doctor --offline", "skip models, web services and platforms"],
    `earshot doctor --json | jq '.[] | select(.state != "ok")'`,
  ],
  exits: "0 no problem (there may be warnings); 1 at least one problem; 2 usage error.",
};

export function addDoctorCommand(program: Command): void {
  addHelp(withStateDir(program.command("doctor")), help)
    .description("Check the config, keys, models, channels, port, database and disk")
    .option("--config <file>", "config file (EARSHOT_CONFIG)")
    .option("--offline", "do not use the network")
    .option("--json", "print JSON")
    .action(action(doctor));
}

const ok = (check: string, says: string): Finding => ({ check, state: "ok", says });
const wrong = (check: string, error: unknown): Finding => ({
  check,
  state: "wrong",
  says: typeof error === "string" ? error : errorText(error),
});

async function doctor(options: DoctorOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  const clock = createSystemClock();
  const loaded = await loadConfig(options).catch((error: unknown) => wrong("config", error));
  const findings: Finding[] = [];
  if ("check" in loaded) findings.push(...(await machineResults(stateDir, clock)), loaded);
  else {
    findings.push({ check: "config", state: "ok", says: loaded.path ?? "built-in defaults" });
    for (const says of loaded.warnings) findings.push({ check: "config", state: "warning", says });
    const found = await findDaemon(stateDir).catch((error: unknown) =>
      error instanceof DaemonSilent ? error : null,
    );
    const daemon = found instanceof DaemonSilent ? null : found;
    if (found instanceof DaemonSilent) findings.push(wrong("daemon", found));
    else findings.push(await portFinding(loaded.config, daemon));
    findings.push(await databaseFinding(loaded.config, stateDir));
    const subject = {
      config: loaded.config,
      ...createRegistry(),
      baseDir: loaded.path === null ? stateDir : dirname(loaded.path),
      stateDir,
      clock,
      approved: daemon === null ? [] : await approvedPeople(daemon),
      // Without a copy of the conversations it knows of none.
      sessions: daemon === null || !loaded.config.engine.mirror ? [] : await sessionsOf(daemon),
    };
    findings.push(...(await checked(subject, options.offline === true)));
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

/** The port is free, or this state directory's daemon uses it. */
async function portFinding(config: EarshotConfig, running: DaemonAddress | null): Promise<Finding> {
  const { host } = config.server;
  // The same precedence as `earshot start`.
  const variable = process.env.PORT ?? "";
  const port = variable === "" ? config.server.port : Number(variable);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return wrong("port", `PORT is "${variable}": expected a whole number from 0 to 65535`);
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

/** The whole database is read: its structure, and the checksums of its rows. */
async function databaseFinding(config: EarshotConfig, stateDir: string): Promise<Finding> {
  if (config.store.driver === "memory") return ok("database", "in memory");
  try {
    const rows = await checkDatabase(storePathOf(config, stateDir));
    return ok("database", rows === null ? "the next start makes it" : `${rows} events, undamaged`);
  } catch (error) {
    return wrong("database", error);
  }
}

/** The result of every check that needs no daemon, with the progress on a terminal. */
async function checked(subject: Checked, offline: boolean): Promise<readonly Finding[]> {
  const { results, onStep } = collectChecks();
  await checkEverything(subject, offline, onStep);
  return results;
}

/** Sessions of the running daemon. */
async function sessionsOf(daemon: DaemonAddress): Promise<Checked["sessions"]> {
  const found: Checked["sessions"][number][] = [];
  for (let after: string | null = ""; after !== null; ) {
    const query: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
    const page: SessionPage | null = await callApi(daemon, `/api/sessions?limit=1000${query}`);
    for (const { key, settings } of page?.sessions ?? [])
      if (settings.elevated === "full" || settings.exec?.security === "full")
        found.push({ key, settings });
    after = found.length < sessionsReadMax ? (page?.next ?? null) : null;
  }
  return found;
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
