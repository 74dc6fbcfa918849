/**
 * What is known after a time away: with the ids of current versions of signal-cli, without them, and by
 * its receive mode (signal-cli-jsonrpc(5), /api/v1/events).
 */
import { expect, onTestFinished, test } from "vitest";
import { signalChannel } from "../../../../src/adapters/channels/signal/channel.ts";
import { EventParser } from "../../../../src/adapters/channels/signal/events.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import {
  type SignalDaemonOptions,
  startSignalDaemon,
} from "../../../support/signal/signal-daemon.ts";

async function opened(options: SignalDaemonOptions & { readonly receiveMode?: string } = {}) {
  const { receiveMode, ...of } = options;
  const daemon = await startSignalDaemon(of);
  onTestFinished(() => daemon.down());
  const { rooms } = daemon;
  const ann = rooms.person("Ann");
  const group = rooms.group("kitchen", [ann]);
  const config = {
    account: rooms.account,
    url: daemon.url,
    ...(receiveMode !== undefined && { receiveMode }),
  };
  const open = (cursors?: Map<string, string>) => {
    const channel = openChannel(signalChannel as ChannelDefinition, config, cursors);
    onTestFinished(() => channel.stop());
    return channel;
  };
  const say = (message: string) => `${ann.uuid}:${rooms.say(ann, group, { message })}`;
  return { daemon, say, open };
}

test("with ids nothing is missing, and nothing is reported", async () => {
  const { daemon, say, open } = await opened();
  const channel = open();
  await channel.live();
  const ids = [say("one")];
  await channel.message(ids[0] as string);
  await daemon.down();
  ids.push(say("two"), say("three"));
  await daemon.up();
  await channel.message(ids[2] as string);
  expect(channel.messages().map(({ id }) => id)).toEqual(ids);
  expect(channel.gaps).toEqual([]);
  expect(daemon.connects.at(-1)?.["last-event-id"]).toMatch(/^\d+-1$/);
});

test("an account that has heard nothing yet asks for all that is kept", async () => {
  const { say, open } = await opened();
  const first = open();
  await first.live();
  await expect.poll(() => first.cursors.size).toBe(1);
  await first.stop();
  const id = say("while nobody listened");
  const second = open(first.cursors);
  await second.message(id);
  expect(second.gaps).toEqual([]);
});

test("a daemon that was started again has other ids: all that it keeps is taken", async () => {
  const { daemon, say, open } = await opened();
  const channel = open();
  await channel.live();
  await channel.message(say("before"));
  await daemon.down();
  daemon.restart();
  const id = say("after its start");
  await daemon.up();
  await channel.message(id);
  expect(channel.gaps).toEqual([]);
});

test("without ids the time away is reported once, with its span", async () => {
  const { daemon, say, open } = await opened({ hasIds: false });
  const channel = open();
  await channel.live();
  await channel.message(say("before"));
  const from = Date.now();
  await daemon.down();
  await channel.state("backing-off");
  say("lost");
  await daemon.up();
  await channel.live();
  await channel.message(say("after"));
  expect(channel.messages().map(({ text }) => text)).toEqual(["before", "after"]);
  expect(channel.gaps).toHaveLength(1);
  const [gap] = channel.gaps;
  expect(gap).toMatchObject({ rooms: [], lost: "messages" });
  expect(gap?.from).toBeLessThanOrEqual(Date.now());
  expect(gap?.to).toBeGreaterThanOrEqual(from);
  expect(gap?.from).toBeLessThan(gap?.to ?? 0);
});

test("a run after a run without ids reports what lies between", async () => {
  const { say, open } = await opened({ hasIds: false });
  const first = open();
  await first.live();
  await first.message(say("before"));
  await first.stop();
  say("lost");
  const second = open(first.cursors);
  await second.live();
  await expect.poll(() => second.gaps.length).toBe(1);
  await second.message(say("after"));
  expect(second.gaps).toHaveLength(1);
});

test("with on-connection messages wait at Signal: no gap", async () => {
  const { daemon, say, open } = await opened({ hasIds: false, receiveMode: "on-connection" });
  const channel = open();
  await channel.live();
  await channel.message(say("before"));
  daemon.cut();
  await channel.state("backing-off");
  await channel.live();
  await channel.message(say("after"));
  expect(channel.gaps).toEqual([]);
});

test("more than the daemon keeps is a gap", async () => {
  const { daemon, say, open } = await opened();
  const channel = open();
  await channel.live();
  await channel.message(say("before"));
  await daemon.down();
  let last = "";
  for (let n = 0; n < 1_010; n += 1) last = say(`line ${n}`);
  await daemon.up();
  await channel.message(last);
  expect(channel.messages()).toHaveLength(1_001);
  expect(channel.gaps).toMatchObject([{ lost: "messages", rooms: [] }]);
});

test("a message that could not be decrypted is named in the log, without its words", async () => {
  const { daemon, say, open } = await opened();
  const channel = open();
  await channel.live();
  daemon.receive({
    exception: { message: "canary", type: "UntrustedIdentityException" },
    envelope: { timestamp: 5, sourceNumber: null, sourceUuid: null },
  });
  await channel.message(say("still here"));
  expect(channel.logs).toEqual([
    {
      level: "warn",
      event: "signal.message-unreadable",
      fields: { why: "UntrustedIdentityException" },
    },
  ]);
});

test("the stream is read whatever its pieces are", () => {
  const text = 'id: 7-1\r\nevent:receive\ndata:{"a":"é😀"}\n\n:\n\ndata: x\ndata: y\n\n';
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < bytes.length; at += size)
      events.push(...parser.push(bytes.subarray(at, at + size)));
    expect(events).toEqual([
      { id: "7-1", data: '{"a":"é😀"}' },
      { id: null, data: "x\ny" },
    ]);
  }
});

test("an event in more lines than one may be long is skipped, and kept by nobody", () => {
  const parser = new EventParser(1_000);
  for (let line = 0; line < 50; line += 1)
    expect(parser.push(Buffer.from(`data: ${"x".repeat(100)}\n`))).toEqual([]);
  const later = "\ndata: next\n\n";
  expect(parser.push(Buffer.from(later))).toEqual([{ id: null, data: "next" }]);
  // Empty lines are lines, too.
  for (let line = 0; line < 50; line += 1)
    expect(parser.push(Buffer.from("data:\n".repeat(100)))).toEqual([]);
  expect(parser.push(Buffer.from(later))).toEqual([{ id: null, data: "next" }]);
});
