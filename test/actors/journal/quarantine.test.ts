/**
 * Events in quarantine: listed in the commit that marks them, found again after a restart, retried
 * once, as if they arrived now, and quarantined again after a single further death of a host.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { conversationOf } from "../../../src/actors/protocol/event-codec.ts";
import { quarantinedCode } from "../../../src/actors/protocol/host-protocol.ts";
import type { QuarantinedEvent, Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { recordScenario } from "../../../src/actors/recording/recorder.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { EventWrite, Store } from "../../../src/domain/ports/index.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { builtUrl } from "../../support/built/files.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { systemPorts } from "../../support/runtime/system-ports.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

const key = "agent:main:telegram:group:room";
const place = { channel: "telegram", chat: { id: "room", kind: "group" } } as const;

/** A message to the agent, as the journal has it. */
const asked = (id: string, text: string): ConversationEvent => ({
  type: "message.received",
  at: 1_699_999_000_000,
  seq: 0,
  message: inboundSchema.parse({
    ...place,
    id,
    text,
    author: { id: "ann", name: "Ann" },
    mentions: [{ id: "bot", isSelf: true }],
  }),
  authority: { commandAuthorized: true, owner: false },
  membership: null,
});
const rowOf = (identity: string, body: string, code?: number): EventWrite => ({
  kind: "event",
  at: 0,
  eid: 1,
  identity,
  ...conversationOf(key),
  cfg: 1,
  body,
  messageId: null,
  ...(code === undefined ? {} : { code }),
});

/** A store in which an older version has quarantined an event that can be stepped now. */
async function setAsideBefore(event: ConversationEvent, ...later: EventWrite[]): Promise<Store> {
  const store = createTestStore();
  await (await new World({ store }).start()).runtime.stop();
  const [seq] = await store.commit([rowOf("poison", JSON.stringify(event), quarantinedCode)]);
  const one = { ...conversationOf(key), seq, at: 1, error: "it was a bug", tries: 0 };
  await store.commit([
    { kind: "meta", name: "quarantine", value: JSON.stringify([one]) },
    ...later.map((write, index) => ({ ...write, eid: 10 + index })),
  ]);
  return store;
}

const listed = (world: World): readonly QuarantinedEvent[] => world.runtime.status().quarantined;
const seqOf = (world: World): number => listed(world)[0]?.seq ?? 0;
const answer = { afterMs: 50, steps: [{ text: "here I am" }] };

describe("an event that its conversation cannot be told", () => {
  async function poisoned(body: string): Promise<World> {
    const store = createTestStore();
    await (await new World({ store }).start()).runtime.stop();
    await store.commit([rowOf("poison", body)]);
    const world = await new World({ store }).start();
    await world.runtime.settled();
    return world;
  }
  const headless = JSON.stringify({ type: "message.received", at: 1_699_999_000_000, seq: 0 });

  test("is listed, and its room goes on", async () => {
    const world = await poisoned(headless);
    expect(listed(world)).toMatchObject([{ key, tries: 0, at: world.clock.now() }]);
    world.runs.push(answer);
    await world.say("hello", { mentions: [{ id: "bot", isSelf: true }] });
    await world.pass(5_000);
    expect(world.sent.map(({ text }) => text)).toEqual(["here I am"]);
  });

  test("among several reports of one row is set aside alone, and the others are applied", async () => {
    const ended = { type: "agent.ended", at: 1_699_999_000_000, turnId: "t1", silent: false };
    const events = [ended, JSON.parse(headless), ended];
    const whole = { type: "agent.reported", at: 1_699_999_000_000, turnId: "t1", events };
    const world = await poisoned(JSON.stringify(whole));
    await world.runtime.settled();
    const rows = (await world.store.scan(0, 10)).map(({ body, code }) => [
      JSON.parse(body).type,
      code,
    ]);
    expect(rows).toEqual([
      ["agent.reported", quarantinedCode],
      ["agent.ended", 0],
      ["message.received", quarantinedCode],
      ["agent.ended", 0],
    ]);
    expect(listed(world)).toMatchObject([{ key, seq: 3 }]);
  });

  test("keeps nobody waiting who was to answer after this agent", async () => {
    const next = "agent:other:telegram:group:room";
    const relay = { token: "t1", place: 0, keys: [key, next] };
    const world = await poisoned(JSON.stringify({ ...JSON.parse(headless), relay }));
    const due = await world.store.deadlines();
    expect(due).toMatchObject([{ conv: conversationOf(next).conv }]);
    expect(listed(world)).toHaveLength(1);
  });

  test("is still listed after a restart, with its reason", async () => {
    const world = await poisoned(headless);
    const before = listed(world);
    expect(before[0]?.error).not.toBe("");
    await world.restart();
    expect(listed(world)).toEqual(before);
  });

  test("is set aside again when it is tried again, and says so", async () => {
    const world = await poisoned(headless);
    const first = seqOf(world);
    expect(await world.runtime.retryEvent(first)).toBe("retried");
    await world.runtime.settled();
    expect(listed(world)).toMatchObject([{ key, tries: 1 }]);
    expect(seqOf(world)).toBeGreaterThan(first);
    expect(await world.runtime.retryEvent(seqOf(world))).toBe("retried");
    await world.restart();
    expect(listed(world)).toMatchObject([{ key, tries: 2 }]);
  });

  test("cannot be tried again where its row cannot be read, and can be dropped", async () => {
    const world = await poisoned("no event");
    expect(await world.runtime.retryEvent(seqOf(world))).toBe("unreadable");
    expect(await world.runtime.dropEvent(seqOf(world))).toBe(true);
    expect(await world.runtime.dropEvent(seqOf(world))).toBe(false);
    await world.restart();
    expect(listed(world)).toEqual([]);
  });
});

describe("an event that can be told by now", () => {
  test("is heard when it is tried again, once", async () => {
    const world = await new World({ store: await setAsideBefore(asked("m1", "hello?")) }).start();
    const seq = seqOf(world);
    world.runs.push(answer, answer);
    expect(await world.runtime.retryEvent(seq)).toBe("retried");
    expect(await world.runtime.retryEvent(seq)).toBe("unknown");
    await world.pass(5_000);
    expect(world.decisions()).toMatchObject([{ id: "m1", decision: "engage" }]);
    expect(world.sent.map(({ text }) => text)).toEqual(["here I am"]);
    await world.restart();
    await world.pass(5_000);
    expect(listed(world)).toEqual([]);
    expect(await world.runtime.retryEvent(seq)).toBe("unknown");
    expect(world.sent).toHaveLength(1);
  });

  test("stands in a recording once, as it was heard", async () => {
    const world = await new World({ store: await setAsideBefore(asked("m1", "hello?")) }).start();
    world.runs.push(answer);
    await world.runtime.retryEvent(seqOf(world));
    await world.pass(5_000);
    const heard: unknown[] = [];
    for await (const line of recordScenario(world.store, { since: 0 }))
      if ("in" in line) heard.push(line.in.id);
    expect(heard).toEqual(["m1"]);
  });

  test.each([1, 2, 3])("is heard once although commit %i fails", async (at) => {
    const world = await new World({ store: await setAsideBefore(asked("m1", "hello?")) }).start();
    world.runs.push(answer, answer);
    world.disk.fail({ at });
    const retried = world.runtime.retryEvent(seqOf(world));
    await world.pass(20_000);
    expect(await retried).toBe("retried");
    expect(world.decisions()).toHaveLength(1);
    expect(world.sent.map(({ text }) => text)).toEqual(["here I am"]);
  });

  test("is told in the words it was given since", async () => {
    const edit = { ...place, account: "default", id: "m1", text: "what about now?" };
    const edited = { type: "message.edited", at: 1_699_999_000_001, seq: 0, edit };
    const store = await setAsideBefore(asked("m1", "hi"), rowOf("edit", JSON.stringify(edited), 0));
    const world = await new World({ store, prompts: true }).start();
    world.runs.push(answer);
    await world.runtime.retryEvent(seqOf(world));
    await world.pass(5_000);
    expect(JSON.stringify(world.events("prompt"))).toContain("what about now?");
  });

  test("is not brought back where its author has deleted it", async () => {
    const deletion = { ...place, account: "default", id: "m1" };
    const deleted = { type: "message.deleted", at: 1_699_999_000_001, seq: 0, deletion };
    const gone = rowOf("deletion", JSON.stringify(deleted), 0);
    const world = await new World({ store: await setAsideBefore(asked("m1", "hi"), gone) }).start();
    expect(await world.runtime.retryEvent(seqOf(world))).toBe("deleted");
    await world.pass(5_000);
    expect(world.decisions()).toEqual([]);
    expect(listed(world)).toHaveLength(1);
  });

  test("is told as it was, whatever was done to the same id in another chat of its session", async () => {
    const attic = { ...place, chat: { id: "attic", kind: "group" }, account: "default", id: "m1" };
    const later = { at: 1_699_999_000_001, seq: 0 };
    const edited = { type: "message.edited", ...later, edit: { ...attic, text: "bread?" } };
    const deleted = { type: "message.deleted", ...later, deletion: attic };
    const store = await setAsideBefore(
      asked("m1", "soup?"),
      rowOf("edit", JSON.stringify(edited), 0),
      rowOf("deletion", JSON.stringify(deleted), 0),
    );
    const world = await new World({ store, prompts: true }).start();
    world.runs.push(answer);
    const retried = world.runtime.retryEvent(seqOf(world));
    await world.pass(5_000);
    expect(await retried).toBe("retried");
    expect(JSON.stringify(world.events("prompt"))).toContain("soup?");
  });

  test("an event that was heard is never tried again", async () => {
    const world = await new World().start();
    world.runs.push(answer);
    await world.say("hello", { mentions: [{ id: "bot", isSelf: true }] });
    await world.pass(5_000);
    expect(await world.runtime.retryEvent(1)).toBe("unknown");
    expect(await world.runtime.retryEvent(999)).toBe("unknown");
    expect(world.decisions()).toHaveLength(1);
  });
});

describe("with real threads and a real file", () => {
  const folder = mkdtempSync(join(tmpdir(), "earshot-quarantine-"));
  let store: Store;
  let runtime: Runtime;

  async function start(): Promise<void> {
    store = await openSqliteStore({ path: join(folder, "earshot.db") });
    runtime = createRuntime({
      ...systemPorts(),
      store,
      drivers,
      events: createRuntimeEvents(() => undefined),
      workers: 1,
      config: scenarioConfig({
        agents: { defaults: { driver: { kind: "scripted", runs: [{ steps: [{ text: "ok" }] }] } } },
      }),
      directory: readyDirectory(async () => ({ messageIds: ["p1"] })),
      hostEntry: builtUrl("test/poisoned-host"),
    });
    await runtime.start();
  }
  async function stop(): Promise<void> {
    await runtime.stop();
    await store.close();
  }
  const say = (id: string, text: string) => {
    const message = inboundSchema.parse({ ...place, id, text, author: { id: "ann" } });
    return runtime.ingest("telegram", "default", [{ type: "message", message }]);
  };
  const restarts = () => runtime.status().hosts[0]?.restarts;
  const aside = () => runtime.status().quarantined;

  test("one that kills its host three times gets a single further chance each time", async () => {
    onTestFinished(async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    });
    await start();
    await say("m1", "!exit now");
    await expect.poll(() => aside().length, { timeout: 30_000 }).toBe(1);
    expect(restarts()).toBe(3);
    await stop();
    await start();
    const [first] = aside();
    expect(first).toMatchObject({ key, tries: 0 });
    expect(await runtime.retryEvent(first?.seq ?? 0)).toBe("retried");
    await expect.poll(() => aside()[0]?.tries, { timeout: 30_000 }).toBe(1);
    await expect.poll(restarts).toBe(1);
    await say("m2", "still there?");
    await runtime.settled();
    expect(restarts()).toBe(1);
    const [, , heard] = await store.tail(conversationOf(key).conv, 0);
    expect(heard?.code).toBeGreaterThan(0);
    expect(aside()).toHaveLength(1);
  });
});
