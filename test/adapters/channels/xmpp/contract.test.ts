/** XMPP keeps the channel contract, on a real prosody with an archive. */
import { afterAll, beforeAll, describe } from "vitest";
import { xmppChannel } from "../../../../src/adapters/channels/xmpp/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { missingProsody, type Prosody } from "../../../support/xmpp/prosody.ts";
import { startPeople, type XmppPeople, xmppWorld } from "../../../support/xmpp/xmpp-rig.ts";

describe.skipIf(missingProsody !== "")(`XMPP (apt-get install ${missingProsody || "done"})`, () => {
  let server: Prosody;
  let people: XmppPeople;
  beforeAll(async () => {
    ({ server, people } = await startPeople());
  });
  afterAll(() => people.close());

  channelContract({
    name: "xmpp",
    definition: xmppChannel as ChannelDefinition,
    world: () => xmppWorld(server, people),
    // XMPP has no such limit; servers have one for a stanza: prosody's is 256 KiB.
    longest: 60_000,
    can: [
      ...(["pings", "limitNext"] as const),
      ...(["split", "echo", "edit", "react", "reactions", "refuseNext", "loseAnswer"] as const),
      ...(["line", "redeliver", "garbage", "revoke"] as const),
    ],
  });
});
