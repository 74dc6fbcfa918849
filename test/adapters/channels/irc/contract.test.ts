/** IRC keeps the channel contract, on a real inspircd with atheme's services, logged in by SASL. */
import { afterAll, beforeAll, describe } from "vitest";
import { ircChannel } from "../../../../src/adapters/channels/irc/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import {
  type IrcPeople,
  ircPeople,
  ircWorld,
  registerAccount,
} from "../../../support/irc/irc-rig.ts";
import { type Ircd, missingPackages, startInspircd } from "../../../support/irc/ircd.ts";

const missing = missingPackages("inspircd", "atheme-services");

describe.skipIf(missing !== "")(`IRC (apt-get install ${missing || "done"})`, () => {
  let server: Ircd;
  let people: IrcPeople;
  beforeAll(async () => {
    server = await startInspircd({ services: true });
    await registerAccount(server, "scout");
    people = await ircPeople(server);
  });
  afterAll(async () => {
    await people.close();
    await server.stop();
  });

  channelContract({
    name: "irc",
    definition: ircChannel as ChannelDefinition,
    world: () => ircWorld(server, "scout", people),
    can: ["split", "echo", "refuseNext", "loseAnswer", "line", "redeliver", "garbage", "revoke"],
  });
});
