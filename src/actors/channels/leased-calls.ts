/**
 * What a node may not do with an account whose connection another node has: each call of the platform, and each
 * delivery of what the platform sent, looks at the lease right before.
 */
import { EarshotError } from "../../domain/errors.ts";
import type { ChannelContext, ChannelOutbound } from "../../domain/ports/index.ts";

/** Nothing was done: the node that has the lease does it. */
const notHeld = () =>
  new EarshotError("EAR_LEASE_LOST", "Cannot use the account: another node may have it");

/**
 * The same calls; each rejects with EAR_LEASE_LOST, and calls nothing, while `isHeld` is false.
 * @param underWay gets each call until it has ended
 */
export function leasedOutbound(
  outbound: ChannelOutbound,
  isHeld: () => boolean,
  underWay: Set<Promise<unknown>>,
): ChannelOutbound {
  const follow = (call: Promise<unknown>) => {
    const ended: Promise<unknown> = call
      .catch(() => undefined)
      .finally(() => {
        underWay.delete(ended);
      });
    underWay.add(ended);
    return call;
  };
  const guarded = new Map<unknown, unknown>();
  return new Proxy(outbound, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (!guarded.has(value))
        guarded.set(value, (...args: readonly unknown[]) =>
          isHeld() ? follow(Reflect.apply(value, target, args)) : Promise.reject(notHeld()),
        );
      return guarded.get(value);
    },
  });
}

/** The same delivery; rejects with EAR_LEASE_LOST while `isHeld` is false, so the platform keeps the events. */
export function leasedDelivery(
  deliver: ChannelContext<unknown>["deliver"],
  isHeld: () => boolean,
): ChannelContext<unknown>["deliver"] {
  return async (events, cursor) => {
    if (!isHeld()) throw notHeld();
    await deliver(events, cursor);
  };
}
