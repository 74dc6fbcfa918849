/**
 * Every word that somebody with authority may give earshot in a message: what it is called, who may
 * say it, which words may follow, and one line about it. Parsing, help, the menus of platforms and
 * docs/reference/commands.md are made from this table, so none of them can know another command
 * than the others.
 */
import type { z } from "zod";
import { activations } from "../../domain/decision.ts";
import { execAskModes, execSecurities } from "../../domain/permission.ts";
import {
  elevatedLevels,
  reasoningLevels,
  thinkingLevels,
  ttsLevels,
  usageLevels,
  verboseLevels,
} from "../../domain/session.ts";
import {
  approveWords,
  choice,
  debugWords,
  execWords,
  freeText,
  listWords,
  maybe,
  modelWord,
  nothing,
  path,
  queueWords,
  subagentWords,
  verbAndPath,
  word,
} from "./argument-parsers.ts";

export interface CommandSpec {
  readonly aliases: readonly string[];
  /** `authorised`: who may give commands at all (docs/reference/config.md); `owner`: owners only. */
  readonly who: "authorised" | "owner";
  /** The words after it, in the form handlers expect. */
  readonly args: z.ZodType<readonly string[], readonly string[]>;
  /** How those are written in help; empty: none. */
  readonly usage: string;
  /** One line, at most 100 characters. */
  readonly help: string;
  readonly example: string;
  /** Offered in the menus of platforms that have one. */
  readonly menu: boolean;
  /**
   * How it is recognised. `whole`: only as the whole message; `inline`: also among other words, from
   * which it is taken out; `own`: by words of its own (an abort word, `session.resetTriggers`);
   * `text`: as the whole message, and everything after it is one argument, as it was written.
   */
  readonly form: "whole" | "inline" | "own" | "text";
}

const levels = (list: readonly string[]) => list.join("|");
const plain = { aliases: [], who: "authorised", usage: "", menu: false, form: "whole" } as const;
const bare = { ...plain, args: nothing } as const;
const ownerOnly = { ...plain, who: "owner" } as const;
const inline = { ...plain, form: "inline" } as const;

export const commandTable = {
  help: {
    ...plain,
    args: maybe(word),
    usage: "[command]",
    menu: true,
    help: "Lists the commands, or explains one",
    example: "/help queue",
  },
  commands: { ...bare, help: "Every command with its arguments", example: "/commands" },
  status: {
    ...bare,
    form: "inline",
    menu: true,
    help: "Agent, model, session, queue, engagement and usage",
    example: "/status",
  },
  whoami: {
    ...bare,
    aliases: ["id"],
    menu: true,
    help: "Who you are here, and what you may do",
    example: "/whoami",
  },
  new: {
    ...bare,
    menu: true,
    form: "own",
    usage: "[message]",
    help: "Starts a new session; text after it is the first message",
    example: "/new",
  },
  reset: {
    ...bare,
    form: "own",
    usage: "[message]",
    help: "As /new",
    example: "/reset",
  },
  stop: {
    ...bare,
    aliases: ["abort"],
    menu: true,
    form: "own",
    help: "Stops your running turn; your waiting messages are read with your next one",
    example: "/stop",
  },
  steer: {
    ...plain,
    args: freeText,
    usage: "<text>",
    form: "text",
    help: "Adds the text to your running turn; without one it is a normal message",
    example: "/steer only the vegetarian ones",
  },
  btw: {
    ...plain,
    args: freeText,
    usage: "<question>",
    form: "text",
    help: "Asks a side question without changing the session or a running turn",
    example: "/btw when did we book?",
  },
  bash: {
    ...ownerOnly,
    args: freeText,
    usage: "<command line> | stop",
    form: "text",
    help: "Runs a shell command on the daemon's machine, if the config allows it; one at a time",
    example: "/bash git status",
  },
  activation: {
    ...plain,
    args: maybe(choice([...activations, "default"])),
    usage: `[${levels(activations)}|default]`,
    help: "When the agent answers in this conversation",
    example: "/activation mention",
  },
  send: {
    ...plain,
    args: maybe(
      choice(["allow", "deny", "default"], { on: "allow", off: "deny", inherit: "default" }),
    ),
    usage: "[allow|deny|default]",
    help: "Whether the agent's answers are sent",
    example: "/send deny",
  },
  usage: {
    ...plain,
    args: maybe(choice(usageLevels)),
    usage: `[${levels(usageLevels)}]`,
    help: "Usage of this session and its agent, or whether answers show it",
    example: "/usage tokens",
  },
  session: { ...bare, help: "This session and its settings", example: "/session" },
  compact: { ...bare, help: "Summarises the session so far", example: "/compact" },
  context: {
    ...bare,
    help: "How much of this conversation the agent has in context",
    example: "/context",
  },
  models: { ...bare, help: "The configured models", example: "/models" },
  disengage: {
    ...bare,
    menu: true,
    help: "Makes the agent observe until it is addressed again",
    example: "/disengage",
  },
  why: {
    ...plain,
    args: maybe(word),
    usage: "[message id]",
    menu: true,
    help: "Why a message was answered or not: the one you reply to, or the latest",
    example: "/why",
  },
  wrong: {
    ...ownerOnly,
    args: maybe(choice(["undo"])),
    usage: "[undo]",
    help: "Labels the decision on a message, or on the answer you reply to, as wrong",
    example: "/wrong",
  },
  config: {
    ...ownerOnly,
    args: verbAndPath,
    usage: "show|get [path] | set <path> <value> | unset <path> | undo",
    help: "Shows the config without secrets, or changes it",
    example: "/config get engagement",
  },
  debug: {
    ...ownerOnly,
    args: debugWords,
    usage: "[show] | set <path> <value> | unset <path> | reset",
    help: "Overrides config values in memory until a restart",
    example: "/debug set log.level debug",
  },
  restart: {
    ...ownerOnly,
    args: nothing,
    help: "Restarts earshot with the current config",
    example: "/restart",
  },
  allowlist: {
    ...ownerOnly,
    args: listWords,
    usage: "[list] | add <id> | remove <id>",
    help: "Who may write in chats of this kind",
    example: "/allowlist list",
  },
  approve: {
    ...ownerOnly,
    args: approveWords,
    usage: "[id] [once|always|deny]",
    help: "Answers a permission request of the agent",
    example: "/approve K7QM once",
  },
  subagents: {
    ...ownerOnly,
    args: subagentWords,
    usage: "[list] | stop <name>",
    help: "Other running turns of this agent and this room",
    example: "/subagents",
  },
  export: {
    ...plain,
    who: "owner",
    aliases: ["export-session"],
    args: maybe(path(/^\d{1,3}$/u)),
    usage: "[lines]",
    help: "The latest messages of the session as text",
    example: "/export 20",
  },
  think: {
    ...inline,
    aliases: ["thinking", "t"],
    args: maybe(choice(thinkingLevels, { on: "low", highest: "high" })),
    usage: `[${levels(thinkingLevels)}]`,
    help: "How much the agent thinks before it answers",
    example: "/think high",
  },
  verbose: {
    ...inline,
    aliases: ["v"],
    args: maybe(choice(verboseLevels)),
    usage: `[${levels(verboseLevels)}]`,
    help: "Whether the tools it uses are shown",
    example: "/verbose on",
  },
  reasoning: {
    ...inline,
    aliases: ["reason"],
    args: maybe(choice(reasoningLevels)),
    usage: `[${levels(reasoningLevels)}]`,
    help: "Whether its reasoning is shown",
    example: "/reasoning stream",
  },
  elevated: {
    ...inline,
    aliases: ["elev"],
    args: maybe(choice(elevatedLevels, { on: "ask" })),
    usage: `[${levels(elevatedLevels)}]`,
    help: "What it may do outside this room; full is for owners",
    example: "/elevated ask",
  },
  exec: {
    ...inline,
    who: "owner",
    args: execWords,
    usage: `[host=here] [security=${levels(execSecurities)}] [ask=${levels(execAskModes)}] | default`,
    help: "What an agent that asks for permission may do",
    example: "/exec security=allowlist ask=on-miss",
  },
  tts: {
    ...plain,
    args: maybe(choice([...ttsLevels, "default"])),
    usage: `[${levels(ttsLevels)}|default]`,
    help: "Whether answers are also sent as speech",
    example: "/tts off",
  },
  model: {
    ...inline,
    args: maybe(modelWord),
    usage: "[name|default|list|status]",
    menu: true,
    help: "Another model of the agent's provider, for this session",
    example: "/model default",
  },
  queue: {
    ...inline,
    args: queueWords,
    usage: "[mode] [debounce:2s] [cap:20] [drop:old|new|summarize] | default",
    help: "What happens to messages while a turn runs",
    example: "/queue steer debounce:1s",
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

export type CommandName = keyof typeof commandTable;

/** The table, entry by entry, in the order of help. */
export const commandList: readonly (readonly [CommandName, CommandSpec])[] = Object.entries(
  commandTable,
) as [CommandName, CommandSpec][];

const byWord = new Map<string, CommandName>(
  commandList.flatMap(([name, { aliases }]) => [name, ...aliases].map((word) => [word, name])),
);

/** The command of that name or alias, in any case; undefined: there is none. */
export function commandNamed(word: string): CommandName | undefined {
  return byWord.get(word.toLowerCase());
}

export function specOf(name: CommandName): CommandSpec {
  return commandTable[name];
}
