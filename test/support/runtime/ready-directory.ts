/** A platform side that is always there: everything goes out through one function. */
import type { OutboundDirectory } from "../../../src/actors/protocol/runtime.ts";
import type { ChannelOutbound } from "../../../src/domain/ports/index.ts";

export function readyDirectory(
  send: ChannelOutbound["sendText"],
  membership: OutboundDirectory["membership"] = () => null,
): OutboundDirectory {
  return {
    hasAccount: () => true,
    outbound: () => ({ sendText: send, replyText: send }),
    ready: () => true,
    textLimit: () => 4_096,
    typingIntervalMs: () => 5_000,
    isLocal: () => false,
    refreshMembership: () => undefined,
    membership,
  };
}
