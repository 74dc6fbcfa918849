/**
 * The world outside, simulated
 * ============================
 * Platforms that take what is sent, as the scenario says they do: at once, never, too late or not
 * now. Member reads stand as they were last reported. Ids and chance come from a seed, so the same
 * scenario gives the same bytes; and each is drawn for what it is about, so that a room has the same
 * ones whatever goes on in others.
 */
import { EarshotError } from "../../domain/errors.ts";
import { hash52 } from "../../domain/key.ts";
import type { MembershipReport, Millis, Route } from "../../domain/message.ts";
import type { ChannelOutbound, Clock, Ids, Random, SendReceipt } from "../../domain/ports/index.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { OutboundDirectory } from "../protocol/runtime.ts";

type ScriptedOutcome = Extract<ScenarioLine, { platform: unknown }>["platform"];

/** A member read is offered for this long; the ladder calls it stale much earlier. */
const membershipKeptMs = 30 * 60_000;
const textLimit = 4_000;
const typingIntervalMs = 5_000;

export interface SimulatedWorld {
  readonly directory: OutboundDirectory;
  /** Orders the fate of the next sends on a channel; orders queue up. */
  script(fate: ScriptedOutcome): void;
  /** The channel read its member list, `ageMs` ago. */
  readMembers(report: MembershipReport, ageMs: number): void;
}

/** `local`: channels whose sender is the operator. */
export function createSimulatedWorld(clock: Clock, local: readonly string[] = []): SimulatedWorld {
  const fates = new Map<string, { fate: ScriptedOutcome; left: number }[]>();
  const members = new Map<string, NonNullable<ReturnType<OutboundDirectory["membership"]>>>();
  /** Messages that a room was sent. */
  const sent = new Map<string, number>();

  const ordered = (name: string): ScriptedOutcome | null => {
    const queue = fates.get(name);
    const first = queue?.[0];
    if (queue === undefined || first === undefined) return null;
    first.left -= 1;
    if (first.left === 0) queue.shift();
    if (queue.length === 0) fates.delete(name);
    return first.fate;
  };
  const nextFate = ({ channel, chat, thread }: Route): ScriptedOutcome | null => {
    if (fates.size === 0) return null;
    return ordered(placeName(channel, chat.id, thread?.id)) ?? ordered(placeName(channel));
  };
  const send = (route: Route, signal: AbortSignal): Promise<SendReceipt> => {
    const fate = nextFate(route);
    if (fate === null || fate.send === "ok") {
      const room = chatOf(route);
      const count = (sent.get(room) ?? 0) + 1;
      sent.set(room, count);
      return Promise.resolve({ messageIds: [`sent-${count}`] });
    }
    return suffer(fate, signal);
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
      outbound: () => outbound,
      ready: () => true,
      textLimit: () => textLimit,
      typingIntervalMs: () => typingIntervalMs,
      isLocal: (channel) => local.includes(channel),
      // What a read would find stands in the scenario: there is nobody to ask.
      refreshMembership: () => {},
      membership(route) {
        const read = members.get(chatOf(route));
        return read !== undefined && clock.now() - read.fetchedAt < membershipKeptMs ? read : null;
      },
    },
    script(fate) {
      const name = placeName(fate.channel, fate.chat, fate.thread);
      const queue = fates.get(name) ?? [];
      queue.push({ fate, left: fate.count });
      fates.set(name, queue);
    },
    readMembers(report, ageMs) {
      const { humans, bots, truncated } = report;
      const fetchedAt = clock.now() - ageMs;
      members.set(chatOf(report), { humans, bots, truncated, fetchedAt });
    },
  };
}

/** A channel, or one chat of it, or one thread of that, as orders name it. */
const placeName = (channel: string, chat?: string, thread?: string): string =>
  JSON.stringify(chat === undefined ? [channel] : [channel, chat, thread ?? null]);

/** Threads are looked up under their parent. */
function chatOf(place: Pick<Route, "channel" | "account" | "chat">): string {
  const { channel, account, chat } = place;
  return `${channel.length} ${account.length} ${channel}${account}${chat.id}`;
}

function suffer(fate: ScriptedOutcome, signal: AbortSignal): Promise<never> {
  switch (fate.send) {
    case "429":
      return Promise.reject(
        new EarshotError("EAR_CHANNEL_RATE", "Cannot send as the platform asks to wait", {
          retryAfterMs: fate.retryAfterMs,
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
        new EarshotError("EAR_CHANNEL_REJECTED", "Cannot send as the platform refuses it"),
      );
  }
}

/** Numbers that look like chance and are the same for the same seed (mulberry32). */
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
 * What is drawn anew for everything it is about: the seed, the moment, the thing, and how often it
 * was drawn for that thing in that moment. Nothing is remembered longer than a moment.
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

/** Chance of a simulation; what is about nothing is drawn in sequence. */
export function simulatedRandom(clock: { now(): Millis }, seed: number): Random {
  const sequence = seededRandom(seed);
  const drawn = drawing(clock, seed);
  return { next: (about) => (about === undefined ? sequence.next() : drawn(about).next()) };
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Ids of the usual form: ten letters of time, sixteen of seeded chance. */
export function seededIds(clock: { now(): Millis }, seed: number): Ids {
  const drawn = drawing(clock, seed ^ 0x1d5eed);
  return {
    next(about = "") {
      const random = drawn(about);
      let time = "";
      for (let left = clock.now(), n = 0; n < 10; n += 1, left = Math.floor(left / 32))
        time = alphabet.charAt(left % 32) + time;
      let chance = "";
      for (let n = 0; n < 16; n += 1) chance += alphabet.charAt(Math.floor(random.next() * 32));
      return time + chance;
    },
  };
}
