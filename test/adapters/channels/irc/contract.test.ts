/**
 * IRC keeps the channel contract: on a real inspircd with atheme's services, logged in by SASL, and on
 * a real ngircd, which has neither ids nor a history nor accounts.
 */
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
import { plainWorld, startPlain } from "../../../support/irc/plain-world.ts";

/** A line has 512 bytes (RFC 2812, section 2.3), with the name, user and host that the server puts before it. */
const longest = 430;

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
    longest,
    world: () => ircWorld(server, "scout", people),
    can: ["split", "echo", "refuseNext", "loseAnswer", "line", "redeliver", "garbage", "revoke"],
  });
});

const plain = missingPackages("ngircd");

describe.skipIf(plain !== "")(`IRC without IRCv3 (apt-get install ${plain || "done"})`, () => {
  let server: Ircd;
  beforeAll(async () => {
    server = await startPlain();
  });
  afterAll(() => server.stop());

  channelContract({
    name: "irc on ngircd",
    definition: ircChannel as ChannelDefinition,
    longest,
    world: () => plainWorld(server),
    can: ["split", "refuseNext", "loseAnswer", "garbage", "revoke"],
  });
});
