/**
 * Heartbeats of a conversation that an engine keeps, on a simulated clock: whichever node has it, whether it rests or
 * not, each period wakes its agent once.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeEvent } from "../../../src/actors/protocol/event-codec.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { createScriptedDriver } from "../../../src/adapters/agents/scripted/driver.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { property } from "../../support/property.ts";
import { called } from "../../support/restate/offers.ts";
import { SimulatedEngine } from "../../support/restate/simulated-engine.ts";
import { rounds } from "../../support/rounds.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

const minute = 60_000;
const everyMs = 30 * minute;
const key = groupKey("beats");

function openRoom(own: Record<string, unknown> = { heartbeat: { everyMs } }) {
  const clock = new SimulatedClock(1_700_000_000_000);
  const sent: { readonly id: string; readonly text: string }[] = [];
  let file: string | null = "Look at the build.";
  let ids = 0;
  let turns = 0;
  const driver = createScriptedDriver({
    next: () => {
      turns += 1;
      return { afterMs: 0, steps: [{ text: `It is red (${turns}).` }] };
    },
  }) as AgentDriver;
  let config = scenarioConfig({
    agents: { defaults: { driver: { kind: "scripted" } } },
    conversations: { [key]: own },
  });
  const engine = new SimulatedEngine({
    key,
    clock,
    create: (ports) =>
      createRuntime({
        ...ports,
        ids: { next: () => `id${++ids}` },
        random: { next: () => 0.5 },
        digest: sha256,
        config,
        drivers: new Map([["scripted", driver]]),
        directory: readyDirectory(async ({ id, text }) => {
          sent.push({ id, text });
          return { messageIds: [`p${sent.length}`] };
        }),
        events: createRuntimeEvents(() => undefined),
        workspaces: { folder: (folder) => folder, read: async () => file },
        workers: 0,
        housekeeping: false,
        heartbeats: (one) => one === key,
      }),
  });
  return {
    engine,
    clock,
    sent,
    async speak(id: string) {
      const offered = called("beats", id);
      engine.offer({ ...offered, event: { ...offered.event, at: clock.now() } as never });
      await engine.pass(minute);
    },
    write(text: string | null) {
      file = text;
    },
    configure(more: Record<string, unknown>) {
      config = scenarioConfig({
        agents: { defaults: { driver: { kind: "scripted" } } },
        conversations: { [key]: more },
      });
    },
    /** What was sent more than once, and is not marked in doubt. */
    async sentAgain(): Promise<readonly string[]> {
      const store = engine.store();
      const rows = await store.outboxByState(["sent", "in-doubt"], 1_000);
      await store.close();
      const doubted = new Set(rows.flatMap(({ id, doubts }) => (doubts > 0 ? [id] : [])));
      const ids = sent.map(({ id }) => id);
      return ids.filter((id, place) => ids.indexOf(id) < place && !doubted.has(id));
    },
    /** When the stored heartbeats were due. */
    async beats(): Promise<readonly number[]> {
      const store = engine.store();
      const events = (await store.scan(0, 10_000)).map(decodeEvent);
      await store.close();
      return events.flatMap(({ type, at }) => (type === "heartbeat.due" ? [at] : []));
    },
  };
}

describe("an agent with a heartbeat, whose conversation an engine keeps", () => {
  test("is woken each period, and the conversation rests in between", async () => {
    const room = openRoom();
    const begin = room.clock.now();
    await room.speak("1");
    expect(room.engine.isActive).toBe(false);
    await room.engine.pass(everyMs - 2 * minute);
    expect(room.engine.activations).toBe(1);
    await room.engine.pass(2 * everyMs);
    expect(await room.beats()).toEqual([begin + everyMs, begin + 2 * everyMs]);
    expect(room.sent.map(({ text }) => text)).toEqual(
      [1, 2, 3].map((turn) => `It is red (${turn}).`),
    );
    expect(room.engine.activations).toBe(3);
    expect(room.engine.isActive).toBe(false);
  });

  test("is not woken where nobody has spoken, nor where its file asks for nothing", async () => {
    const room = openRoom();
    await room.engine.pass(3 * everyMs);
    expect(room.engine.activations).toBe(0);
    room.write("# Nothing");
    await room.speak("1");
    await room.engine.pass(3 * everyMs);
    expect(await room.beats()).toEqual([]);
    room.write("Look at the build.");
    await room.engine.pass(everyMs);
    expect(await room.beats()).toHaveLength(1);
  });

  test("is woken once, soon, when all nodes were down for days", async () => {
    const room = openRoom();
    await room.speak("1");
    room.engine.isUp = false;
    await room.engine.pass(5 * 24 * 60 * minute);
    room.engine.isUp = true;
    const back = room.clock.now();
    await room.engine.pass(everyMs - minute);
    expect(await room.beats()).toEqual([back]);
    await room.engine.pass(minute);
    expect(await room.beats()).toEqual([back, back + everyMs]);
  });

  /** A node has it, then is gone: at once, when it stores for the n-th time, or while it rests. */
  const deaths = fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 2 * everyMs }),
      dieIn: fc.constantFrom(1, 2, 3, 4, 5, 8, Number.POSITIVE_INFINITY),
      downMs: fc.constantFrom(0, 1_000, everyMs / 2, 3 * everyMs),
    }),
    { maxLength: 5 },
  );
  property([deaths], { numRuns: rounds(10, 200) })(
    "is woken once a period whichever nodes die, and right after where none ran when it was due",
    async (story) => {
      const room = openRoom();
      await room.speak("1");
      const downs: { from: number; to: number }[] = [];
      for (const { afterMs, dieIn, downMs } of story) {
        room.engine.dieIn = dieIn;
        await room.engine.pass(afterMs);
        room.engine.dieIn = Number.POSITIVE_INFINITY;
        room.engine.isUp = false;
        await room.engine.kill();
        downs.push({ from: room.clock.now(), to: room.clock.now() + downMs });
        await room.engine.pass(downMs);
        room.engine.isUp = true;
      }
      await room.engine.pass(2 * everyMs);
      const beats = await room.beats();
      expect(beats.length).toBeGreaterThan(1);
      for (const [place, at] of beats.entries()) {
        if (place === 0) continue;
        const due = (beats[place - 1] as number) + everyMs;
        const down = downs.findLast(({ from, to }) => from <= due && due < to);
        expect(at).toBe(down?.to ?? due);
      }
      expect(await room.sentAgain()).toEqual([]);
      const texts = new Set(room.sent.map(({ id }) => id));
      expect(texts.size).toBeLessThanOrEqual(beats.length + 1);
    },
  );

  test("that is given one at rest is woken once its conversation looks at the config again", async () => {
    const room = openRoom({});
    await room.speak("1");
    await room.engine.pass(everyMs);
    expect(await room.beats()).toEqual([]);
    expect(room.engine.isActive).toBe(false);
    room.configure({ heartbeat: { everyMs } });
    room.engine.wake();
    await room.engine.pass(2 * everyMs);
    expect(await room.beats()).toHaveLength(2);
    expect(room.sent).toHaveLength(3);
  });
});
