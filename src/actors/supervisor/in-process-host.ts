/**
 * The host on this thread
 * =======================
 * The same core without a thread around it, for `--workers 0` and simulations. It yields to the
 * event loop before each batch, so a long queue does not keep sockets waiting, and it can be killed
 * like a thread: what it had under way is never answered.
 */

import type { Clock } from "../../domain/ports/index.ts";
import { type ConversationFactory, createHostCore } from "../host/conversation-host.ts";
import { settingsFor } from "../host/conversation-settings.ts";
import { nothingLive } from "../protocol/conversation-summary.ts";
import type { HostEvents, HostLink, HostOpener } from "../protocol/host-link.ts";
import type { HostResult } from "../protocol/host-protocol.ts";
import { createPulse } from "../protocol/shared-heartbeat.ts";
import type { Pace } from "../util/scheduling.ts";
import { soon } from "../util/scheduling.ts";

export interface LocalHostOptions {
  readonly clock: Clock;
  readonly create: ConversationFactory;
  readonly live: number;
  readonly checkpointEvery: number;
  readonly pace?: Pace | undefined;
}

export function createLocalHosts(options: LocalHostOptions): HostOpener {
  return {
    open: async (_host, epoch, events) => openLocalHost(options, epoch, events),
    close: async () => undefined,
  };
}

function openLocalHost(options: LocalHostOptions, epoch: number, events: HostEvents): HostLink {
  const pulse = createPulse();
  let alive = true;
  const core = createHostCore({
    ...{ ...options, settingsFor, mark: pulse.mark },
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
    pulse,
    gone,
    turns: null,
    apply: (batch) =>
      new Promise<HostResult>((resolve, reject) => {
        soon(options.pace, () => {
          if (!alive) return;
          try {
            resolve(core.apply(batch));
          } catch (error) {
            reject(error);
          }
        });
      }),
    glance: async (convs) => (alive ? core.glance(convs, options.clock.now()) : []),
    tally: async () => (alive ? core.tally() : nothingLive),
    inspect: core.inspect.bind(core),
    uninspect: core.uninspect.bind(core),
    ping: pulse.beat,
    kill(reason) {
      alive = false;
      end(reason);
    },
  };
}
