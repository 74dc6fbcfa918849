/**
 * What a message orders, and what of it is left for the agent. Somebody without authority orders
 * nothing: the text stays text. Forwarded text contains no commands either. A slash word that is not
 * in the table is text for the agent.
 */
import { type Inbound, isForwarded } from "../../domain/message.ts";
import type { TurnLevels } from "../../domain/session.ts";
import type { Authority } from "../events/events.ts";
import { isAbortWord } from "./abort-words.ts";
import { execOf, freeTextUnitsMax } from "./argument-parsers.ts";
import { type BuiltInCall, type CommandCall, takeDirectives } from "./directives.ts";
import { type ExtraCommand, type ExtraName, extraAt } from "./extension-commands.ts";
import { afterResetTrigger } from "./reset-words.ts";
import { commandNamed, specOf } from "./table.ts";

/** What a message orders. */
export interface Orders {
  /** Answered by the runtime, in order. */
  readonly calls: readonly CommandCall[];
  /** Take effect without an answer: directives beside a message that change the session. */
  readonly quiet: readonly CommandCall[];
  /** A new session begins before the message. */
  readonly resets: boolean;
  /** For the turn that answers this message only. */
  readonly levels: TurnLevels;
  /** What is left for the agent. */
  readonly text: string;
  /** Nothing is left: the agent does not hear of it. */
  readonly ended: boolean;
  /** A skill that the agent is asked to use for the message. */
  readonly skill: ExtraName | null;
  /** The text is for the running turn, if there is one. */
  readonly steers?: true;
}

export interface OrderRules {
  readonly authority: Authority;
  readonly resetTriggers: readonly string[];
  readonly stopWords: readonly string[];
  /** Commands of plugins and of the agents that hear it. @default none */
  readonly extras?: readonly ExtraCommand[];
}

/** How a slash word is written that is nothing but a command. */
const whole = /^\/([a-z][a-z_-]{0,31})(?:@(\S{1,64}))?(?=[\s:]|$)/iu;
/** Longer messages are no commands; directives are looked for in any. */
const commandUnitsMax = 1_024;
const perTurn = ["think", "verbose", "reasoning", "elevated"] as const;

/** Nothing is ordered: the words as they are. */
export const noOrders = (text: string): Orders => ({
  calls: [],
  quiet: [],
  resets: false,
  levels: {},
  text,
  ended: false,
  skill: null,
});

/** Reads a message. Linear in its length. */
export function readOrders(message: Inbound, rules: OrderRules): Orders {
  const { text } = message;
  if (!rules.authority.commandAuthorized || isForwarded(message)) return noOrders(text);
  const says = !isShown(message);
  if (says && isAbortWord(message, rules.stopWords)) return ended([{ command: "stop", args: [] }]);
  const left = says ? afterResetTrigger(message, rules.resetTriggers) : null;
  // Nearly every line: each command but the words above has a slash.
  if (left === null && !text.includes("/")) return noOrders(text);
  const bare = message.attachments.length === 0;
  if (left === "" && bare) return { ...ended([{ command: "new", args: [] }]), resets: true };
  const alone = says && left === null && bare ? wholeCommand(message, rules.authority) : null;
  if (alone?.command === "steer") return { ...noOrders(alone.args[0] ?? ""), steers: true };
  if (alone !== null) return ended([alone]);
  const extra = says && left === null ? extraOf(message, rules) : null;
  if (extra !== null && extra.agentId === null)
    return bare ? ended([{ command: extra.name, args: extra.args }]) : noOrders(text);
  const skill = extra?.name ?? null;
  const resets = left !== null;
  // What is left ends where the message does.
  const gone = left === null ? 0 : text.trimEnd().length - left.length;
  const shown = (message.verbatim ?? []).map(([from, to]) => ({
    from: from - gone,
    to: to - gone,
  }));
  const taken = takeDirectives(left ?? text, (call) => mayCall(call, rules.authority), shown);
  if (taken.text.trim() === "" && bare) return { ...ended(taken.calls), resets };
  return { ...beside(taken.calls), resets, text: taken.text, ended: false, skill };
}

/** What is left of an edited text; an edit orders nothing. */
export function editedText(
  text: string,
  { authority, resetTriggers }: Omit<OrderRules, "stopWords">,
): string {
  if (!authority.commandAuthorized) return text;
  const left = afterResetTrigger({ text, mentions: [] }, resetTriggers);
  return takeDirectives(left ?? text, (call) => mayCall(call, authority)).text;
}

const ended = (calls: readonly CommandCall[]): Orders => ({
  ...noOrders(""),
  calls,
  ended: true,
});

/** Directives beside a message: levels for its turn, changes that stay, `/status` is answered. */
function beside(calls: readonly BuiltInCall[]): Pick<Orders, "calls" | "quiet" | "levels"> {
  const said = new Map(calls.map(({ command, args }) => [command as string, args[0]]));
  const exec = execOf(calls.find(({ command }) => command === "exec")?.args ?? []) ?? {};
  const [thinking, verbose, reasoning, elevated] = perTurn.map((name) => said.get(name));
  const levels = { thinking, verbose, reasoning, elevated };
  return {
    calls: calls.filter(({ command }) => command === "status"),
    quiet: calls.filter(
      ({ command, args }) => args.length > 0 && (command === "model" || command === "queue"),
    ),
    levels: {
      ...(Object.fromEntries(
        Object.entries(levels).filter(([, level]) => level !== undefined),
      ) as TurnLevels),
      ...(Object.keys(exec).length === 0 ? {} : { exec }),
    },
  };
}

/** The command that a text begins with, the bot that it names, and what is behind them; null: none. */
function wholeAt(text: string) {
  const match = whole.exec(text);
  if (match === null) return null;
  const [mark, word = "", name] = match;
  const command = commandNamed(word);
  if (command === undefined) return null;
  return { command, name, rest: text.slice(mark.length).replace(/^:/u, "").trim() };
}

const wordsOf = (text: string) => text.split(/\s/u).filter(Boolean);

/** The message as one command; null: it is none, or one among other words. */
function wholeCommand(message: Inbound, authority: Authority): BuiltInCall | null {
  const text = message.text.trim();
  if (text.length > commandUnitsMax + freeTextUnitsMax) return null;
  const found = wholeAt(text);
  if (found === null) return null;
  const { command, name, rest } = found;
  if (name !== undefined && !message.mentions.some(({ isSelf }) => isSelf)) return null;
  const spec = specOf(command);
  if (spec.form === "own" || (spec.who === "owner" && !authority.owner)) return null;
  const isText = spec.form === "text";
  if (text.length > commandUnitsMax && !isText) return null;
  const given = isText ? [rest] : wordsOf(rest);
  const args = spec.args.safeParse(given).data;
  if (args !== undefined) {
    const call = { command, args };
    return mayCall(call, authority) ? call : null;
  }
  // Among other words it may still be a directive; those have their own rules for what follows.
  const settings =
    (command === "exec" && given.every((one) => one.includes("="))) ||
    (command === "queue" && given.length === 1);
  return spec.form === "inline" && !settings ? null : { command: "help", args: [command] };
}

/**
 * Whether a line is a command of the table and nothing else, for those who may give it. One with words of its own or
 * with a free text is none: such a line may as well be said to the bot.
 */
export function isWholeCommand(line: string): boolean {
  const text = line.trim();
  const found = text.length > commandUnitsMax ? null : wholeAt(text);
  if (found === null || found.name !== undefined) return false;
  const { form, args } = specOf(found.command);
  if (form === "own" || form === "text") return false;
  return args.safeParse(wordsOf(found.rest)).success;
}

/** A command of a plugin or a skill at the start of the message; null: there is none for him. */
function extraOf(message: Inbound, { authority, extras = [] }: OrderRules) {
  const found = extraAt(extras, message.text.trim());
  if (found === null || (found.extra.who === "owner" && !authority.owner)) return null;
  if (found.named && !message.mentions.some(({ isSelf }) => isSelf)) return null;
  const { extra, words } = found;
  // The words of a skill's message are the agent's; a handler is given no more than a command has.
  if (extra.agentId === null && words.length > commandUnitsMax) return null;
  return { ...extra, args: words === "" ? [] : [words] };
}

/** The platform shows its beginning as code or as a quote. */
const isShown = ({ text, verbatim = [] }: Inbound) => {
  const start = text.length - text.trimStart().length;
  return verbatim.some(([from, to]) => from <= start && start < to);
};

/** Owners only: the commands that say so, and everything that is not asked for first. */
function mayCall({ command, args }: BuiltInCall, { owner }: Authority): boolean {
  if (owner) return true;
  return specOf(command).who !== "owner" && !(command === "elevated" && args[0] === "full");
}
