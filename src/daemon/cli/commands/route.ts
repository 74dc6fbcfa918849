/**
 * `earshot route`: which agent would receive a message, in which session, and why
 * ================================================================================
 * Takes one inbound message as JSON or JSON5 (docs/guide/scenarios.md) and calls the same functions
 * as the daemon, with the access entries of a running daemon. Nothing is sent, stored or started.
 */
import type { Command } from "commander";
import JSON5 from "json5";
import { type EarshotConfig, pathText, roomOrigins } from "../../../domain/config/index.ts";
import { EarshotError } from "../../../domain/errors.ts";
import { inboundSchema } from "../../../domain/message.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import {
  type Grant,
  grantName,
  type KnownPeople,
  noKnownPeople,
} from "../../../machines/access/access-entries.ts";
import { explainTiers, type TierTried } from "../../../machines/routing/explain-route.ts";
import { decideIntake } from "../../../machines/routing/intake.ts";
import type { ResolvedRoute } from "../../../machines/routing/routing.ts";
import { createRegistry } from "../../config/registry.ts";
import { callApi, findDaemon } from "../lib/api-client.ts";
import {
  action,
  print,
  printJson,
  printText,
  type StateOptions,
  stateDirFor,
  table,
  withStateDir,
} from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { loadConfig } from "./config.ts";

interface Options extends StateOptions {
  readonly config?: string;
  readonly json?: boolean;
}

const help: HelpText = {
  about:
    "Explains what the daemon would do with one inbound message, given as JSON or JSON5 " +
    "(docs/guide/scenarios.md): whether its sender is admitted, which agents receive it, in " +
    "which session, and which binding decides. Nothing is sent, stored or started. Access given " +
    "by codes and /allowlist is known only while the daemon is running. For a message that a " +
    "hook received from a stranger, set outside: true.",
  examples: [`earshot route '{channel:"webhook",chat:{id:"a",kind:"group"},author:{id:"b"}}'`],
  exits:
    "0 admitted; 1 the sender is not admitted (the output says what would admit them); 2 the " +
    "message or the config is invalid.",
};

export function addRouteCommand(program: Command): void {
  addHelp(withStateDir(program.command("route")), help)
    .argument("<json>", "the inbound message")
    .description("Explain which agent would receive a message")
    .option("--config <file>", "config file (EARSHOT_CONFIG)")
    .option("--json", "print JSON")
    .action(action(route));
}

function readInbound(json: string) {
  let value: unknown;
  try {
    value = JSON5.parse(json);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EarshotError("EAR_INBOUND_INVALID", `Cannot read the message as JSON: ${why}`);
  }
  const parsed = inboundSchema.safeParse(
    typeof value === "object" && value !== null ? { id: "?", ...value } : value,
  );
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new EarshotError(
    "EAR_INBOUND_INVALID",
    `Cannot read the message: ${issue?.path.join(".") || "it"} is invalid: ` +
      `${issue?.message ?? ""}`,
  );
}

/** The access entries of the running daemon; without a daemon, none. */
async function knownHere(stateDir: string): Promise<KnownPeople> {
  const daemon = await findDaemon(stateDir).catch(() => null);
  if (daemon === null) return noKnownPeople;
  const access = await callApi<{ people: readonly Grant[] }>(daemon, "/api/pairings");
  const names = new Set(access?.people.map((person) => grantName(person, person.scope)));
  return { has: (scope, person) => names.has(grantName(person, scope)) };
}

async function route(json: string, options: Options): Promise<void> {
  const message = readInbound(json);
  const { config } = await loadConfig(options);
  const local = createRegistry().channels.get(message.channel)?.local ?? false;
  const known = await knownHere(stateDirFor(options));
  const intake = decideIntake({ type: "message", message }, config, { local, known });
  const { admission, routes } = intake;
  const tiers = explainTiers(config, message, routes);
  process.exitCode = admission.decision === null ? 0 : 1;
  if (options.json === true) {
    const { decision, rule, authority, explanation } = admission;
    return printJson({
      admission: { decision, rule, authority, explanation },
      routes: routes.map((route) => ({ ...route, settings: originsOf(config, route) })),
      tiers,
    });
  }
  printText(terminalSafe(`${admission.decision ?? "admitted"}: ${admission.explanation}`), 2);
  for (const route of routes) print(`\n${routeText(config, route)}`);
  print(`\n${tiersText(tiers)}`);
}

/** The levels of the room that set something, the most specific first. */
function originsOf(config: EarshotConfig, { sessionKey }: ResolvedRoute) {
  const origins = roomOrigins(config, sessionKey);
  return origins.map(({ path, sets }) => ({ at: pathText(path), sets })).reverse();
}

function routeText(config: EarshotConfig, route: ResolvedRoute): string {
  const { agentId, sessionKey, tier, explanation } = route;
  return table([
    ["agent", agentId],
    ["session", sessionKey],
    ["because", `${explanation} (${tier === 0 ? "before all tiers" : `tier ${tier}`})`],
    ...originsOf(config, route).map(({ at, sets }, index) => [
      index === 0 ? "settings" : "",
      `${sets.join(", ")} from ${terminalSafe(at)}`,
    ]),
  ]);
}

/** The tiers that were tried; the others are one row. */
function tiersText(tiers: readonly TierTried[]): string {
  const tried = tiers.filter(({ outcome }) => outcome !== "not-reached");
  const rest = tiers.length - tried.length;
  const rows = tried.map(({ tier, name, outcome, fact }) => [String(tier), name, outcome, fact]);
  const left = rest === 0 ? [] : [[`${tried.length + 1}-9`, "", "not reached", ""]];
  return table([["tier", "kind of match", "outcome", "what was found"], ...rows, ...left]);
}
