/** Outlets of all accounts, on a node: as the one that asks and as the one that makes the calls. */
import type { Clock, Log, Outlets } from "../../../domain/ports/index.ts";
import type { IngressCall } from "../calls/ingress-call.ts";
import { type Carrier, createCarrier } from "./carrier.ts";
import { serveOutlet } from "./holder.ts";

export interface OutletsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
  /** Of this process only, never used again. */
  readonly boot: string;
}

export function createOutlets({ boot, ...ports }: OutletsOptions): Outlets {
  const carriers = new Map<string, Carrier>();
  let attempts = 0;
  const newAttempt = () => {
    attempts += 1;
    return `${boot}-${attempts}`;
  };

  function carrierOf(channel: string, account: string): Carrier {
    const name = JSON.stringify([channel, account]);
    const known = carriers.get(name);
    if (known !== undefined) return known;
    const carrier = createCarrier({ ...ports, newAttempt }, channel, account);
    carriers.set(name, carrier);
    return carrier;
  }

  return {
    outbound: (channel, account, like) => carrierOf(channel, account).outbound(like),
    refreshMembers: (route) =>
      carrierOf(route.channel, route.account).hint({ route, what: "members" }),
    serve: (served) => serveOutlet(ports, served),
  };
}
