/**
 * Commands on their way in
 * ========================
 * What a message orders becomes journal rows in the same commit as the message itself: one that has
 * the runtime carry the commands out and answer them, and one for each change of a conversation.
 * So an order is taken once, however often its message is delivered, and is carried out after a
 * crash if it was taken before.
 */
import type { EarshotConfig } from "../domain/config/index.ts";
import { type Inbound, type Millis, routeOf } from "../domain/message.ts";
import type { CommandCall } from "../machines/commands/directives.ts";
import { editedText, noOrders, type Orders, readOrders } from "../machines/commands/reading.ts";
import type {
  Authority,
  CommandAsked,
  ConversationEvent,
  SessionOverridden,
} from "../machines/events.ts";
import { resolveRoute } from "../machines/routing.ts";
import { overrideOf } from "./commands.settings.ts";
import { conversationOf, type NewEvent, newEvent } from "./journal.codec.ts";

export interface CommandIntake {
  readonly config: EarshotConfig;
  readonly cfg: number;
  readonly now: Millis;
  readonly unique: () => string;
}

/** What a message that was admitted orders. */
export function ordersIn(message: Inbound, authority: Authority, config: EarshotConfig): Orders {
  if (!config.commands.text) return noOrders(message.text);
  const { stopWords } = config.commands;
  return readOrders(message, {
    ...{ authority, stopWords },
    resetTriggers: config.session.resetTriggers,
  });
}

/** The words of an edit without what they order. */
export function wordsOfEdit(text: string, authority: Authority, config: EarshotConfig): string {
  if (!config.commands.text) return text;
  return editedText(text, { authority, resetTriggers: config.session.resetTriggers });
}

/**
 * The rows of what a message orders, for each conversation that hears it. Only the first of them
 * answers.
 */
export function orderRows(
  message: Inbound,
  identity: string,
  orders: Orders,
  owner: boolean,
  context: CommandIntake,
): NewEvent[] {
  const { calls, quiet, resets } = orders;
  if (calls.length + quiet.length === 0 && !resets) return [];
  return resolveRoute(context.config, message).flatMap(({ sessionKey }, index) => {
    const asked = index === 0 && calls.length > 0 ? askedBy(message, owner) : undefined;
    const row = (event: ConversationEvent, what: string) =>
      newEvent(conversationOf(sessionKey), context.cfg, event, {
        identity: `${what}|${identity}`,
        sentAt: message.sentAt,
      });
    const given = commandOf(calls, quiet, context.now, asked);
    return [
      ...(given === null ? [] : [row(given, "command")]),
      ...changes([...calls, ...quiet], context.now).map(([what, event]) => row(event, what)),
      ...(resets ? [row(resetNow(context), "reset")] : []),
    ];
  });
}

const resetNow = ({ now, unique }: CommandIntake) =>
  ({ type: "session.reset", at: now, sessionId: unique() }) as const;

function commandOf(
  calls: readonly CommandCall[],
  quiet: readonly CommandCall[],
  at: Millis,
  asked: CommandAsked | undefined,
): ConversationEvent | null {
  const [first, ...more] = [...quiet, ...calls];
  if (first === undefined) return null;
  return {
    ...{ type: "command.applied", at, command: first.command, args: first.args },
    ...(more.length === 0 ? {} : { more }),
    ...(asked === undefined ? {} : { asked }),
  };
}

function askedBy(message: Inbound, owner: boolean): CommandAsked {
  const { id: messageId, author, replyTo } = message;
  const about = replyTo?.id ?? null;
  return { route: routeOf(message), messageId, author: author.id, owner, about };
}

/** What commands change in a conversation, with a word that tells the rows apart. */
function changes(calls: readonly CommandCall[], at: Millis): [string, ConversationEvent][] {
  const found: [string, ConversationEvent][] = [];
  const said = new Set(calls.map(({ command }) => command));
  if (said.has("stop")) found.push(["stop", { type: "run.aborted", at, by: "stop" }]);
  if (said.has("disengage")) found.push(["disengage", { type: "disengage", at }]);
  const override = overrideOf(calls);
  if (override !== null) {
    const event: SessionOverridden = { type: "session.overridden", at, ...override, merge: true };
    found.push(["override", event]);
  }
  return found;
}
