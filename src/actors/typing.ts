/**
 * Typing
 * ======
 * Shows the typing state of conversations on their platforms: on once, again before the platform
 * forgets it, off once. The state itself is the machine's; here is only its refreshing, with an end
 * of its own so that a lost "off" cannot show somebody typing for ever. Best effort: failures are
 * logged, never retried. What fell into a break of the connection is shown when it is back.
 */
import type { Route } from "../domain/message.ts";
import type { Clock, Log, TimerHandle } from "../domain/ports.ts";
import type { OutboundDirectory } from "./runtime.types.ts";

export interface TypingPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly directory: OutboundDirectory;
}

export interface Typing {
  /** Shows typing at the route until `off`, at most for `ttlMs`. */
  on(route: Route, settings: { readonly intervalMs: number; readonly ttlMs: number }): void;
  off(route: Route): void;
  /** An account came up: shows what could not be shown while it was away. */
  wake(channel: string, account: string): void;
  stop(): void;
}

interface Shown {
  readonly route: Route;
  readonly endsAt: number;
  /** The last "on" was not said: the account was not connected. */
  missed: boolean;
  timer: TimerHandle | null;
}

const routeId = ({ channel, account, chat, thread }: Route) =>
  JSON.stringify([channel, account, chat.id, thread?.id ?? null]);

export function createTyping({ clock, log, directory }: TypingPorts): Typing {
  const shown = new Map<string, Shown>();

  /** False: not now. */
  function tell(route: Route, on: boolean): boolean {
    if (!directory.ready(route.channel, route.account)) return false;
    const outbound = directory.outbound(route.channel, route.account);
    const call = async () => outbound?.sendTyping?.(route, on, new AbortController().signal);
    call().catch((error: unknown) =>
      log("debug", "typing.failed", { channel: route.channel, error: String(error) }),
    );
    return true;
  }

  function end(route: Route): boolean {
    const state = shown.get(routeId(route));
    if (state === undefined) return false;
    if (state.timer !== null) clock.clearTimer(state.timer);
    return shown.delete(routeId(route));
  }

  return {
    on(route, { intervalMs, ttlMs }) {
      end(route);
      const every = Math.min(intervalMs, directory.typingIntervalMs(route.channel));
      const state: Shown = { route, endsAt: clock.now() + ttlMs, missed: false, timer: null };
      shown.set(routeId(route), state);
      const refresh = () => {
        state.missed = !tell(route, true);
        const next = clock.now() + every;
        // Past its end it is not refreshed: the platform lets it fade by itself.
        if (next < state.endsAt) state.timer = clock.setTimer(next, refresh);
        else shown.delete(routeId(route));
      };
      refresh();
    },
    off(route) {
      // Said even if it has faded: a platform that shows it until told otherwise is told.
      end(route);
      tell(route, false);
    },
    wake(channel, account) {
      for (const state of shown.values()) {
        const { route, missed } = state;
        if (missed && route.channel === channel && route.account === account)
          state.missed = !tell(route, true);
      }
    },
    stop() {
      for (const { timer } of shown.values()) if (timer !== null) clock.clearTimer(timer);
      shown.clear();
    },
  };
}
