/**
 * What the accounts could not recover after a time away, kept so that a person sees it: until it has
 * been seen, or for a few days. In memory, and where several nodes run the accounts, where all of them read it; the
 * log keeps each one.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, Gap, Log } from "../../domain/ports/index.ts";
import { oneLine } from "../../domain/sanitize.ts";

export interface KeptGap extends Gap {
  /** The same for the same span of the same account, whichever node reports it. */
  readonly id: string;
  /** When it was reported, ms since the epoch. */
  readonly at: Millis;
}

export interface SharedGap extends KeptGap {
  readonly channel: string;
  readonly account: string;
}

/**
 * What accounts could not recover, where all nodes read it: the node that finds out may die before anybody has
 * read it there.
 */
export interface SharedGaps {
  /** Gives it to all nodes, instead of the one with its id; tried again until it is stored. */
  keep(gap: SharedGap): void;
  /** Removes it from all nodes, in the same way. */
  forget(id: string): void;
  /** `listener` gets what other nodes have given and removed (null). One listener. */
  follow(listener: (id: string, gap: SharedGap | null) => void): void;
}

export interface Gaps {
  /** Takes a report; the same one again is ignored. `log` is the account's. */
  add(channel: string, account: string, gap: Gap, log: Log): void;
  /** Oldest first. */
  of(channel: string, account: string): readonly KeptGap[];
  /** A person has seen it. False: it is not kept. */
  forget(id: string): boolean;
}

/** @param shared absent: this is the only node */
export function createGaps(clock: Pick<Clock, "now">, shared?: SharedGaps): Gaps {
  const kept = new Map<string, SharedGap>();
  shared?.follow((id, gap) => {
    if (gap === null) kept.delete(id);
    else kept.set(id, gap);
  });
  const isCurrent = ({ at }: KeptGap) => at >= clock.now() - limits.gapKeptMsMax;
  const current = (channel: string, account: string) =>
    [...kept.values()]
      .filter((one) => one.channel === channel && one.account === account && isCurrent(one))
      .sort((one, other) => one.at - other.at);

  function forget(id: string): boolean {
    if (!kept.delete(id)) return false;
    shared?.forget(id);
    return true;
  }

  return {
    add(channel, account, gap, log) {
      const rooms = gap.rooms.slice(0, limits.gapRoomsMax).map((room) => oneLine(room));
      const id = ["gap", channel, account, gap.lost, gap.from, gap.to].join(":");
      const earlier = current(channel, account).find((one) => one.id === id);
      const isKnown = rooms.every((room) => earlier?.rooms.includes(room));
      if (earlier !== undefined && isKnown) return;
      const all = [...new Set([...(earlier?.rooms ?? []), ...rooms])].slice(0, limits.gapRoomsMax);
      const { from, to, lost } = gap;
      const one = { id, channel, account, at: clock.now(), from, to, lost, rooms: all };
      kept.set(id, one);
      shared?.keep(one);
      const tooOld = [...kept.values()].filter((other) => !isCurrent(other));
      const tooMany = current(channel, account).slice(0, -limits.gapsKeptMax);
      for (const other of [...tooOld, ...tooMany]) forget(other.id);
      log(lost === "messages" ? "warn" : "info", "connection.gap", {
        lost,
        rooms,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        seconds: Math.round((to - from) / 1_000),
      });
    },
    of: (channel, account) =>
      current(channel, account).map(({ channel: _, account: __, ...gap }) => gap),
    forget,
  };
}
