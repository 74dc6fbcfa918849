/**
 * The commands in a message become journal rows in the same commit as the message: one row that
 * makes the runtime run and answer them, and one for each change of a conversation. So a command
 * runs once, however often its message is delivered, and it still runs after a crash.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { type Inbound, type Millis, routeOf } from "../../domain/message.ts";
import type { CommandCall } from "../../machines/commands/directives.ts";
import { type ExtraCommand, extrasFor } from "../../machines/commands/extension-commands.ts";
import {
  editedText,
  noOrders,
  type Orders,
  readOrders,
} from "../../machines/commands/parse-command.ts";
import { callAtStart, narrowTo } from "../../machines/engagement/called-agents.ts";
import type {
  Authority,
  CommandAsked,
  ConversationEvent,
  SessionOverridden,
} from "../../machines/events/events.ts";
import type { Intake } from "../../machines/routing/intake.ts";
import { overrideOf } from "../commands/settings.ts";
import { conversationOf, type NewEvent, newEvent } from "../protocol/event-codec.ts";
import { calledBy } from "./broadcast.ts";

export interface CommandIntake {
  readonly config: EarshotConfig;
  readonly cfg: number;
  readonly now: Millis;
  readonly unique: () => string;
  /** Commands of plugins and agents. */
  readonly extensions: readonly ExtraCommand[];
}

/** The commands of a message, and for which of the receiving agents they are. */
export interface Ordered extends Orders {
  /** Indexes of the agents that it calls by name; absent: all of them. */
  readonly places?: readonly number[];
}

/**
 * Finds the commands of an admitted message. Where several agents receive it, a name in front of a
 * command addresses that agent alone, and directives beside text are for the agents that it calls.
 */
export function ordersIn(
  message: Inbound,
  { admission: { authority }, routes }: Pick<Intake, "admission" | "routes">,
  { config, extensions: all }: Pick<CommandIntake, "config" | "extensions">,
): Ordered {
  if (!config.commands.text) return noOrders(message.text);
  const { stopWords } = config.commands;
  const extras =
    all.length === 0 ? all : extrasFor(all, new Set(routes.map(({ agentId }) => agentId)));
  const rules = { authority, stopWords, resetTriggers: config.session.resetTriggers, extras };
  if (routes.length < 2) return readOrders(message, rules);
  const agents = calledBy(config, routes);
  const call = callAtStart(message.text, agents);
  const asked = call === null ? null : readOrders(withoutCall(message, call.units), rules);
  if (call !== null && asked?.ended === true) return { ...asked, places: [call.place] };
  const orders = readOrders(message, rules);
  const places = orders.ended ? null : narrowTo(orders.text, message, agents);
  return places === null ? orders : { ...orders, places };
}

function withoutCall(message: Inbound, units: number): Inbound {
  const { text, verbatim } = message;
  const rest = { ...message, text: text.slice(units) };
  if (verbatim === undefined) return rest;
  const remaining = verbatim.filter(([, to]) => to > units);
  return {
    ...rest,
    verbatim: remaining.map(([from, to]) => [Math.max(0, from - units), to - units]),
  };
}

/**
 * What the conversation of an agent gets when a message asks for a skill that it has, or is for its
 * running turn; null: nothing of its own. A message with a command of an agent mentions that agent, in every
 * room.
 */
export function forAgent(
  message: Inbound,
  { skill, steers }: Orders,
  route: { readonly agentId: string } | undefined,
  { extensions: extras }: Pick<CommandIntake, "extensions">,
): { readonly skill?: string; readonly steer?: true; readonly message?: Inbound } | null {
  const has = extras.some(({ name, agentId }) => name === skill && agentId === route?.agentId);
  if (steers !== true && (skill === null || !has)) return null;
  const mentions = [...message.mentions, { id: message.account, isSelf: true }];
  const called = { ...message, mentions };
  return skill === null ? { steer: true, message: called } : { skill, message: called };
}

export function editWithoutCommands(
  text: string,
  authority: Authority,
  config: EarshotConfig,
): string {
  if (!config.commands.text) return text;
  return editedText(text, { authority, resetTriggers: config.session.resetTriggers });
}

/**
 * The rows for the commands of a message, for each conversation that they address. Each of several
 * conversations answers what concerns its own session; the first one answers the rest.
 */
export function orderRows(
  message: Inbound,
  identity: string,
  orders: Ordered,
  { admission: { authority }, routes }: Pick<Intake, "admission" | "routes">,
  context: CommandIntake,
): NewEvent[] {
  const { calls, quiet, resets, places } = orders;
  if (calls.length + quiet.length === 0 && !resets) return [];
  const agents = routes.length < 2 ? [] : calledBy(context.config, routes);
  const first = places?.[0] ?? 0;
  return routes.flatMap(({ sessionKey }, place) => {
    if (places !== undefined && !places.includes(place)) return [];
    const own = place === first ? calls : calls.filter(({ command }) => ofSession.has(command));
    const isCalled = places !== undefined;
    const by = askedBy(message, authority.owner, agents[place]?.name, isCalled);
    const asked = own.length > 0 ? by : undefined;
    const row = (event: ConversationEvent, what: string) =>
      newEvent(conversationOf(sessionKey), context.cfg, event, {
        identity: `${what}|${identity}`,
        sentAt: message.sentAt,
      });
    const command = commandOf(own, quiet, context.now, asked);
    return [
      ...(command === null ? [] : [row(command, "command")]),
      ...changes([...own, ...quiet], context.now, by).map(([what, event]) => row(event, what)),
      ...(resets ? [row(resetNow(context), "reset")] : []),
    ];
  });
}

/** Commands about one agent's session: each agent of a room answers them itself. */
const ofSession: ReadonlySet<string> = new Set<CommandCall["command"]>([
  ...(["status", "new", "reset", "stop", "activation", "send", "usage", "session"] as const),
  ...(["compact", "context", "models", "disengage", "export", "think", "verbose"] as const),
  ...(["reasoning", "elevated", "exec", "tts", "model", "queue"] as const),
  "wrong",
]);

const resetNow = ({ now, unique }: CommandIntake) =>
  ({ type: "session.reset", at: now, sessionId: unique(), cuts: true }) as const;

function commandOf(
  calls: readonly CommandCall[],
  quiet: readonly CommandCall[],
  at: Millis,
  asked: CommandAsked | undefined,
): ConversationEvent | null {
  const [first, ...more] = [...quiet, ...calls];
  if (first === undefined) return null;
  return {
    type: "command.applied",
    at,
    command: first.command,
    args: first.args,
    ...(more.length === 0 ? {} : { more }),
    ...(asked === undefined ? {} : { asked }),
  };
}

function askedBy(
  message: Inbound,
  owner: boolean,
  as: string | undefined,
  isCalled: boolean,
): CommandAsked {
  const { id: messageId, author, replyTo } = message;
  const about = replyTo?.id ?? null;
  const asked = { route: routeOf(message), messageId, author: author.id, owner, about };
  if (as === undefined) return asked;
  return isCalled ? { ...asked, as, called: true } : { ...asked, as };
}

/** What commands change in a conversation, with a name that makes each row's identity unique. */
function changes(
  calls: readonly CommandCall[],
  at: Millis,
  { author, owner, route }: CommandAsked,
): [string, ConversationEvent][] {
  const from = { author, owner, route };
  const found: [string, ConversationEvent][] = [];
  const names = new Set(calls.map(({ command }) => command));
  if (names.has("stop")) found.push(["stop", { type: "run.aborted", at, by: "stop", from }]);
  if (names.has("disengage")) found.push(["disengage", { type: "disengage", at }]);
  const override = overrideOf(calls);
  if (override !== null) {
    const event: SessionOverridden = { type: "session.overridden", at, ...override, merge: true };
    found.push(["override", event]);
  }
  return found;
}
