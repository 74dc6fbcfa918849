/**
 * Two daemons on one Restate: people speak to either, and conversations become active on the second alone.
 */
import type { LiveDaemon, LiveDaemonOptions } from "../daemon/live-daemon.ts";
import { createLiveDaemon } from "../daemon/live-daemon.ts";
import { freePort } from "../free-port.ts";
import { openBalancer } from "./balancer.ts";
import { type RestateServer, startRestate } from "./server.ts";

export interface TwoDaemons {
  /** No conversation is active on it while it has company. */
  readonly front: LiveDaemon;
  readonly back: LiveDaemon;
  readonly restate: RestateServer;
  /** The section of the second one's config, for a process that goes on in its place once it has ended. */
  readonly engineOfBack: Readonly<Record<string, unknown>>;
  /** Makes another daemon, that has no conversations either. `mirror`: it keeps a copy of them. @default true */
  another(mirror?: boolean): Promise<LiveDaemon>;
  close(): Promise<void>;
}

export interface TwoDaemonsOptions extends LiveDaemonOptions {
  /** What the second one has instead: where it finds the server, and sections of its config. @default the same */
  readonly ofBack?: (
    ingress: string,
  ) => Promise<{ readonly ingress: string; readonly config: Readonly<Record<string, unknown>> }>;
}

/** Makes them; the server runs, and both daemons are to be started. */
export async function createTwoDaemons(options: TwoDaemonsOptions): Promise<TwoDaemons> {
  const restate = await startRestate();
  const { admin } = restate;
  const same = { ingress: restate.ingress, config: {} };
  const ofBack = (await options.ofBack?.(restate.ingress)) ?? same;
  const port = await freePort();
  const balancer = await openBalancer([port]);
  const nodes = `http://127.0.0.1:${balancer.port}`;
  const made: LiveDaemon[] = [];
  const make = async (own: number, mirror = true, { ingress, config } = same) => {
    const engine = { kind: "restate", ingress, admin, port: own, nodes, mirror };
    const daemon = await createLiveDaemon({
      ...options,
      config: { ...options.config, ...config, engine },
    });
    made.push(daemon);
    return daemon;
  };
  const back = await make(port, true, ofBack);
  const front = await make(0);
  return {
    front,
    back,
    restate,
    engineOfBack: { kind: "restate", ingress: restate.ingress, admin, port, nodes },
    another: (mirror) => make(0, mirror),
    async close() {
      // The first has the conversations, and makes the calls of the others.
      for (const daemon of [...made].reverse()) await daemon.close();
      await balancer.close();
      await restate.stop();
    },
  };
}
