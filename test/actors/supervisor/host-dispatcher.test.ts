/**
 * Traffic with a host that is a small program: batches and window, activations, answers that cannot
 * be trusted, and what is queued again when the host is gone.
 */
import { describe, expect, test } from "vitest";
import { nothingLive } from "../../../src/actors/protocol/conversation-summary.ts";
import type { HostLink } from "../../../src/actors/protocol/host-link.ts";
import {
  alreadySteppedCode,
  type HostBatch,
  type HostEntry,
  type HostResult,
  notLiveCode,
  quarantinedCode,
} from "../../../src/actors/protocol/host-protocol.ts";
import { createSharedHeartbeat } from "../../../src/actors/protocol/shared-heartbeat.ts";
import { HostDispatcher } from "../../../src/actors/supervisor/host-dispatcher.ts";
import { PoisonTracker } from "../../../src/actors/supervisor/poison-tracker.ts";
import type { Answer } from "../../../src/actors/supervisor/result-queue.ts";
import { limits } from "../../../src/domain/limits.ts";
import { configOf } from "../../support/runtime/supervised.ts";

const entry = (conv: number, seq: number): HostEntry => ({
  conv,
  key: `k${conv}`,
  seq,
  cfg: 1,
  event: { type: "host.recovered", at: 0 },
});

const ticks = async (): Promise<void> => {
  for (let n = 0; n < 5; n += 1) await new Promise(setImmediate);
};

function rig() {
  const batches: HostBatch[] = [];
  const waiting = new Map<number, (result: HostResult) => void>();
  const answers: Answer[] = [];
  const breaches: string[] = [];
  const loads: { conv: number; beforeSeq: number; rebuild: boolean }[] = [];
  let loadFails = false;
  const poisonTracker = new PoisonTracker();
  const traffic = new HostDispatcher({
    host: 0,
    poison: poisonTracker,
    load: async (conv, _key, beforeSeq, rebuild) => {
      if (loadFails) throw new Error("the store is away");
      loads.push({ conv, beforeSeq, rebuild });
      return { record: null, recordSeq: 0, tail: [] };
    },
    configFor: (version) => ({ version, config: configOf() }),
    onReply: (answer) => void answers.push(answer),
    onBreach: (reason) => void breaches.push(reason),
    onLoadFailed: () => undefined,
    onRebuild: () => undefined,
    onChange: () => undefined,
  });
  const link = (epoch: number): HostLink => ({
    epoch,
    heartbeat: createSharedHeartbeat(),
    exited: new Promise(() => undefined),
    turns: null,
    summary: async () => [],
    count: async () => nothingLive,
    apply: (batch) => {
      batches.push(batch);
      return new Promise((resolve) => waiting.set(batch.id, resolve));
    },
    inspect: () => undefined,
    uninspect: () => undefined,
    ping: () => undefined,
    kill: () => undefined,
  });
  const answer = async (batch: HostBatch, more: Partial<HostResult> = {}): Promise<void> => {
    waiting.get(batch.id)?.({
      id: batch.id,
      epoch: batch.epoch,
      codes: batch.entries.map(() => 0),
      steps: [],
      checkpoints: [],
      passivated: [],
      rejected: [],
      unreadable: [],
      forgotten: [],
      live: 1,
      ...more,
    });
    await ticks();
  };
  const send = async (...entries: HostEntry[]): Promise<void> => {
    for (const one of entries) traffic.push(one);
    traffic.pump();
    await ticks();
  };
  return {
    traffic,
    batches,
    answers,
    breaches,
    loads,
    poisonTracker,
    link,
    answer,
    send,
    failLoads: (on: boolean) => {
      loadFails = on;
    },
    /** Everything answered so far is durable. */
    durable: async () => {
      traffic.durable(answers.splice(0));
      traffic.pump();
      await ticks();
    },
  };
}

describe("batches", () => {
  test("are bounded in size, and so is the number under way", async () => {
    const { traffic, batches, link, send, answer } = rig();
    const { hostBatchEventsMax: size, hostBatchesInFlightMax: window } = limits;
    traffic.connect(link(1));
    await send(...Array.from({ length: (window + 2) * size }, (_, n) => entry(n % 8, n + 1)));
    expect(batches.map(({ entries }) => entries.length)).toEqual(Array(window).fill(size));
    expect(traffic.waiting).toBe(2 * size);
    await answer(batches[0] as HostBatch);
    expect(batches).toHaveLength(window + 1);
  });

  test("bring a conversation to life once, and the config once", async () => {
    const { traffic, batches, link, loads, send } = rig();
    traffic.connect(link(1));
    await send(entry(7, 1), entry(7, 2));
    await send(entry(7, 3));
    expect(loads).toEqual([{ conv: 7, beforeSeq: 1, rebuild: false }]);
    const [first, second] = batches as [HostBatch, HostBatch];
    expect(first.entries.map(({ activation }) => activation !== undefined)).toEqual([true, false]);
    expect(first.configs.map(({ version }) => version)).toEqual([1]);
    expect(second.configs).toEqual([]);
  });

  test("wait while the store cannot be read, and go out when it can", async () => {
    const { traffic, batches, link, send, failLoads } = rig();
    traffic.connect(link(1));
    failLoads(true);
    await send(entry(7, 1));
    expect(batches).toEqual([]);
    failLoads(false);
    traffic.pump();
    await ticks();
    expect(batches).toHaveLength(1);
  });
});

describe("passivation", () => {
  test("forgets a conversation once its record is durable, and loads it the next time", async () => {
    const { traffic, batches, link, loads, send, answer, durable } = rig();
    traffic.connect(link(1));
    await send(entry(7, 1));
    await answer(batches[0] as HostBatch, { passivated: [7] });
    await send(entry(7, 2));
    expect(loads).toHaveLength(1);
    await answer(batches[1] as HostBatch, { passivated: [7] });
    await durable();
    await send(entry(7, 3));
    expect(loads).toHaveLength(2);
    expect(batches[2]?.forget).toEqual([7]);
  });

  test("of a conversation that was sent an event since is void", async () => {
    const { traffic, batches, link, loads, send, answer, durable } = rig();
    traffic.connect(link(1));
    await send(entry(7, 1));
    await send(entry(7, 2));
    await answer(batches[0] as HostBatch, { passivated: [7] });
    await durable();
    await send(entry(7, 3));
    expect(loads).toHaveLength(1);
    expect(batches.flatMap(({ forget }) => forget)).toEqual([]);
  });
});

describe("an answer", () => {
  test.each([
    ["of another incarnation", { epoch: 9 }],
    ["with a code missing", { codes: [] }],
    ["to a batch never sent", { id: 99 }],
  ])("%s is a breach, and nothing of it is taken", async (_name, more) => {
    const { traffic, batches, answers, breaches, link, send, answer } = rig();
    traffic.connect(link(1));
    await send(entry(7, 1));
    await answer(batches[0] as HostBatch, more);
    expect(breaches).toHaveLength(1);
    expect(answers).toEqual([]);
  });

  test("that asks for an activation gets it when what came before is durable", async () => {
    const { traffic, batches, answers, link, loads, send, answer, durable } = rig();
    traffic.connect(link(1));
    await send(entry(7, 1), entry(7, 2), entry(8, 3));
    const [first] = batches as [HostBatch];
    await answer(first, {
      codes: [quarantinedCode, notLiveCode, 5],
      rejected: [{ seq: 1, conv: 7, error: "threw" }],
    });
    expect(answers[0]?.entries.map(({ seq }) => seq)).toEqual([1, 3]);
    await send(entry(7, 4));
    expect(loads.filter(({ conv }) => conv === 7)).toHaveLength(1);
    await durable();
    expect(batches.at(-1)?.entries.map(({ seq }) => seq)).toEqual([2, 4]);
    expect(loads.at(-1)).toEqual({ conv: 7, beforeSeq: 2, rebuild: false });
  });

  test("for an event that was stepped before commits nothing", async () => {
    const { traffic, batches, answers, link, send, answer } = rig();
    traffic.connect(link(1));
    await send(entry(7, 1), entry(7, 2));
    await answer(batches[0] as HostBatch, { codes: [alreadySteppedCode, 3] });
    expect(answers[0]?.entries.map(({ seq }) => seq)).toEqual([2]);
    expect(answers[0]?.result.codes).toEqual([3]);
  });

  test("about a record that cannot be read leads to one rebuild, then to quarantine", async () => {
    const { traffic, batches, answers, link, loads, poisonTracker, send, answer, durable } = rig();
    traffic.connect(link(1));
    await send(entry(7, 1));
    const unreadable = { codes: [notLiveCode], unreadable: [{ conv: 7, error: "torn" }] };
    await answer(batches[0] as HostBatch, unreadable);
    await durable();
    expect(loads.map(({ rebuild }) => rebuild)).toEqual([false, true]);
    await answer(batches[1] as HostBatch, unreadable);
    expect(answers[0]?.result.codes).toEqual([quarantinedCode]);
    expect(poisonTracker.isQuarantined(1)).toBe(true);
    await durable();
    expect(batches).toHaveLength(2);
  });
});

describe("a lost host", () => {
  test("gives back what it did not answer, in order, before what came later", async () => {
    const { traffic, batches, link, send, answer, durable } = rig();
    traffic.connect(link(1));
    await send(entry(7, 1));
    await send(entry(7, 2), entry(8, 3));
    await answer(batches[0] as HostBatch);
    traffic.disconnect();
    await send(entry(7, 4));
    traffic.connect(link(2));
    traffic.pump();
    await ticks();
    // Its last answer is not durable yet: nothing may be loaded.
    expect(batches).toHaveLength(2);
    await durable();
    expect(batches[2]?.epoch).toBe(2);
    expect(batches[2]?.entries.map(({ seq }) => seq)).toEqual([2, 4, 3]);
    expect(batches[2]?.entries.every(({ activation, seq }) => seq === 4 || activation)).toBe(true);
  });

  test("gives its answers to nobody once it is gone", async () => {
    const { traffic, batches, answers, link, send, answer } = rig();
    traffic.connect(link(1));
    await send(entry(7, 1));
    traffic.disconnect();
    await answer(batches[0] as HostBatch);
    expect(answers).toEqual([]);
  });
});
