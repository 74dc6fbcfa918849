/**
 * Back in its rooms after a broken line: no room counts as heard before it was entered and its history
 * was read, however the server answers and however often the line breaks meanwhile.
 */
import { describe, expect, type TestContext, test } from "vitest";
import { ircChannel } from "../../../../src/adapters/channels/irc/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { type OpenedChannel, openChannel } from "../../../../src/testing/open-channel.ts";
import { HistoryServer } from "../../../support/irc/history-server.ts";

async function rig({ onTestFinished }: TestContext) {
  const server = new HistoryServer();
  const port = await server.start();
  const config = { host: "127.0.0.1", port, tls: false, nick: "scout", join: ["#room"] };
  const cursors = new Map<string, string>();
  const open = async () => {
    const channel = openChannel(ircChannel as ChannelDefinition, config, cursors);
    onTestFinished(() => channel.stop());
    return channel;
  };
  const channel = await open();
  onTestFinished(() => server.stop());
  await channel.live();
  const before = server.say("ann", "before");
  await channel.message(before);
  return { server, channel, before, open };
}
const isOut = (channel: OpenedChannel, { expect }: TestContext) =>
  expect
    .poll(() => channel.states.at(-1)?.detail, { timeout: 20_000 })
    .toContain("not in #room (471 Cannot join channel (+l))");

describe.concurrent("a room after a broken line", () => {
  test("an answer that comes after that to the lines behind it is waited for", async (context) => {
    const { server, channel, before } = await rig(context);
    server.drop();
    const missed = server.say("ann", "missed");
    server.joins = "late";
    await channel.state("backing-off");
    await channel.live();
    await channel.message(missed);
    expect(server.joined).toBe(2);
    expect(channel.states.at(-1)).toEqual({ state: "live" });
    expect(channel.identities()).toEqual([before, missed]);
    expect(channel.gaps).toEqual([]);
  });

  test.for(["refused", "refused late"] as const)(
    "%s: what was said until it is let in is read then",
    async (how, context) => {
      const { server, channel, before } = await rig(context);
      server.drop();
      const missed = server.say("ann", "missed");
      server.joins = how;
      await isOut(channel, context);
      const meanwhile = server.say("ann", "meanwhile", Date.now());
      server.joins = "let in";
      await channel.message(meanwhile);
      expect(channel.identities()).toEqual([before, missed, meanwhile]);
      expect(channel.gaps).toEqual([]);
    },
  );

  test("a line that breaks while a room is still closed, and a new run: nothing of it is forgotten", async (context) => {
    const { server, channel, before, open } = await rig(context);
    server.drop();
    const missed = server.say("ann", "missed");
    server.joins = "refused";
    await isOut(channel, context);
    server.drop();
    await channel.stop();
    const next = await open();
    await isOut(next, context);
    server.joins = "let in";
    await next.message(missed);
    expect(channel.identities()).toEqual([before]);
    expect(next.gaps).toEqual([]);
  });

  test("a line that breaks while the history is read: it is read from the same place", async (context) => {
    const { server, channel, before } = await rig(context);
    server.drop();
    const missed = server.say("ann", "missed");
    server.breaksOnce = true;
    await channel.message(missed);
    expect(server.asked.length).toBeGreaterThan(1);
    expect(channel.identities()).toEqual([before, missed]);
    expect(channel.gaps).toEqual([]);
  });

  test("a bouncer that brings us in by itself: what it says first is heard, once and in order", async (context) => {
    const { server, channel, before } = await rig(context);
    server.drop();
    const missed = server.say("ann", "missed");
    server.bringsIn = true;
    await channel.state("backing-off");
    await channel.live();
    const after = server.say("ann", "after");
    await channel.message(after);
    expect(channel.identities()).toEqual([before, missed, after]);
    expect(channel.states.at(-1)).toEqual({ state: "live" });
  });
});
