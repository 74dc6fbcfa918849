/** What was said while the account was away, on a server that can be asked for it. */
import { expect, onTestFinished, test } from "vitest";
import { ircChannel } from "../../../../src/adapters/channels/irc/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { HistoryServer } from "../../../support/irc/history-server.ts";

async function rig() {
  const server = new HistoryServer();
  const port = await server.start();
  const config = { host: "127.0.0.1", port, tls: false, nick: "scout", join: ["#room"] };
  const channel = openChannel(ircChannel as ChannelDefinition, config);
  onTestFinished(async () => {
    await channel.stop();
    await server.stop();
  });
  await channel.live();
  return { server, channel };
}

test("all of it is asked for, page by page, and comes once before what is new", async () => {
  const { server, channel } = await rig();
  const before = server.say("ann", "before");
  await channel.message(before);
  server.drop();
  const missed = Array.from({ length: 8 }, (_, n) =>
    server.say("ann", `missed ${n}`, Date.now() + n),
  );
  await channel.state("backing-off");
  await channel.live();
  const after = server.say("ann", "after");
  await channel.message(after);
  expect(channel.identities()).toEqual([before, ...missed, after]);
  expect(server.asked.length).toBeGreaterThan(2);
  expect(channel.gaps).toEqual([]);
});

test("the first time nothing is asked for", async () => {
  const { server } = await rig();
  expect(server.asked).toEqual([]);
});
