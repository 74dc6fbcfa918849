/**
 * A glance at a conversation
 * ==========================
 * How a live conversation stands, in the few fields that a list of rooms shows. Hosts are asked for
 * it only while somebody watches such a list, a batch of conversations at a time, so a room that
 * nobody looks at costs nothing.
 */
import type { Millis } from "../domain/message.ts";
import type { ConversationContext } from "../machines/conversation.context.ts";
import { effectiveHumans } from "../machines/humans.ts";
import { attentionOf, type ConversationValue } from "../machines/record.ts";
import type { HostLink } from "./host-link.ts";

export interface Glance {
  /** For example "engaged.running.open". */
  readonly attention: string;
  readonly guard: "clear" | "tripped" | "muted";
  /** People the ladder reckons with. */
  readonly humans: number;
  /** Where that number comes from, in words. */
  readonly source: string;
  /** Peer bots that spoke lately. */
  readonly bots: number;
  /** When live credits end, the last to end first; at most 8. */
  readonly credits: readonly Millis[];
  /** Messages that wait for a turn. */
  readonly queued: number;
}

const creditsShownMax = 8;

/** The conversation of this state and context, looked at now. */
export function glanceAt(
  value: ConversationValue,
  context: Readonly<ConversationContext>,
  now: Millis,
): Glance {
  const { participants, membership, settings, ledger, forming, inbox, guard } = context;
  const room = { participants, membership };
  const { count, source } = effectiveHumans(room, settings.engagement, now);
  const waiting = [...forming, ...inbox];
  const spoken = participants.filter(({ isBot }) => isBot).length;
  return {
    attention: attentionOf(value),
    guard,
    humans: count,
    source,
    bots: Math.max(spoken, membership?.bots ?? 0),
    credits: Object.values(ledger)
      .filter((endsAt) => endsAt > now)
      .sort((a, b) => b - a)
      .slice(0, creditsShownMax),
    queued: waiting.reduce((sum, { messages }) => sum + messages.length, 0),
  };
}

/** The live conversations of a house, or of one host, as counted for a list of rooms. */
export interface Tally {
  /** How many are live. */
  readonly live: number;
  /** Those at anything but observing. */
  readonly engaged: readonly number[];
  /** Those whose guard holds. */
  readonly guarded: readonly number[];
}

export const nothingLive: Tally = { live: 0, engaged: [], guarded: [] };

interface Glanced {
  readonly link: HostLink | null;
}

/**
 * Asks each conversation's host. Those that are not live anywhere have no entry; a host that dies
 * meanwhile answers for none.
 */
export async function glances(
  convs: readonly number[],
  hostOf: (conv: number) => Glanced | undefined,
): Promise<ReadonlyMap<number, Glance>> {
  const asked = new Map<HostLink, number[]>();
  for (const conv of convs) {
    const link = hostOf(conv)?.link;
    if (link === null || link === undefined) continue;
    const list = asked.get(link);
    if (list === undefined) asked.set(link, [conv]);
    else list.push(conv);
  }
  const seen = new Map<number, Glance>();
  await Promise.all(
    [...asked].map(async ([link, list]) => {
      const nothing = () => null;
      // Nobody is worse off without an answer.
      const found = await Promise.race([link.glance(list), link.gone.then(nothing)]).catch(nothing);
      for (const [index, conv] of list.entries()) {
        const glance = found?.[index];
        if (glance !== null && glance !== undefined) seen.set(conv, glance);
      }
    }),
  );
  return seen;
}

/** Asks every host what is live there; a host that is down or dies meanwhile has nothing live. */
export async function tally(hosts: Iterable<Glanced>): Promise<Tally> {
  const nothing = () => nothingLive;
  const counted = await Promise.all(
    [...hosts].map(({ link }) =>
      link === null
        ? nothingLive
        : Promise.race([link.tally(), link.gone.then(nothing)]).catch(nothing),
    ),
  );
  return {
    live: counted.reduce((sum, { live }) => sum + live, 0),
    engaged: counted.flatMap(({ engaged }) => engaged),
    guarded: counted.flatMap(({ guarded }) => guarded),
  };
}
