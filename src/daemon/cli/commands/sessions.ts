/**
 * `earshot sessions`: lists, shows and exports the sessions of agents, changes the settings of a
 * session, and resets it.
 */
import { open } from "node:fs/promises";
import { type Command, Option } from "commander";
import { activations } from "../../../domain/decision.ts";
import { EarshotError } from "../../../domain/errors.ts";
import { isSessionKey } from "../../../domain/key.ts";
import { type ExecSettings, execAskModes, execSecurities } from "../../../domain/permission.ts";
import { oneLine, terminalSafe } from "../../../domain/sanitize.ts";
import {
  elevatedLevels,
  reasoningLevels,
  type Session,
  type SessionUsage,
  type TranscriptLine,
  thinkingLevels,
  ttsLevels,
  usageLevels,
  verboseLevels,
} from "../../../domain/session.ts";
import { execOf, execWords } from "../../../machines/commands/argument-parsers.ts";
import { harmlessJson, safeJson } from "../../events/safe-json.ts";
import { askDaemon, callApi, type DaemonAddress, needDaemon } from "../lib/api-client.ts";
import {
  action,
  counted,
  type JsonOptions,
  minuteOf,
  print,
  printRefusal,
  printText,
  stateDirFor,
  table,
  withStateDir,
} from "../lib/command.ts";
import { addHelp } from "../output/help-text.ts";
import * as help from "../output/sessions-help.ts";

interface ListOptions extends JsonOptions {
  readonly agent?: string;
  readonly all?: boolean;
  readonly heard?: boolean;
}
interface SessionOptions extends JsonOptions {
  readonly id?: string;
}
interface ExportOptions extends SessionOptions {
  readonly out?: string;
}
type Settings = Readonly<Record<string, string | undefined>>;

type Line = Omit<TranscriptLine, "sessionId">;
interface ShowAnswer {
  readonly session: Session;
  readonly lines: readonly Line[];
  readonly earlier: readonly Session[];
}
interface ListAnswer {
  readonly sessions: readonly Session[];
  readonly next: string | null;
  readonly usage: readonly (SessionUsage & { readonly agentId: string })[];
}

/** Settings as options: name and values. */
const levels = [
  ["thinking", [...thinkingLevels, "default"]],
  ["verbose", [...verboseLevels, "default"]],
  ["reasoning", [...reasoningLevels, "default"]],
  ["elevated", [...elevatedLevels, "default"]],
  ["usage", [...usageLevels, "default"]],
  ["tts", [...ttsLevels, "default"]],
] as const;
const queueModes = ["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"];

export function addSessionsCommand(program: Command): void {
  const sessions = addHelp(program.command("sessions"), help.all).description(
    "List, show, export, change and reset sessions",
  );
  addHelp(withStateDir(sessions.command("list", { isDefault: true })), help.list)
    .description("List sessions, newest first")
    .option("--agent <id>", "only sessions of this agent")
    .option("--all", "include archived sessions")
    .option("--heard", "list all conversations with their newest journal row instead")
    .option("--json", "print JSON")
    .action(action(list));
  addOneSession(sessions.command("show <key>"), help.show)
    .description("Show a session's settings, usage and last messages")
    .option("--json", "print JSON")
    .action(action(show));
  addOneSession(sessions.command("export <key>"), help.exported)
    .description("Export the whole transcript as JSON Lines")
    .option("--out <file>", "write to a new file instead of stdout")
    .action(action(exportLines));
  const set = addHelp(withStateDir(sessions.command("set <key>")), help.set)
    .description("Change the settings of a session")
    .option("--model <name>", "another model of the same provider");
  for (const [name, values] of levels)
    set.addOption(new Option(`--${name} <level>`, `${name} level`).choices(values));
  set
    .addOption(new Option("--queue <mode>", "queue mode").choices([...queueModes, "default"]))
    .addOption(
      new Option("--send <policy>", "whether answers are sent").choices([
        "allow",
        "deny",
        "inherit",
      ]),
    )
    .addOption(
      new Option("--activation <when>", "when the agent answers").choices([
        ...activations,
        "default",
      ]),
    )
    .option("--exec <words>", "as in /exec, for example `security=allowlist ask=on-miss`")
    .option("--json", "print JSON")
    .action(action(change));
  addHelp(withStateDir(sessions.command("reset <key>")), help.reset)
    .description("Archive the current session and start a new one")
    .option("--json", "print JSON")
    .action(action(reset));
}

function addOneSession(command: Command, text: Parameters<typeof addHelp>[1]): Command {
  return addHelp(withStateDir(command), text).option("--id <id>", "an archived session, by its id");
}

function pathOf(key: string, rest = ""): string {
  if (isSessionKey(key)) return `/api/sessions/${encodeURIComponent(key)}${rest}`;
  throw new EarshotError(
    "EAR_USAGE",
    `Cannot find the session "${oneLine(key, 100)}": a key starts with \`agent:\`. ` +
      "`earshot sessions` lists them",
  );
}
const idQuery = ({ id }: SessionOptions) =>
  id === undefined ? "" : `?id=${encodeURIComponent(id)}`;

async function list(options: ListOptions): Promise<void> {
  const daemon = await needDaemon(stateDirFor(options));
  if (options.heard === true) return listConversations(daemon, options);
  const found: Session[] = [];
  let usage: ListAnswer["usage"] = [];
  for (let after: string | null = ""; after !== null; ) {
    const query = new URLSearchParams({ limit: "1000", after });
    if (options.agent !== undefined) query.set("agent", options.agent);
    if (options.all === true) query.set("all", "1");
    const page: ListAnswer | null = await callApi(daemon, `/api/sessions?${query}`);
    found.push(...(page?.sessions ?? []));
    usage = page?.usage ?? [];
    after = page?.next ?? null;
  }
  found.sort((a, b) => b.updatedAt - a.updatedAt);
  if (options.json === true) return print(safeJson(found, indent()));
  if (found.length === 0) return print("no session yet");
  const now = Date.now();
  const rows = found.map(({ key, updatedAt, usage: used, archivedAt, sessionId }) => [
    ago(now - updatedAt),
    String(used.turns),
    tokens(used),
    archivedAt === null ? key : `${key} (archived, --id ${sessionId})`,
  ]);
  print(table([["last", "turns", "tokens", "key"], ...rows]));
  for (const { agentId, turns, ...used } of usage)
    if (options.agent === undefined || options.agent === agentId)
      printText(
        `${agentId}: ${counted(turns, "turn")}, ${tokens(used)} tokens${cost(used.costUsd)} in all`,
      );
}

async function listConversations(daemon: DaemonAddress, { json }: ListOptions): Promise<void> {
  type Heard = { readonly key: string; readonly lastSeq: number };
  const all: Heard[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page: { conversations: Heard[]; next: number | null } | null = await callApi(
      daemon,
      `/api/conversations?limit=1000${after === 0 ? "" : `&after=${after}`}`,
    );
    all.push(...(page?.conversations ?? []));
    after = page?.next ?? null;
  }
  if (json === true) return print(safeJson(all, indent()));
  if (all.length === 0) return print("no conversation yet");
  print(table([["row", "key"], ...all.map(({ key, lastSeq }) => [String(lastSeq), key])]));
}

async function show(key: string, options: SessionOptions): Promise<void> {
  const answer = await askDaemon<ShowAnswer>(options, pathOf(key, idQuery(options)));
  if (answer === null) return missing(key);
  if (options.json === true) return print(safeJson(answer, indent()));
  const { session, lines, earlier } = answer;
  const { usage, settings } = session;
  print(
    table([
      ["key", session.key],
      ["id", session.sessionId],
      ["began", minuteOf(session.createdAt)],
      ["last line", minuteOf(session.updatedAt)],
      ...(session.archivedAt === null ? [] : [["archived", minuteOf(session.archivedAt)]]),
      ["used", `${counted(usage.turns, "turn")}, ${tokens(usage)} tokens${cost(usage.costUsd)}`],
      ["settings", settingsText(settings)],
      ...(session.abortedLastRun ? [["last run", "cut short"]] : []),
      ...(earlier.length === 0
        ? []
        : [["archived", earlier.map((past) => past.sessionId).join(" ")]]),
    ]),
  );
  if (lines.length > 0) print("");
  for (const line of lines) printLine(line);
}

/**
 * One line of a transcript, for a person. Its text is indented, so it cannot imitate other output,
 * and sanitised, so it cannot move the cursor.
 */
function printLine({ at, role, author, text, usage }: Line): void {
  const name = author === undefined ? role : oneLine(author.name);
  const words = usage === undefined ? text : `${tokens(usage)} tokens${cost(usage.costUsd)}`;
  const [only, ...more] = terminalSafe(words).split("\n");
  if (role === "note" && more.length === 0) {
    printText(`${minuteOf(at)} [${only}]`, 2);
    return;
  }
  print(`${minuteOf(at)} ${name}`);
  for (const line of [only, ...more]) printText(`  ${line}`, 2);
}

async function exportLines(key: string, options: ExportOptions): Promise<void> {
  const daemon = await needDaemon(stateDirFor(options));
  const answer = await fetch(`${daemon.base}${pathOf(key, `/transcript${idQuery(options)}`)}`, {
    headers: { authorization: `Bearer ${daemon.token}` },
  });
  if (answer.status === 404) return missing(key);
  if (!answer.ok || answer.body === null)
    throw new EarshotError("EAR_USAGE", `Cannot export that: the daemon answered ${answer.status}`);
  const text = answer.body.pipeThrough(new TextDecoderStream());
  if (options.out === undefined) {
    for await (const part of text) process.stdout.write(harmlessJson(part));
    return;
  }
  const file = await open(options.out, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "EEXIST" ? "it exists already" : (error.code ?? error.message);
    throw new EarshotError("EAR_USAGE", `Cannot write ${options.out}: ${why}. Name a new file`);
  });
  try {
    for await (const part of text) await file.write(harmlessJson(part));
  } finally {
    await file.close();
  }
}

async function change(key: string, given: JsonOptions): Promise<void> {
  const { json, stateDir: _, ...settings } = given;
  const patch = patchOf(settings);
  if (Object.keys(patch).length === 0)
    throw new EarshotError("EAR_USAGE", "Cannot change anything: no setting was given. See --help");
  const body = { method: "PATCH", body: patch } as const;
  const answer = await askDaemon<{ session: Session }>(given, pathOf(key), body);
  if (answer === null) return missing(key);
  if (json === true) return print(safeJson(answer, indent()));
  printText(`${answer.session.key}: ${settingsText(answer.session.settings)}`, 2);
}

/** Parses the arguments of `/exec`. @throws EarshotError EAR_USAGE */
function execPatch(words: string): ExecSettings | null {
  const parsed = execWords.safeParse(words.split(/\s+/).filter(Boolean));
  if (parsed.success && parsed.data.length > 0) return execOf(parsed.data);
  throw new EarshotError(
    "EAR_USAGE",
    `Cannot set exec to "${oneLine(words, 100)}": security=${execSecurities.join("|")}, ` +
      `ask=${execAskModes.join("|")}, or default`,
  );
}

function patchOf({
  model,
  queue,
  send,
  activation,
  exec,
  ...more
}: Settings): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  if (model !== undefined) patch.model = model === "default" ? null : model;
  for (const [name] of levels) {
    const level = more[name];
    if (level !== undefined) patch[name] = level === "default" ? null : level;
  }
  if (exec !== undefined) patch.exec = execPatch(exec);
  if ([queue, send, activation].every((item) => item === undefined)) return patch;
  patch.override = {
    ...(queue === undefined ? {} : { queue: queue === "default" ? null : { mode: queue } }),
    ...(send === undefined ? {} : { send: send === "inherit" ? null : send }),
    ...(activation === undefined
      ? {}
      : { activation: activation === "default" ? null : activation }),
  };
  return patch;
}

async function reset(key: string, options: JsonOptions): Promise<void> {
  const answer = await askDaemon<{ session: Session }>(options, pathOf(key, "/reset"), {
    method: "POST",
  });
  if (answer === null) return missing(key);
  if (options.json === true) return print(safeJson(answer, indent()));
  print(`a new session: ${answer.session.sessionId}`);
}

function missing(key: string): void {
  printRefusal(`unknown session ${terminalSafe(key)}: see earshot sessions`);
}

function settingsText({ override, exec, ...settings }: Session["settings"]): string {
  const { queue, ...overrides } = override;
  const all = { ...settings, ...exec, ...queue, ...overrides };
  return Object.entries(all)
    .map(([name, value]) => `${name} ${value ?? "as configured"}`)
    .join(", ");
}

const tokens = ({
  inputTokens,
  outputTokens,
}: Pick<SessionUsage, "inputTokens" | "outputTokens">) => `${inputTokens} in, ${outputTokens} out`;
const cost = (usd: number) => (usd === 0 ? "" : `, $${usd.toFixed(usd < 1 ? 4 : 2)}`);
function ago(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} d`;
}

const indent = () => (process.stdout.isTTY ? 2 : 0);
