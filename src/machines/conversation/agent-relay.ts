/**
 * Relays
 * ======
 * Where several agents answer one after the other, each message makes a relay: its agents in the
 * order of the list, each with a conversation of its own. A conversation keeps what it engaged in
 * and who before it has not ended yet; a batch is held until nobody is left. When it is through
 * with a message (answered, silent, failed, expired, dropped, or only observed) it passes the
 * message on to those behind it.
 *
 * Passing on is an effect that becomes a durable deadline of the others, in the commit of the step
 * that ended the message: so the order survives whatever dies. Nobody waits for ever: a deadline of
 * one's own ends the wait at the last moment at which the message may still be answered.
 */
import type { Millis } from "../../domain/message.ts";
import { type Flush, type Taken, takeNext } from "../batching/inbox.ts";
import type { MessageRef, RelayPassed } from "../events/effects.ts";
import type { MessageReceived, RelayOrder } from "../events/events.ts";
import type { ConversationContext } from "./context.ts";

/** An engaged message that others answer, too. */
export interface RelayLeg extends RelayOrder {
  readonly seq: number;
  readonly at: Millis;
  /** Places of those who come before and have not ended yet. */
  readonly ahead: readonly number[];
}

const wordOfRelays = "relay";

/** Names the deadline by which the one at `place` tells that it has ended. */
export const passedId = (token: string, place: number): string =>
  `${wordOfRelays}|${token}|${place}`;

/** Whether a deadline concerns relays: somebody has ended, or the wait is over. */
export const isRelayDeadline = (id: string): boolean =>
  id === wordOfRelays || id.startsWith(`${wordOfRelays}|`);

const passing = ({ token, place, keys }: RelayOrder): RelayPassed | null =>
  place + 1 < keys.length ? { type: "relay.pass", token, place, to: keys.slice(place + 1) } : null;

/** An engaged message joins its relay. */
export function joinRelay(context: ConversationContext, event: MessageReceived): void {
  const { relay, seq, at } = event;
  if (relay === undefined) return;
  const ahead = Array.from({ length: relay.place }, (_, place) => place);
  rearm(context, [...context.relays, { ...relay, seq, at, ahead }]);
}

/** An observed message is through at once. */
export function leaveRelay({ effects }: ConversationContext, { relay }: MessageReceived): void {
  const pass = relay === undefined ? null : passing(relay);
  if (pass !== null) effects.push(pass);
}

/** These messages are through: those behind may answer them. */
export function passRelay(context: ConversationContext, messages: readonly MessageRef[]): void {
  if (context.relays.length === 0) return;
  const through = new Set(messages.map(({ seq }) => seq));
  for (const leg of context.relays) {
    const pass = through.has(leg.seq) ? passing(leg) : null;
    if (pass !== null) context.effects.push(pass);
  }
  rearm(
    context,
    context.relays.filter(({ seq }) => !through.has(seq)),
  );
}

/** A deadline of the relays fired: somebody before us has ended, or was waited for long enough. */
export function notePassed(
  context: ConversationContext,
  { id, at }: { readonly id: string; readonly at: Millis },
): void {
  rearm(context, afterPassing(context, id, at), id === wordOfRelays);
}

function afterPassing(
  { relays, settings }: ConversationContext,
  id: string,
  at: Millis,
): readonly RelayLeg[] {
  if (id !== wordOfRelays) {
    return relays.map((leg) => {
      const ahead = leg.ahead.filter((place) => passedId(leg.token, place) !== id);
      return ahead.length === leg.ahead.length ? leg : { ...leg, ahead };
    });
  }
  const { replyAgeMsMax } = settings.turn;
  return relays.map((leg) => (leg.at + replyAgeMsMax <= at ? { ...leg, ahead: [] } : leg));
}

/** Keeps the deadline that ends the wait in step with whether anybody waits. */
function rearm(context: ConversationContext, relays: readonly RelayLeg[], fired = false): void {
  const armed = !fired && context.relays.some(isHeld);
  const first = relays.find(isHeld);
  context.relays = relays;
  if (first !== undefined && !armed) {
    const at = first.at + context.settings.turn.replyAgeMsMax;
    context.effects.push({ type: "deadline.set", id: wordOfRelays, at });
  }
  if (first === undefined && armed)
    context.effects.push({ type: "deadline.clear", id: wordOfRelays });
}

const isHeld = ({ ahead }: RelayLeg): boolean => ahead.length > 0;

/** The line up to the first batch that still has to let others go first. */
export function freeLine(inbox: readonly Flush[], relays: readonly RelayLeg[]): readonly Flush[] {
  const held = new Set(relays.filter(isHeld).map(({ seq }) => seq));
  if (held.size === 0) return inbox;
  const first = inbox.findIndex(({ messages }) => messages.some(({ seq }) => held.has(seq)));
  return first === -1 ? inbox : inbox.slice(0, first);
}

type Line = Pick<ConversationContext, "inbox" | "relays" | "settings">;

/** What the next turn answers, out of what may be answered by now. */
export function takeFree({ inbox, relays, settings }: Line): Taken {
  const free = freeLine(inbox, relays);
  const taken = takeNext(free, settings.queue.mode);
  if (free === inbox) return taken;
  return { ...taken, inbox: [...taken.inbox, ...inbox.slice(free.length)] };
}

/** Somebody waits, and the first in line has to let others go first. */
export function mustWait({ inbox, relays }: Pick<Line, "inbox" | "relays">): boolean {
  return inbox.length > 0 && freeLine(inbox, relays).length === 0;
}

/** This deadline ends the wait of the first in line. */
export function frees(
  context: ConversationContext,
  { id, at }: { readonly id: string; readonly at: Millis },
): boolean {
  if (!isRelayDeadline(id) || !mustWait(context)) return false;
  return !mustWait({ inbox: context.inbox, relays: afterPassing(context, id, at) });
}
