/**
 * The host on this thread
 * =======================
 * The same core without a thread around it, for `--workers 0` and simulations. It yields to the
 * event loop before each batch, so a long queue does not block sockets, and it can be killed like a
 * thread: what was in progress is never answered.
 */

import type { Clock, Scheduler } from "../../domain/ports/index.ts";
import { type ConversationFactory, createHostCore } from "../host/conversation-host.ts";
import { settingsFor } from "../host/conversation-settings.ts";
import { nothingLive } from "../protocol/conversation-summary.ts";
import type { HostEvents, HostFactory, HostLink } from "../protocol/host-link.ts";
import type { HostResult } from "../protocol/host-protocol.ts";
import { createSharedHeartbeat } from "../protocol/shared-heartbeat.ts";

export interface LocalHostOptions {
  readonly clock: Clock;
  readonly create: ConversationFactory;
  readonly live: number;
  readonly checkpointEvery: number;
  readonly scheduler: Scheduler;
}

export function createLocalHosts(options: LocalHostOptions): HostFactory {
  return {
    open: async (_host, epoch, events) => openLocalHost(options, epoch, events),
    close: async () => undefined,
  };
}

function openLocalHost(options: LocalHostOptions, epoch: number, events: HostEvents): HostLink {
  const heartbeat = createSharedHeartbeat();
  let alive = true;
  const core = createHostCore({
    ...options,
    settingsFor,
    mark: heartbeat.mark,
    onInspect: (frames) => {
      if (alive) events.onInspect(frames);
    },
  });
  let end: (reason: string) => void = () => undefined;
  const gone = new Promise<string>((resolve) => {
    end = resolve;
  });
  return {
    epoch,
    heartbeat,
    exited: gone,
    turns: null,
    apply: (batch) =>
      new Promise<HostResult>((resolve, reject) => {
        options.scheduler.soon(() => {
          if (!alive) return;
          try {
            resolve(core.apply(batch));
          } catch (error) {
            reject(error);
          }
        });
      }),
    summary: async (convs) => (alive ? core.summary(convs, options.clock.now()) : []),
    count: async () => (alive ? core.count() : nothingLive),
    inspect: core.inspect.bind(core),
    uninspect: core.uninspect.bind(core),
    ping: heartbeat.beat,
    kill(reason) {
      alive = false;
      end(reason);
    },
  };
}
