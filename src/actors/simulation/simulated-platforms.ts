/**
 * Platforms that answer sends as the scenario says: immediately, never, too late or not now. Member
 * reads return what was last reported. Ids and randomness come from a seed, so the same scenario
 * gives the same bytes; each value is drawn for its own subject, so a room gets the same ones
 * whatever happens in others.
 */
import { EarshotError } from "../../domain/errors.ts";
import { hash52 } from "../../domain/key.ts";
import type { MembershipReport, Millis, Route } from "../../domain/message.ts";
import type { ChannelOutbound, Clock, Ids, Random, SendReceipt } from "../../domain/ports/index.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { OutboundDirectory } from "../protocol/runtime.ts";

type ScriptedOutcome = Extract<ScenarioLine, { platform: unknown }>["platform"];

/** How long a member read is returned; the ladder calls it stale much earlier. */
const membershipCachedMs = 30 * 60_000;
const textLimit = 4_000;
const typingIntervalMs = 5_000;

export interface SimulatedWorld {
  readonly directory: OutboundDirectory;
  /** Sets the outcome of the next sends on a channel; outcomes queue up. */
  script(outcome: ScriptedOutcome): void;
  /** The channel read its member list, `ageMs` ago. */
  readMembers(report: MembershipReport, ageMs: number): void;
}

/** `local`: channels whose sender is the operator. */
export function createSimulatedWorld(clock: Clock, local: readonly string[] = []): SimulatedWorld {
  const outcomes = new Map<string, { outcome: ScriptedOutcome; remaining: number }[]>();
  const members = new Map<string, NonNullable<ReturnType<OutboundDirectory["membership"]>>>();
  /** Number of messages sent to each room. */
  const sent = new Map<string, number>();

  const ordered = (name: string): ScriptedOutcome | null => {
    const queue = outcomes.get(name);
    const first = queue?.[0];
    if (queue === undefined || first === undefined) return null;
    first.remaining -= 1;
    if (first.remaining === 0) queue.shift();
    if (queue.length === 0) outcomes.delete(name);
    return first.outcome;
  };
  const nextOutcome = ({ channel, chat, thread }: Route): ScriptedOutcome | null => {
    if (outcomes.size === 0) return null;
    return ordered(placeName(channel, chat.id, thread?.id)) ?? ordered(placeName(channel));
  };
  const send = (route: Route, signal: AbortSignal): Promise<SendReceipt> => {
    const outcome = nextOutcome(route);
    if (outcome === null || outcome.send === "ok") {
      const room = chatOf(route);
      const count = (sent.get(room) ?? 0) + 1;
      sent.set(room, count);
      return Promise.resolve({ messageIds: [`sent-${count}`] });
    }
    return fail(outcome, signal);
  };
  const outbound: ChannelOutbound = {
    sendText: ({ route, signal }) => send(route, signal),
    replyText: ({ route, signal }) => send(route, signal),
    sendTyping: () => Promise.resolve(),
    addReaction: () => Promise.resolve(),
    removeReaction: () => Promise.resolve(),
  };
  return {
    directory: {
      hasAccount: () => true,
      outbound: () => outbound,
      ready: () => true,
      textLimit: () => textLimit,
      typingIntervalMs: () => typingIntervalMs,
      isLocal: (channel) => local.includes(channel),
      // The scenario holds the result of every read.
      refreshMembership: () => {},
      membership(route) {
        const read = members.get(chatOf(route));
        return read !== undefined && clock.now() - read.fetchedAt < membershipCachedMs
          ? read
          : null;
      },
    },
    script(outcome) {
      const name = placeName(outcome.channel, outcome.chat, outcome.thread);
      const queue = outcomes.get(name) ?? [];
      queue.push({ outcome, remaining: outcome.count });
      outcomes.set(name, queue);
    },
    readMembers(report, ageMs) {
      const { humans, bots, truncated } = report;
      const fetchedAt = clock.now() - ageMs;
      members.set(chatOf(report), { humans, bots, truncated, fetchedAt });
    },
  };
}

/** A channel, a chat of it, or a thread of that, as scenario lines name it. */
const placeName = (channel: string, chat?: string, thread?: string): string =>
  JSON.stringify(chat === undefined ? [channel] : [channel, chat, thread ?? null]);

/** Threads are looked up under their parent. */
function chatOf(place: Pick<Route, "channel" | "account" | "chat">): string {
  const { channel, account, chat } = place;
  return `${channel.length} ${account.length} ${channel}${account}${chat.id}`;
}

function fail(outcome: ScriptedOutcome, signal: AbortSignal): Promise<never> {
  switch (outcome.send) {
    case "429":
      return Promise.reject(
        new EarshotError("EAR_CHANNEL_RATE", "Cannot send: the platform asks to wait", {
          retryAfterMs: outcome.retryAfterMs,
        }),
      );
    case "hang":
      return new Promise((_, reject) => {
        const give = () =>
          reject(new EarshotError("EAR_SEND_IN_DOUBT", "Cannot confirm the send: no answer came"));
        if (signal.aborted) give();
        else signal.addEventListener("abort", give, { once: true });
      });
    default:
      return Promise.reject(
        new EarshotError("EAR_CHANNEL_REJECTED", "Cannot send: the platform refuses the message"),
      );
  }
}

/** Pseudo-random numbers, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): { next(): number } {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    },
  };
}

/**
 * Draws a value for each subject: from the seed, the moment, the subject, and how often it was
 * drawn for that subject in that moment. Nothing is kept longer than a moment.
 */
function drawing(clock: { now(): Millis }, seed: number): (about: string) => { next(): number } {
  const drawn = new Map<string, number>();
  let moment: Millis = -1;
  return (about) => {
    const now = clock.now();
    if (now !== moment) drawn.clear();
    moment = now;
    const count = drawn.get(about) ?? 0;
    drawn.set(about, count + 1);
    return seededRandom(hash52(`${seed}|${now}|${count}|${about}`));
  };
}

/** Randomness of a simulation; values without a subject are drawn in sequence. */
export function simulatedRandom(clock: { now(): Millis }, seed: number): Random {
  const sequence = seededRandom(seed);
  const drawn = drawing(clock, seed);
  return { next: (about) => (about === undefined ? sequence.next() : drawn(about).next()) };
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Ids of the usual form: ten letters of time, sixteen of seeded randomness. */
export function seededIds(clock: { now(): Millis }, seed: number): Ids {
  const drawn = drawing(clock, seed ^ 0x1d5eed);
  return {
    next(about = "") {
      const random = drawn(about);
      let time = "";
      for (let rest = clock.now(), n = 0; n < 10; n += 1, rest = Math.floor(rest / 32))
        time = alphabet.charAt(rest % 32) + time;
      let chance = "";
      for (let n = 0; n < 16; n += 1) chance += alphabet.charAt(Math.floor(random.next() * 32));
      return time + chance;
    },
  };
}
