/**
 * The receiver of @statelyai/inspect itself at a real daemon with real worker threads: it reads what
 * it is sent, and what it reads is the conversation as it is.
 */
import { createWebSocketReceiver, type StatelyInspectionEvent } from "@statelyai/inspect";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { createMachine } from "xstate";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { soon } from "../../support/daemon/inspect-socket.ts";
import { call, roomKey, say, writeRoomConfig } from "../../support/daemon/room-daemon.ts";
import { inTurn, rounds } from "../../support/rounds.ts";
import { sampleToken, startTelegramServer } from "../../support/servers/telegram.ts";

const canary = "xylophone-canary";
let daemon: Daemon | null = null;
afterEach(async () => {
  await daemon?.stop({ drainMs: 0 });
  daemon = null;
});

async function start(workers: number): Promise<Daemon> {
  const stateDir = newFolder();
  const spoken = [{ tool: "look", input: { for: canary } }, { text: `An answer with ${canary}.` }];
  writeRoomConfig(stateDir, [
    { steps: spoken },
    { steps: [{ error: `failed over ${canary}` }] },
    { steps: spoken },
  ]);
  daemon = await startDaemon({ stateDir, port: 0, workers, logLevel: "fatal", env: {} });
  return daemon;
}

/** What concerns conversations. */
async function receiver(at: Daemon, wish: object = {}): Promise<StatelyInspectionEvent[]> {
  const seen: StatelyInspectionEvent[] = [];
  await receive(at, wish, (event) => {
    if (/^\d/.test(event.sessionId)) seen.push(event);
  });
  return seen;
}

/** The same, once it is there: it is shown the connections of the daemon first. */
async function attached(at: Daemon, wish: object = {}): Promise<StatelyInspectionEvent[]> {
  const seen: StatelyInspectionEvent[] = [];
  let isThere = false;
  await receive(at, wish, (event) => {
    isThere = true;
    if (/^\d/.test(event.sessionId)) seen.push(event);
  });
  await soon(() => expect(isThere).toBe(true));
  return seen;
}

/** A receiver as the package makes it: it has nothing but an address. */
async function receive(
  at: Daemon,
  wish: object,
  take: (event: StatelyInspectionEvent) => void,
): Promise<void> {
  const answer = await call(at, "/api/inspect/tickets", wish);
  const { socket } = (await answer.json()) as { socket: string };
  const server = `${at.base.replace("http", "ws")}${socket}`;
  createWebSocketReceiver({ server }).subscribe(take);
}

const actors = (seen: readonly StatelyInspectionEvent[]) =>
  seen.flatMap((one) => (one.type === "@xstate.actor" ? [one] : []));
const states = (seen: readonly StatelyInspectionEvent[]) =>
  seen.flatMap((one) => (one.type === "@xstate.snapshot" ? [one] : []));
const events = (seen: readonly StatelyInspectionEvent[]) =>
  seen.flatMap((one) => (one.type === "@xstate.event" ? [one.event.type] : []));

describe("rooms of worker threads", () => {
  test.each(inTurn([1, 2], 0))(
    "it sees the room come to life, each event, and each state, and the definition makes the same chart again, workers %i",
    async (workers) => {
      const at = await start(workers);
      const seen = await receiver(at);
      await say(at, "1", "ann", "scout, are you there?", { mentions: ["scout"] });
      await soon(() => expect(events(seen)).toContain("delivery.sent"));
      const [actor] = actors(seen);
      expect(actor).toMatchObject({ name: roomKey, snapshot: { status: "active" } });
      expect(actor?.sessionId).toMatch(/^\d+\.\d+\/x:\d+$/);
      expect(events(seen).slice(0, 1)).toEqual(["message.received"]);
      await soon(() => {
        expect(JSON.stringify(states(seen).at(-1)?.snapshot)).toContain('"attention":"observing"');
      });
      const attentions = states(seen).map(({ snapshot }) => JSON.stringify(snapshot));
      expect(attentions.some((one) => one.includes('"engaged":"running"'))).toBe(true);
      for (const { sessionId, rootId } of seen)
        expect([sessionId, rootId]).toEqual([actor?.sessionId, actor?.sessionId]);
      chartIsTheSame(seen);
    },
  );

  test.each(inTurn([1, 2], 1))(
    "rooms of different threads have different ids, workers %i",
    async (workers) => {
      const at = await start(workers);
      const seen = await receiver(at);
      const rooms = Array.from({ length: 6 }, (_, n) => ({
        channel: "webhook",
        id: `m${n}`,
        author: { id: "ann" },
        text: "hm",
        chat: { id: `room${n}`, kind: "group" },
        mentions: [{ id: "zoe" }],
      }));
      await call(at, "/api/inbound?wait=decision", rooms);
      await soon(() => expect(actors(seen)).toHaveLength(6));
      expect(new Set(actors(seen).map(({ sessionId }) => sessionId)).size).toBe(6);
      const hosts = new Set(actors(seen).map(({ sessionId }) => sessionId.split(".")[0]));
      expect(hosts.size).toBe(workers);
    },
  );

  test.each(inTurn([1, 2], 2))(
    "when its thread ends, the actor is shown as stopped with the reason, and lives again, workers %i",
    async (workers) => {
      const at = await start(workers);
      const seen = await receiver(at, { key: roomKey });
      await say(at, "1", "ann", "hm", { mentions: ["bo"] });
      await soon(() => expect(actors(seen)).toHaveLength(1));
      const [first] = actors(seen);
      await at.runtime.crashHost();
      await soon(() => {
        const last = states(seen)
          .filter(({ sessionId }) => sessionId === first?.sessionId)
          .at(-1);
        expect(last?.snapshot).toMatchObject({
          status: "stopped",
          value: { attention: "observing" },
        });
        expect(last?.event).toMatchObject({ type: "xstate.stop", reason: expect.any(String) });
      });
      await say(at, "2", "bo", "mhm", { mentions: ["ann"] });
      await soon(() => expect(actors(seen)).toHaveLength(2));
      expect(actors(seen)[1]?.sessionId).not.toBe(first?.sessionId);
    },
  );

  test.each(inTurn([1, 2], 2))(
    "who comes late is told of the room as it is, before anything else, workers %i",
    async (workers) => {
      const at = await start(workers);
      await say(at, "1", "ann", "hm", { mentions: ["bo"] });
      const seen = await receiver(at, { key: roomKey });
      await soon(() => expect(seen).toHaveLength(1));
      expect(seen[0]).toMatchObject({
        type: "@xstate.actor",
        name: roomKey,
        snapshot: { value: { attention: "observing" }, context: { buffer: { dropped: 0 } } },
      });
      await say(at, "2", "bo", "mhm", { mentions: ["ann"] });
      await soon(() => expect(events(seen)).toEqual(["message.received"]));
    },
  );
});

describe("deliveries, hosts and connections", () => {
  const machines = (seen: readonly StatelyInspectionEvent[], kind: string) =>
    seen.filter(({ sessionId }) => sessionId.startsWith(`${kind}/`));
  const path = (seen: readonly StatelyInspectionEvent[]) =>
    states(seen).map(({ event, snapshot }) => {
      return `${event.type} ${JSON.stringify((snapshot as { value?: unknown }).value)}`;
    });

  test("have names that tell which they are, their own charts, and their steps; a reader of one conversation is shown its deliveries and no others", async () => {
    const at = await start(1);
    const seen: StatelyInspectionEvent[] = [];
    const mine: StatelyInspectionEvent[] = [];
    const other: StatelyInspectionEvent[] = [];
    await receive(at, { key: roomKey }, (event) => void mine.push(event));
    await receive(at, { key: "agent:main:webhook:group:attic" }, (event) => void other.push(event));
    await receive(at, {}, (event) => void seen.push(event));
    await soon(() => {
      const names = actors(seen).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["host 0", "connection webhook/default"]));
    });
    await say(at, "1", "ann", "scout?", { mentions: ["scout"] });
    await soon(() => expect(path(machines(seen, "delivery"))).toContain('confirm "sent"'));
    const delivery = actors(machines(seen, "delivery"))[0];
    expect(delivery?.name).toMatch(/^delivery \S+:0$/);
    const own = machines(seen, "delivery").filter((one) => one.sessionId === delivery?.sessionId);
    expect(path(own)).toEqual(['send "sending"', 'confirm "sent"']);
    await soon(() => expect(path(machines(mine, "delivery"))).toContain('confirm "sent"'));
    expect(actors(mine).map(({ name }) => name.split(" ")[0])).not.toContain("host");
    expect(other).toEqual([]);
    await at.runtime.crashHost();
    await soon(() => {
      expect(path(machines(seen, "host"))).toEqual(
        expect.arrayContaining(['lost "restarting"', 'answered "ready"']),
      );
    });
    for (const [kind, of] of [
      ["delivery", delivery],
      ["host", actors(machines(seen, "host"))[0]],
    ] as const)
      expect(createMachine(JSON.parse(of?.definition ?? "{}")).id).toBe(kind);
    expect(JSON.stringify(seen)).not.toContain(canary);
  });

  test("a connection that is lost and taken up again is shown with its chart", async () => {
    const server = await startTelegramServer();
    onTestFinished(() => server.close());
    const stateDir = newFolder();
    const account = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 1 };
    writeRoomConfig(stateDir, [], { channels: { telegram: { accounts: { default: account } } } });
    daemon = await startDaemon({ stateDir, port: 0, workers: 0, logLevel: "fatal", env: {} });
    const seen: StatelyInspectionEvent[] = [];
    await receive(daemon, {}, (event) => void seen.push(event));
    const own = () => seen.filter(({ sessionId }) => sessionId === "connection/telegram/default");
    await soon(() => expect(actors(own())).toHaveLength(1));
    const [connection] = actors(own());
    expect(connection?.name).toBe("connection telegram/default");
    const again = createMachine(JSON.parse(connection?.definition ?? "{}"));
    expect(again.id).toBe("connection");
    await server.down();
    await soon(() => expect(path(own())).toContain('connection.backing-off "backing-off"'));
    await server.up();
    await soon(() => expect(path(own()).at(-1)).toBe('connection.live "live"'));
    for (const { snapshot } of states(own())) {
      const { value } = snapshot as { value?: unknown };
      expect(() =>
        again.resolveState({ value: value as never, context: {} as never }),
      ).not.toThrow();
    }
  });
});

/** The definition makes the same chart again. */
function chartIsTheSame(seen: readonly StatelyInspectionEvent[]): void {
  const again = createMachine(JSON.parse(actors(seen)[0]?.definition ?? "{}"));
  expect(again.id).toBe("conversation");
  const values = states(seen).map(({ snapshot }) => (snapshot as { value?: unknown }).value);
  expect(new Set(values.map((value) => JSON.stringify(value))).size).toBeGreaterThan(2);
  for (const value of values)
    expect(() => again.resolveState({ value: value as never, context: {} as never })).not.toThrow();
}

describe("the words of a room", () => {
  /** What a plain receiver has seen of a talk, and one that asked for words. */
  async function talk(): Promise<readonly (readonly StatelyInspectionEvent[])[]> {
    const at = await start(rounds(0, 1));
    const seen = await attached(at);
    const words = await attached(at, { words: true });
    await say(at, "1", "ann", `scout, ${canary}?`, { mentions: ["scout"] });
    await soon(() => expect(events(seen)).toContain("delivery.sent"));
    await say(at, "2", "bo", `scout, again: ${canary}`, { mentions: ["scout"] });
    await soon(() => expect(events(seen)).toContain("agent.failed"));
    await say(at, "3", "cy", `overheard ${canary}`, { mentions: ["bo"] });
    for (const of of [seen, words])
      await soon(() =>
        expect(events(of).filter((type) => type === "message.received")).toHaveLength(3),
      );
    return [seen, words];
  }

  test("are in no frame, not in events, states, orders to agents, answers or errors, unless the holder of the token asks for words", async () => {
    const [seen = [], words = []] = await talk();
    expect(JSON.stringify(seen)).not.toContain(canary);
    expect(events(seen)).toEqual(expect.arrayContaining(["agent.text", "agent.tool"]));
    const spoken = (type: string) =>
      JSON.stringify(words.filter((one) => "event" in one && one.event.type === type));
    for (const type of ["message.received", "agent.text", "agent.tool", "agent.failed"])
      expect(spoken(type)).toContain(canary);
  });
});
