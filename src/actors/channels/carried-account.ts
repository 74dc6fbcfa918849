/**
 * An account whose connection may exist once, where several nodes run it: its calls go to the node that has the
 * connection; the node that has it says so, and makes the calls of the others.
 */
import type { Route } from "../../domain/message.ts";
import type {
  CarriedOutbound,
  ChannelOutbound,
  Lease,
  Outlets,
  ServedOutlet,
} from "../../domain/ports/index.ts";
import type { LeaseFollower } from "./lease-follower.ts";

export interface CarriedAccount {
  /** Its calls, made by whichever node has the connection; null: they are not carried. */
  outbound(calls: ChannelOutbound): CarriedOutbound | null;
  /** Called whenever the state of the connection here may have changed. */
  follow(lease: LeaseFollower | null, isLive: boolean, calls: ChannelOutbound | null): void;
  /** Makes no more calls of others; resolves when those under way have ended. */
  stop(): Promise<void>;
}

export interface CarriedAccountPorts {
  readonly channel: string;
  readonly account: string;
  readonly outlets: Outlets | undefined;
  readonly typingIntervalMs: number;
  /** Who the account is on its platform; empty: it is not known. */
  readonly author: () => string;
  readonly refreshMembers: (route: Route) => void;
}

export function createCarriedAccount(ports: CarriedAccountPorts): CarriedAccount {
  const { channel, account, outlets, typingIntervalMs, refreshMembers } = ports;
  let carried: { readonly calls: ChannelOutbound; readonly outbound: CarriedOutbound } | null =
    null;
  let served: { readonly lease: Lease; readonly outlet: ServedOutlet } | null = null;
  /** The calls of the last one that served. */
  let ending: Promise<void> = Promise.resolve();
  /** What is to serve when those have ended. */
  let next: { readonly lease: Lease; readonly calls: ChannelOutbound } | null = null;

  function stop(): Promise<void> {
    next = null;
    if (served !== null) ending = served.outlet.stop();
    served = null;
    return ending;
  }

  /** One after the other: two with one lease would take each other's calls. */
  async function serve(wanted: NonNullable<typeof next>, by: Outlets): Promise<void> {
    next = wanted;
    await ending;
    if (next !== wanted) return;
    next = null;
    const { lease, calls } = wanted;
    const outlet = by.serve({
      channel,
      account,
      lease,
      outbound: calls,
      typingIntervalMs,
      refreshMembers,
    });
    served = { lease, outlet };
  }

  return {
    outbound(calls) {
      if (outlets === undefined) return null;
      if (carried?.calls !== calls)
        carried = { calls, outbound: outlets.outbound(channel, account, calls) };
      return carried.outbound;
    },
    follow(follower, isLive, calls) {
      const lease = isLive ? (follower?.held() ?? null) : null;
      follower?.live(lease === null ? null : ports.author());
      const current = (served ?? next)?.lease ?? null;
      if (current === lease) return;
      void stop();
      if (lease !== null && calls !== null && outlets !== undefined)
        void serve({ lease, calls }, outlets);
    },
    stop,
  };
}
