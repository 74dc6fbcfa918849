/**
 * What the accounts could not recover after a time away, kept so that a person sees it: until it has
 * been seen, or for a few days. In memory only; the log keeps each one.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, Gap, Log } from "../../domain/ports/index.ts";
import { oneLine } from "../../domain/sanitize.ts";

export interface KeptGap extends Gap {
  readonly id: string;
  /** When it was reported, ms since the epoch. */
  readonly at: Millis;
}

export interface Gaps {
  /** Takes a report; the same one again is ignored. `log` is the account's. */
  add(channel: string, account: string, gap: Gap, log: Log): void;
  /** Oldest first. */
  of(channel: string, account: string): readonly KeptGap[];
  /** A person has seen it. False: it is not kept. */
  forget(id: string): boolean;
}

export function createGaps(clock: Pick<Clock, "now">): Gaps {
  const kept = new Map<string, KeptGap[]>();
  const nameOf = (channel: string, account: string) => JSON.stringify([channel, account]);
  const current = (name: string) => {
    const oldest = clock.now() - limits.gapKeptMsMax;
    return (kept.get(name) ?? []).filter(({ at }) => at >= oldest);
  };
  return {
    add(channel, account, gap, log) {
      const name = nameOf(channel, account);
      const known = current(name);
      const rooms = gap.rooms.slice(0, limits.gapRoomsMax).map((room) => oneLine(room));
      const id = ["gap", channel, account, gap.lost, gap.from, gap.to].join(":");
      const earlier = known.find((one) => one.id === id);
      const isKnown = rooms.every((room) => earlier?.rooms.includes(room));
      if (earlier !== undefined && isKnown) return;
      const all = [...new Set([...(earlier?.rooms ?? []), ...rooms])].slice(0, limits.gapRoomsMax);
      const others = known.filter((one) => one !== earlier);
      const { from, to, lost } = gap;
      kept.set(
        name,
        [...others, { id, at: clock.now(), from, to, lost, rooms: all }].slice(-limits.gapsKeptMax),
      );
      log(lost === "messages" ? "warn" : "info", "connection.gap", {
        lost,
        rooms,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        seconds: Math.round((to - from) / 1_000),
      });
    },
    of: (channel, account) => current(nameOf(channel, account)),
    forget(id) {
      for (const [name, gaps] of kept) {
        const left = gaps.filter((one) => one.id !== id);
        if (left.length === gaps.length) continue;
        kept.set(name, left);
        return true;
      }
      return false;
    },
  };
}
