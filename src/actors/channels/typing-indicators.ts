/**
 * Shows the typing state of conversations on their platforms: on once, refreshed before the
 * platform forgets it, off once. The machine owns the state; this file refreshes it, with a time
 * limit of its own so that a lost "off" cannot show typing for ever. Each place has at most one
 * call in flight: an "off" aborts a slow "on" and follows it, so that a late "on" cannot restart
 * the indicator. Several agents may work in one place under one account: it is on until the last of
 * them has ended. Best effort: failures are logged, never retried. Changes during a connection break
 * are applied when it is back.
 */
import type { Route } from "../../domain/message.ts";
import type { Clock, Log, TimerHandle } from "../../domain/ports/index.ts";
import type { OutboundDirectory } from "../protocol/runtime.ts";

export interface TypingPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly directory: Pick<OutboundDirectory, "outbound" | "ready" | "typingIntervalMs">;
  /** Asked right before each call: false when another process sends now. */
  readonly mayAct: () => boolean;
}

export interface Typing {
  /** Shows typing of a conversation at the route until `off`, at most for `ttlMs`. */
  on(
    conv: number,
    route: Route,
    settings: { readonly intervalMs: number; readonly ttlMs: number },
  ): void;
  off(conv: number, route: Route): void;
  /** An account connected: shows what was missed while it was away. */
  wake(channel: string, account: string): void;
  stop(): void;
}

interface Shown {
  readonly route: Route;
  /** When it ends at the latest, by conversation. */
  readonly ends: Map<number, number>;
  /** The last "on" was not sent: the account was not connected. */
  missed: boolean;
  timer: TimerHandle | null;
}

/** A call in flight, and the next wanted state. */
interface Call {
  readonly on: boolean;
  readonly stop: AbortController;
  /** Null: the state it sets. */
  wanted: boolean | null;
}

const placeOf = ({ channel, account, chat, thread }: Route) =>
  JSON.stringify([channel, account, chat.id, thread?.id ?? null]);

export function createTyping({ clock, log, directory, mayAct }: TypingPorts): Typing {
  /** By place. */
  const shown = new Map<string, Shown>();
  const calls = new Map<string, Call>();

  let stopped = false;

  /** Returns false when it cannot be sent now. */
  function send(place: string, route: Route, on: boolean): boolean {
    if (!directory.ready(route.channel, route.account)) return false;
    const under = calls.get(place);
    if (under === undefined) start(place, route, on);
    else {
      under.wanted = on === under.on ? null : on;
      if (!on) under.stop.abort();
    }
    return true;
  }

  function start(place: string, route: Route, on: boolean): void {
    const call: Call = { on, stop: new AbortController(), wanted: null };
    calls.set(place, call);
    void perform(place, route, call);
  }

  async function perform(place: string, route: Route, { on, stop }: Call): Promise<void> {
    const outbound = directory.outbound(route.channel, route.account);
    try {
      if (mayAct()) await outbound?.sendTyping?.(route, on, stop.signal);
    } catch (error) {
      log("debug", "typing.failed", { channel: route.channel, error: String(error) });
    }
    const wanted = calls.get(place)?.wanted ?? null;
    calls.delete(place);
    if (wanted !== null && !stopped) start(place, route, wanted);
  }

  function end(place: string): void {
    const state = shown.get(place);
    if (state === undefined) return;
    if (state.timer !== null) clock.clearTimer(state.timer);
    shown.delete(place);
  }

  return {
    on(conv, route, { intervalMs, ttlMs }) {
      const place = placeOf(route);
      const ends = new Map(shown.get(place)?.ends).set(conv, clock.now() + ttlMs);
      end(place);
      const every = Math.min(intervalMs, directory.typingIntervalMs(route.channel));
      const state: Shown = { route, ends, missed: false, timer: null };
      shown.set(place, state);
      const refresh = () => {
        state.missed = !send(place, route, true);
        const next = clock.now() + every;
        // After its time limit it is not refreshed: the platform lets it expire.
        if (next < Math.max(...ends.values())) state.timer = clock.setTimer(next, refresh);
        else shown.delete(place);
      };
      refresh();
    },
    off(conv, route) {
      const place = placeOf(route);
      const ends = shown.get(place)?.ends;
      ends?.delete(conv);
      const now = clock.now();
      if ([...(ends?.values() ?? [])].some((at) => at > now)) return;
      // Sent even if it has expired, for platforms that show it until "off".
      end(place);
      send(place, route, false);
    },
    wake(channel, account) {
      for (const [place, state] of shown) {
        const { route, missed } = state;
        if (missed && route.channel === channel && route.account === account)
          state.missed = !send(place, route, true);
      }
    },
    stop() {
      stopped = true;
      for (const { stop } of calls.values()) stop.abort();
      for (const { timer } of shown.values()) if (timer !== null) clock.clearTimer(timer);
      shown.clear();
    },
  };
}
