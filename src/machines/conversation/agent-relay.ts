/**
 * Where several agents answer one after the other, each message makes a relay: its agents in the
 * order of the list, each with a conversation of its own. A conversation keeps what it engaged in
 * and which agents before it have not ended yet; a batch is held until none is left. When it has
 * done with a message (answered, silent, failed, expired, dropped, or only observed) it passes the
 * message on to the agents behind it.
 *
 * Passing on is an effect that becomes a durable deadline of the others, in the commit of the step
 * that ended the message, so the order survives a crash of any of them. No wait is endless: a
 * deadline of one's own ends it at the last moment at which the message may still be answered.
 */
import type { Millis } from "../../domain/message.ts";
import { type Flush, type Taken, takeNext } from "../batching/inbox.ts";
import type { MessageRef, RelayPassed } from "../events/effects.ts";
import type { MessageReceived, RelayOrder } from "../events/events.ts";
import type { ConversationContext, RelayLeg } from "./context.ts";
import type { Step } from "./step.ts";

const relayDeadline = "relay";

/** Names the deadline by which the agent at `place` reports its end. */
export const passedId = (token: string, place: number): string =>
  `${relayDeadline}|${token}|${place}`;

/** Whether a deadline concerns relays: an agent has ended, or the wait is over. */
export const isRelayDeadline = (id: string): boolean =>
  id === relayDeadline || id.startsWith(`${relayDeadline}|`);

const passing = ({ token, place, keys }: RelayOrder): RelayPassed | null =>
  place + 1 < keys.length ? { type: "relay.pass", token, place, to: keys.slice(place + 1) } : null;

/** An engaged message joins its relay. */
export function joinRelay(step: Step, event: MessageReceived): void {
  const { relay, seq, at } = event;
  if (relay === undefined) return;
  const ahead = Array.from({ length: relay.place }, (_, place) => place);
  setRelays(step, [...step.context.relays, { ...relay, seq, at, ahead }]);
}

/** An observed message is passed on at once. */
export function leaveRelay({ effects }: Step, { relay }: MessageReceived): void {
  const pass = relay === undefined ? null : passing(relay);
  if (pass !== null) effects.push(pass);
}

/** These messages are done with: the agents behind may answer them. */
export function passRelay(step: Step, messages: readonly MessageRef[]): void {
  const { relays } = step.context;
  if (relays.length === 0) return;
  const done = new Set(messages.map(({ seq }) => seq));
  for (const leg of relays) {
    const pass = done.has(leg.seq) ? passing(leg) : null;
    if (pass !== null) step.effects.push(pass);
  }
  setRelays(
    step,
    relays.filter(({ seq }) => !done.has(seq)),
  );
}

/** A deadline of the relays fired: an agent before us has ended, or was waited for long enough. */
export function notePassed(
  step: Step,
  { id, at }: { readonly id: string; readonly at: Millis },
): void {
  setRelays(step, afterPassing(step.context, id, at), id === relayDeadline);
}

function afterPassing(
  { relays, settings }: Pick<ConversationContext, "relays" | "settings">,
  id: string,
  at: Millis,
): readonly RelayLeg[] {
  if (id !== relayDeadline) {
    return relays.map((leg) => {
      const ahead = leg.ahead.filter((place) => passedId(leg.token, place) !== id);
      return ahead.length === leg.ahead.length ? leg : { ...leg, ahead };
    });
  }
  const { replyAgeMsMax } = settings.turn;
  return relays.map((leg) => (leg.at + replyAgeMsMax <= at ? { ...leg, ahead: [] } : leg));
}

/** Keeps the deadline that ends the wait in step with whether a message is held. */
function setRelays({ context, effects }: Step, relays: readonly RelayLeg[], fired = false): void {
  const armed = !fired && context.relays.some(isHeld);
  const first = relays.find(isHeld);
  context.relays = relays;
  if (first !== undefined && !armed) {
    const at = first.at + context.settings.turn.replyAgeMsMax;
    effects.push({ type: "deadline.set", id: relayDeadline, at });
  }
  if (first === undefined && armed) effects.push({ type: "deadline.clear", id: relayDeadline });
}

const isHeld = ({ ahead }: RelayLeg): boolean => ahead.length > 0;

/** The line up to the first batch that still has to let other agents go first. */
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

/** The first in line has to let other agents go first. */
export function mustWait({ inbox, relays }: Pick<Line, "inbox" | "relays">): boolean {
  return inbox.length > 0 && freeLine(inbox, relays).length === 0;
}
