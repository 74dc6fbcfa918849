/**
 * An account that ends here and begins elsewhere, in order or not: what was said around that moment is heard by the
 * one or the other. Each test is a moment at which it was lost, with no gap reported.
 */
import { expect, type TestContext, test } from "vitest";
import { ircChannel } from "../../../../src/adapters/channels/irc/channel.ts";
import { EarshotError } from "../../../../src/domain/errors.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { HistoryServer } from "../../../support/irc/history-server.ts";

/** One that dies once so many deliveries are stored. */
const dying = (deliveries: number): ChannelDefinition => {
  const channel = ircChannel as ChannelDefinition;
  let left = deliveries;
  return {
    ...channel,
    open: (context) =>
      channel.open({
        ...context,
        async deliver(events, cursor) {
          left -= 1;
          if (left < 0) throw new EarshotError("EAR_STORE_FAILED", "Cannot store: it is dead");
          await context.deliver(events, cursor);
        },
      }),
  };
};

async function rig({ onTestFinished }: TestContext) {
  const server = new HistoryServer();
  const port = await server.start();
  onTestFinished(() => server.stop());
  const config = { host: "127.0.0.1", port, tls: false, nick: "scout", join: ["#room"] };
  const cursors = new Map<string, string>();
  const open = async (definition = ircChannel as ChannelDefinition) => {
    const channel = openChannel(definition, config, cursors);
    onTestFinished(() => channel.stop());
    await channel.live();
    return channel;
  };
  return { server, open };
}

test("a line that waited on its way to us does not hide those behind it", async (context) => {
  const { server, open } = await rig(context);
  const channel = await open();
  const read = server.say("ann", "read late", Date.now() - 5_000);
  await channel.message(read);
  server.drop();
  const unread = server.say("ann", "said right behind it", Date.now() - 4_900);
  await channel.stop();
  const next = await open();
  await next.message(unread);
  expect(next.gaps).toEqual([]);
});

test("one that dies while it stores what was said meanwhile leaves the rest of it to the next", async (context) => {
  const { server, open } = await rig(context);
  const channel = await open();
  const before = server.say("ann", "before", Date.now() - 20_000);
  await channel.message(before);
  await channel.stop();
  server.pageMax = 100;
  const missed = Array.from({ length: 80 }, (_, n) =>
    server.say("ann", `missed ${n}`, Date.now() - 10_000 + n),
  );
  const dead = await open(dying(2));
  await dead.stop();
  const next = await open();
  for (const id of missed) if (!dead.identities().includes(id)) await next.message(id);
  expect(dead.identities().length).toBeLessThan(missed.length);
  expect(new Set([...dead.identities(), ...next.identities()])).toEqual(
    new Set([before, ...missed]),
  );
});

test("one that dies before anybody has spoken has listened", async (context) => {
  const { server, open } = await rig(context);
  const dead = await open(dying(1));
  await expect.poll(() => dead.cursors.size, { timeout: 10_000 }).toBe(1);
  server.drop();
  const missed = server.say("ann", "missed");
  await dead.stop();
  const next = await open();
  expect((await next.message(missed)).text).toBe("missed");
});

test("a bot without an account whose next node has another address goes on where it was", async (context) => {
  const { server, open } = await rig(context);
  const channel = await open();
  await channel.message(server.say("ann", "before"));
  await channel.stop();
  const missed = server.say("ann", "missed");
  server.host = "other.test";
  const next = await open();
  await next.message(missed);
  expect(next.gaps).toEqual([]);
});

test("what the server sent before it had read the goodbye is heard", async (context) => {
  const { server, open } = await rig(context);
  const channel = await open();
  server.lastWords = "wait";
  await channel.stop();
  expect(channel.messages().map(({ text }) => text)).toEqual(["wait"]);
});
