/**
 * When a session is over
 * ======================
 * A session may end by itself: after a quiet time, or once a day at a local hour. It is looked at
 * when a turn gets its slot, before anything of the turn exists, and the moments are those of the
 * wall clock: a session is over when one of them lies between its last line and now. A clock set
 * back ends nothing.
 *
 * Local time comes in as an offset, so a simulation is in UTC and a test in any zone. On a day
 * whose hour does not exist the session ends when the clock jumps over it; on one that has it
 * twice, the first time.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { parseSessionKey } from "../../domain/key.ts";
import type { Millis } from "../../domain/message.ts";

/** ms that local time is ahead of UTC at a moment. */
export type ZoneOffset = (at: Millis) => Millis;

type Reset = EarshotConfig["session"]["reset"];
export type ResetPolicy = Pick<Reset, "mode" | "atHour" | "idleMinutes">;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** What the config says for a session: its channel over its kind over the rest, field by field. */
export function resetPolicy(reset: Reset, key: string): ResetPolicy {
  const { mode, atHour, idleMinutes, byType, byChannel } = reset;
  const parts = parseSessionKey(key);
  const isRoom = parts.kind === "group" || parts.kind === "channel";
  const type = parts.thread !== null ? "thread" : isRoom ? "group" : "direct";
  const channel = "channel" in parts ? parts.channel : "";
  const ofChannel = Object.hasOwn(byChannel, channel) ? byChannel[channel] : undefined;
  return { mode, atHour, idleMinutes, ...defined(byType[type]), ...defined(ofChannel) };
}

function defined(over: Reset["byChannel"][string] | undefined): Partial<ResetPolicy> {
  const entries = Object.entries(over ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<ResetPolicy>;
}

/** Whether a session whose last line is from `last` is over at `now`. */
export function isOver(
  policy: ResetPolicy,
  last: Millis,
  now: Millis,
  offset: ZoneOffset,
): boolean {
  switch (policy.mode) {
    case "none":
      return false;
    case "idle":
      return now - last >= policy.idleMinutes * 60_000;
    case "daily":
      return last < latestHour(now, policy.atHour, offset);
  }
}

/** The latest moment, now or before, at which a local day reached the hour. */
export function latestHour(now: Millis, atHour: number, offset: ZoneOffset): Millis {
  const today = Math.floor((now + offset(now)) / dayMs);
  const reached = hourOfDay(today, atHour, offset);
  return reached <= now ? reached : hourOfDay(today - 1, atHour, offset);
}

/** When the local day (counted from 1970) first shows the hour or a later time. */
function hourOfDay(day: number, atHour: number, offset: ZoneOffset): Millis {
  const wall = day * dayMs + atHour * hourMs;
  const offsets = [offset(wall - dayMs), offset(wall + dayMs)];
  const shows = (at: Millis) => at + offset(at) >= wall;
  let before = wall - Math.max(...offsets);
  if (shows(before)) return before;
  let after = wall - Math.min(...offsets);
  // The clock jumps over the hour somewhere between the two.
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (shows(middle)) after = middle;
    else before = middle;
  }
  return after;
}
