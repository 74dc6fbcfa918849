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
  /** Makes another daemon, that has no conversations either. `mirror`: it keeps a copy of them. @default true */
  another(mirror?: boolean): Promise<LiveDaemon>;
  close(): Promise<void>;
}

export interface TwoDaemonsOptions extends LiveDaemonOptions {
  /** Where the second one finds the server, given its real address. @default there */
  readonly ingressOfBack?: (ingress: string) => Promise<string>;
}

/** Makes them; the server runs, and both daemons are to be started. */
export async function createTwoDaemons(options: TwoDaemonsOptions): Promise<TwoDaemons> {
  const restate = await startRestate();
  const { admin } = restate;
  const ingressOfBack = (await options.ingressOfBack?.(restate.ingress)) ?? restate.ingress;
  const port = await freePort();
  const balancer = await openBalancer([port]);
  const nodes = `http://127.0.0.1:${balancer.port}`;
  const made: LiveDaemon[] = [];
  const make = async (own: number, mirror = true, ingress = restate.ingress) => {
    const engine = { kind: "restate", ingress, admin, port: own, nodes, mirror };
    const daemon = await createLiveDaemon({
      ...options,
      config: { ...options.config, engine },
    });
    made.push(daemon);
    return daemon;
  };
  const back = await make(port, true, ingressOfBack);
  const front = await make(0);
  return {
    front,
    back,
    restate,
    another: (mirror) => make(0, mirror),
    async close() {
      // The first has the conversations, and makes the calls of the others.
      for (const daemon of [...made].reverse()) await daemon.close();
      await balancer.close();
      await restate.stop();
    },
  };
}
