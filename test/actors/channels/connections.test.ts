/**
 * Supervised accounts: each fails alone, stops in time, and a reload affects only what changed.
 */

import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createConnections } from "../../../src/actors/channels/connections.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { type EarshotConfig, parseConfig } from "../../../src/domain/config/index.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { inboundSchema, type Route } from "../../../src/domain/message.ts";
import {
  type ChannelAccount,
  type ChannelContext,
  type ChannelDefinition,
  defineChannel,
} from "../../../src/domain/ports/index.ts";
import type { SystemLine } from "../../../src/domain/stream.ts";
import { plainCapabilities } from "../../support/plain-capabilities.ts";

type Account = Partial<ChannelAccount> & Pick<ChannelAccount, "start">;
interface Probe {
  readonly config: { readonly key: string };
  readonly context: ChannelContext<{ key: string }>;
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));

/** A channel that behaves as the test says. */
function channelOf(id: string, behave: (probe: Probe) => Account): ChannelDefinition {
  return defineChannel<{ key: string }>({
    id,
    meta: { name: id, description: id },
    capabilities: {
      ...plainCapabilities,
      membership: true,
      mentions: "unknown",
      replyAuthor: false,
      botFlag: false,
    },
    textLimit: 500,
    typingIntervalMs: 5_000,
    accountSchema: z.strictObject({ key: z.string() }),
    local: false,
    open: (context) => ({
      outbound: {
        sendText: async () => ({ messageIds: ["1"] }),
        replyText: async () => ({ messageIds: ["1"] }),
      },
      ...behave({ config: context.config, context }),
    }),
  }) as ChannelDefinition;
}

const config = (channels: Record<string, Record<string, unknown>>): EarshotConfig =>
  parseConfig({
    channels: Object.fromEntries(
      Object.entries(channels).map(([id, accounts]) => [id, { accounts }]),
    ),
  });

function rig(definitions: readonly ChannelDefinition[], first: EarshotConfig) {
  const clock = new SimulatedClock(1_000_000);
  const advance = (ms: number) => clock.advanceTo(clock.now() + ms);
  const lines: SystemLine[] = [];
  const logs: string[] = [];
  const taken: unknown[] = [];
  const readyOnChange: boolean[] = [];
  const connections = createConnections({
    definitions: new Map(definitions.map((one) => [one.id, one])),
    config: first,
    clock,
    random: { next: () => 0.5 },
    log: (level, event, fields) => void logs.push(`${level} ${event} ${JSON.stringify(fields)}`),
    ingest: async (...args) => void taken.push(args),
    loadCursor: async (_channel, _account, identity) => `cursor of ${identity}`,
    events: createRuntimeEvents(() => undefined, {
      line: (line) => void lines.push(line as SystemLine),
    }),
    onChange: (channel, account) =>
      void readyOnChange.push(connections.directory.ready(channel, account)),
  });
  onTestFinished(() => connections.stop());
  const state = (channel: string, account = "default") =>
    connections.states().find((one) => one.channel === channel && one.account === account)?.state;
  return { advance, readyOnChange, connections, lines, logs, taken, state };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const live = ({ context }: Probe): Account => ({
  async start(signal) {
    context.reportState("live");
    await untilAborted(signal);
  },
});

describe("connections", () => {
  test("a channel is loaded when it gets its first account, and never without one", async () => {
    const loaded: string[] = [];
    const later = (id: string): ChannelDefinition => ({
      ...channelOf(id, live),
      load: async () => void loaded.push(id),
    });
    const accounts = { default: { key: "a" } };
    const { connections, state } = rig([later("one"), later("two"), later("three")], {
      ...config({ one: accounts }),
    });
    await connections.start();
    await settle();
    expect([loaded, state("one")]).toEqual([["one"], "live"]);
    await connections.reload(config({ one: accounts, two: accounts }));
    await settle();
    expect([new Set(loaded), state("two")]).toEqual([new Set(["one", "two"]), "live"]);
  });

  test("an account that is stopped while its channel is loaded is not opened", async () => {
    let finish = (): void => undefined;
    const loading = new Promise<void>((done) => {
      finish = done;
    });
    const slow: ChannelDefinition = { ...channelOf("slow", live), load: () => loading };
    const { connections } = rig([slow], config({ slow: { default: { key: "a" } } }));
    const started = connections.start();
    await connections.stop();
    finish();
    await started;
    expect(connections.states()).toEqual([]);
  });

  test("a refused token halts its own account and no other", async () => {
    const bad = channelOf("bad", () => ({
      start: async () => {
        throw new EarshotError("EAR_CHANNEL_AUTH", "Cannot log in as the token was refused");
      },
    }));
    const { connections, lines, advance, state } = rig(
      [bad, channelOf("good", live)],
      config({ bad: { default: { key: "a" } }, good: { default: { key: "a" } } }),
    );
    await connections.start();
    await settle();
    advance(600_000);
    await settle();
    expect([state("bad"), state("good")]).toEqual(["halted", "live"]);
    expect(connections.directory.ready("good", "default")).toBe(true);
    expect(connections.directory.ready("bad", "default")).toBe(false);
    expect(lines.filter(({ channel }) => channel === "bad")).toMatchObject([
      { system: "connection" },
      { system: "connection", state: "halted" },
    ]);
  });

  test("a gateway that throws or ends by itself is started again after a growing pause", async () => {
    const starts: number[] = [];
    const flaky = channelOf("flaky", ({ context }) => ({
      async start(signal) {
        starts.push(context.clock.now() - 1_000_000);
        if (starts.length === 1) throw new Error("secret-in-a-message");
        if (starts.length === 2) return;
        context.reportState("live");
        await untilAborted(signal);
      },
    }));
    const { connections, advance, logs, state } = rig(
      [flaky],
      config({ flaky: { default: { key: "a" } } }),
    );
    await connections.start();
    await settle();
    expect(state("flaky")).toBe("backing-off");
    for (let step = 0; step < 20; step += 1) {
      advance(1_000);
      await settle();
    }
    expect(state("flaky")).toBe("live");
    expect(starts).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = starts;
    expect(second - first).toBeGreaterThan(0);
    expect(third - second).toBeGreaterThan(second - first);
    expect(logs.join("\n")).not.toContain("secret-in-a-message");
  });

  test("a halted account is opened once more on request, and only then", async () => {
    let opened = 0;
    let refuse = true;
    const strict = channelOf("strict", ({ context }) => {
      opened += 1;
      return {
        async start(signal) {
          if (refuse) throw new EarshotError("EAR_CHANNEL_AUTH", "Cannot log in: token refused");
          context.reportState("live");
          await untilAborted(signal);
        },
      };
    });
    const { connections, advance, lines, state } = rig(
      [strict],
      config({ strict: { default: { key: "a" } } }),
    );
    await connections.start();
    await settle();
    advance(600_000);
    await settle();
    expect([state("strict"), opened]).toEqual(["halted", 1]);
    // Refused again: it says so and stays where it is.
    expect(await connections.retry("strict", "default")).toBe(true);
    await settle();
    expect([state("strict"), opened]).toEqual(["halted", 2]);
    refuse = false;
    const both = [connections.retry("strict", "default"), connections.retry("strict", "default")];
    expect(await Promise.all(both)).toEqual([true, false]);
    await settle();
    expect([state("strict"), opened]).toEqual(["live", 3]);
    expect(connections.directory.ready("strict", "default")).toBe(true);
    expect(lines.map(({ state: reported }) => reported)).toEqual([
      "connecting",
      "halted",
      "connecting",
      "halted",
      "connecting",
      "live",
    ]);
    expect(await connections.retry("strict", "default")).toBe(false);
    expect(await connections.retry("strict", "nobody")).toBe(false);
  });

  test("an account that could not be opened is opened on request once it can be", async () => {
    let broken = true;
    const late = channelOf("late", (probe) => {
      if (broken) throw new Error("its library is missing");
      return live(probe);
    });
    const { connections, state } = rig([late], config({ late: { default: { key: "a" } } }));
    await connections.start();
    await settle();
    expect(state("late")).toBe("halted");
    broken = false;
    expect(await connections.retry("late", "default")).toBe(true);
    await settle();
    expect(state("late")).toBe("live");
    await connections.stop();
    expect(state("late")).toBe(undefined);
  });

  test("a wrong account config halts that account with the path of what is wrong", async () => {
    const { connections, state } = rig(
      [channelOf("good", live)],
      config({ good: { default: { key: "a" }, other: { key: 7 } } }),
    );
    await connections.start();
    await settle();
    expect(state("good", "other")).toBe("halted");
    expect(state("good")).toBe("live");
    expect(connections.states().find(({ account }) => account === "other")?.detail).toContain(
      "key",
    );
  });

  test("a gateway that ignores its signal does not hold up the stop for more than 2 s", async () => {
    const deaf = channelOf("deaf", () => ({ start: () => new Promise<void>(() => {}) }));
    const { connections, advance, logs } = rig([deaf], config({ deaf: { default: { key: "a" } } }));
    await connections.start();
    await settle();
    const stopping = connections.stop();
    await settle();
    advance(2_000);
    await stopping;
    expect(logs.some((line) => line.includes("connection.stop-late"))).toBe(true);
  });

  test("a reload restarts what changed and leaves the rest alone", async () => {
    const opened: string[] = [];
    const counted = channelOf("good", (probe) => {
      opened.push(`${probe.context.accountId}=${probe.config.key}`);
      return live(probe);
    });
    const { connections, state } = rig(
      [counted],
      config({ good: { a: { key: "1" }, b: { key: "1" }, c: { key: "1" } } }),
    );
    await connections.start();
    await settle();
    await connections.reload(
      config({
        good: { a: { key: "1", typing: { mode: "never" } }, b: { key: "2" }, d: { key: "1" } },
      }),
    );
    await settle();
    expect(opened).toEqual(["a=1", "b=1", "c=1", "b=2", "d=1"]);
    expect(["a", "b", "c", "d"].map((account) => state("good", account))).toEqual([
      "live",
      "live",
      undefined,
      "live",
    ]);
  });

  test("two reloads at once open each account once, by the last config", async () => {
    let running = 0;
    const counted = channelOf("good", ({ context }) => ({
      async start(signal) {
        running += 1;
        context.reportState("live");
        await untilAborted(signal);
        await settle();
        running -= 1;
      },
    }));
    const { connections } = rig([counted], config({ good: { a: { key: "1" } } }));
    await connections.start();
    await settle();
    await Promise.all([
      connections.reload(config({ good: { a: { key: "2" } } })),
      connections.reload(config({ good: { a: { key: "3" }, b: { key: "1" } } })),
    ]);
    await settle();
    expect(running).toBe(2);
    expect(connections.states().map(({ account }) => account)).toEqual(["a", "b"]);
    const stopping = connections.stop();
    await Promise.all([stopping, connections.reload(config({ good: { c: { key: "1" } } }))]);
    await settle();
    expect(running).toBe(0);
  });

  test("events and cursors go to the intake under the identity that was loaded", async () => {
    let loaded: string | null = null;
    const message = inboundSchema.parse({
      channel: "good",
      chat: { id: "c", kind: "group" },
      id: "1",
      author: { id: "u" },
    });
    const talking = channelOf("good", ({ context }) => ({
      async start(signal) {
        loaded = await context.loadCursor("bot-7");
        await context.deliver([{ type: "message", message }], "41");
        await untilAborted(signal);
      },
    }));
    const { connections, taken } = rig([talking], config({ good: { default: { key: "a" } } }));
    await connections.start();
    await settle();
    expect(loaded).toBe("cursor of bot-7");
    expect(taken).toEqual([
      [
        "good",
        "default",
        [{ type: "message", message }],
        { cursor: { identity: "bot-7", value: "41" } },
      ],
    ]);
  });

  test("whoever is told that an account is live can send to it", async () => {
    const { connections, readyOnChange } = rig(
      [channelOf("good", live)],
      config({ good: { default: { key: "a" } } }),
    );
    await connections.start();
    await settle();
    expect(readyOnChange.at(-1)).toBe(true);
  });

  test("an account is known as soon as it is configured, open or not", async () => {
    const { connections } = rig(
      [channelOf("good", live)],
      config({ good: { default: { key: "a" }, broken: { key: 7 } }, nowhere: { default: {} } }),
    );
    const { hasAccount } = connections.directory;
    const known = () =>
      ["good default", "good broken", "good other", "nowhere default"].filter((name) => {
        const [channel = "", account = ""] = name.split(" ");
        return hasAccount(channel, account);
      });
    expect(known()).toEqual(["good default", "good broken"]);
    await connections.start();
    await settle();
    expect(known()).toEqual(["good default", "good broken"]);
    await connections.reload(config({ good: { other: { key: "a" } } }));
    expect(known()).toEqual(["good other"]);
  });

  test("what nobody configured has no outbound and a careful limit", () => {
    const { connections } = rig([channelOf("good", live)], config({}));
    const { directory } = connections;
    expect(directory.outbound("good", "default")).toBeNull();
    expect(directory.ready("nowhere", "default")).toBe(false);
    expect(directory.textLimit("good")).toBe(500);
    expect(directory.textLimit("nowhere")).toBe(2_000);
  });
});

describe("member reads", () => {
  const group: Route = {
    channel: "good",
    account: "default",
    chat: { id: "c", kind: "group" },
    thread: null,
  };
  const answer = { humans: 3, bots: 1, truncated: false };

  async function members(read: (route: Route) => Promise<typeof answer>) {
    const asked: Route[] = [];
    const channel = channelOf("good", (probe) => ({
      ...live(probe),
      membership: (route: Route) => {
        asked.push(route);
        return read(route);
      },
    }));
    const kit = rig([channel], config({ good: { default: { key: "a" } } }));
    await kit.connections.start();
    await settle();
    return { ...kit, asked, directory: kit.connections.directory };
  }

  test("the first look finds nothing and warms the cache for the next", async () => {
    const { directory, asked } = await members(async () => answer);
    expect(directory.membership(group)).toBeNull();
    await settle();
    expect(directory.membership(group)).toEqual({ ...answer, fetchedAt: 1_000_000 });
    expect(asked).toHaveLength(1);
  });

  test("the first read of a room is awaited, and is not repeated", async () => {
    const { directory, asked } = await members(async () => answer);
    await directory.firstReads?.("good", "default")?.members?.(group);
    expect(directory.membership(group)).toEqual({ ...answer, fetchedAt: 1_000_000 });
    await directory.firstReads?.("good", "default")?.members?.(group);
    expect(asked).toHaveLength(1);
  });

  test("a first read that fails is awaited all the same", async () => {
    const { directory } = await members(() => Promise.reject(new Error("down")));
    await directory.firstReads?.("good", "default")?.members?.(group);
    expect(directory.membership(group)).toBeNull();
    expect(directory.firstReads?.("good", "other")).toBeNull();
  });

  test("a history is read up to the limit, and one that cannot be read is logged", async () => {
    const said = ["m1", "m2", "m3"].map((id) =>
      inboundSchema.parse({ ...group, id, author: { id: "ann" }, text: id }),
    );
    let read: () => Promise<readonly unknown[]> = async () => said;
    const channel = channelOf("good", (probe) => ({
      ...live(probe),
      history: () => read() as Promise<typeof said>,
    }));
    const kit = rig([channel], config({ good: { default: { key: "a" } } }));
    await kit.connections.start();
    await settle();
    const history = () =>
      kit.connections.directory.firstReads?.("good", "default")?.history?.(group, 2);
    expect((await history())?.map(({ id }) => id)).toEqual(["m2", "m3"]);
    read = async () => [{ id: "no message" }];
    expect(await history()).toBeNull();
    read = () => new Promise(() => undefined);
    const late = history();
    await settle();
    kit.advance(10_000);
    expect(await late).toBeNull();
    expect(kit.logs.filter((event) => event.includes("history.failed"))).toHaveLength(2);
  });

  test("a thread is looked up under its parent", async () => {
    const { directory, asked } = await members(async () => answer);
    directory.membership({ ...group, thread: { id: "t", kind: "topic" } });
    await settle();
    expect(directory.membership(group)).toMatchObject(answer);
    expect(asked).toEqual([group]);
  });

  test("direct chats are never looked up", async () => {
    const { directory, asked } = await members(async () => answer);
    const direct: Route = { ...group, chat: { id: "d", kind: "direct" } };
    directory.refreshMembership(direct);
    expect(directory.membership(direct)).toBeNull();
    await settle();
    expect(asked).toEqual([]);
  });

  test("one read a room is under way, however often it is asked for", async () => {
    let finish = (_: typeof answer) => {};
    const { directory, asked } = await members(() => new Promise((resolve) => (finish = resolve)));
    for (let n = 0; n < 50; n += 1) directory.refreshMembership(group);
    expect(asked).toHaveLength(1);
    finish(answer);
    await settle();
    expect(directory.membership(group)).toMatchObject({ humans: 3 });
  });

  test("a read is kept half an hour, and read again once it is a minute old", async () => {
    let humans = 3;
    const { directory, asked, advance } = await members(async () => ({ ...answer, humans }));
    directory.membership(group);
    await settle();
    advance(59_999);
    expect(directory.membership(group)?.humans).toBe(3);
    expect(asked).toHaveLength(1);
    humans = 4;
    advance(1);
    expect(directory.membership(group)?.humans).toBe(3);
    await settle();
    expect(directory.membership(group)?.humans).toBe(4);
    advance(30 * 60_000);
    expect(directory.membership(group)).toBeNull();
  });

  test("a newcomer turns the read at hand into a hint until the next one is in", async () => {
    let humans = 1;
    const { directory, advance } = await members(async () => ({ ...answer, humans }));
    directory.membership(group);
    await settle();
    advance(5_000);
    humans = 2;
    directory.refreshMembership(group);
    expect(directory.membership(group)).toMatchObject({ humans: 1, truncated: true });
    await settle();
    expect(directory.membership(group)).toMatchObject({ humans: 2, truncated: false });
  });

  test.each([
    ["a hiccup", new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot read"), 30_000],
    ["a refusal", new EarshotError("EAR_CHANNEL_REJECTED", "Cannot read"), 300_000],
  ])("after %s the platform is left alone for a while", async (_what, error, quietMs) => {
    const { directory, asked, advance } = await members(async () => {
      throw error;
    });
    directory.membership(group);
    await settle();
    advance(quietMs - 1);
    directory.refreshMembership(group);
    await settle();
    expect(asked).toHaveLength(1);
    advance(1);
    directory.membership(group);
    await settle();
    expect(asked).toHaveLength(2);
  });

  test("who writes under one of our accounts is known by id, until that account is closed", async () => {
    const named = channelOf("talk", ({ config: { key }, context }) => ({
      async start(signal) {
        await context.loadCursor(key);
        context.reportState("live");
        await untilAborted(signal);
      },
    }));
    const both = { one: { key: "bot-1" }, two: { key: "bot-2" } };
    const { connections } = rig([named, channelOf("other", live)], config({ talk: both }));
    const isOurs = (channel: string, author: string) =>
      connections.directory.isOurs?.(channel, author);
    expect(isOurs("talk", "bot-2")).toBe(false);
    await connections.start();
    await settle();
    expect(["bot-1", "bot-2", "ann"].map((id) => isOurs("talk", id))).toEqual([true, true, false]);
    expect(isOurs("other", "bot-1")).toBe(false);
    await connections.reload(config({ talk: { one: both.one } }));
    await settle();
    expect(["bot-1", "bot-2"].map((id) => isOurs("talk", id))).toEqual([true, false]);
  });
});
