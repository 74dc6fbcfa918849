/**
 * Calls the hooks of plugins for messages and turns. Their result is not awaited and changes
 * nothing.
 */
import type { Clock } from "../../domain/ports/index.ts";
import type { HookRunner } from "../outbox/plugin-hooks.ts";
import type { RuntimeListener } from "../protocol/runtime-events.ts";

export interface HookListenerPorts {
  readonly clock: Clock;
  readonly hooks: Pick<HookRunner, "hears" | "notify">;
  readonly agentOf: (key: string) => string;
}

/** A listener for the hooks that plugins define. */
export function hookListener({ clock, hooks, agentOf }: HookListenerPorts): RuntimeListener {
  const where = (key: string) => ({ at: clock.now(), key, agentId: agentOf(key) });
  const listener: RuntimeListener = {};
  if (hooks.hears("message.received"))
    listener.decided = (_conv, key, { message }, { decision, rule }) =>
      hooks.notify("message.received", { ...where(key), message, decision, rule });
  if (hooks.hears("turn.started"))
    listener.turnStarted = (key, { turnId, turn, batch, attempt }) => {
      if (attempt !== 1) return;
      const messages = batch.map(({ id }) => id);
      hooks.notify("turn.started", { ...where(key), turnId, turn, batch: messages });
    };
  if (hooks.hears("turn.ended"))
    listener.turnEnded = (key, { turnId, turn, outcome, reason }) => {
      const why = reason === undefined ? {} : { reason };
      hooks.notify("turn.ended", { ...where(key), turnId, turn, outcome, ...why });
    };
  return listener;
}
