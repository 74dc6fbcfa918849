/**
 * A40: a host that has gone over to somebody else. It says what is malformed, speaks for others,
 * acknowledges what it was not sent, calls what nobody offered; a real thread is what says it where
 * the port itself is the question.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MessageChannel, Worker } from "node:worker_threads";
import { expose } from "comlink";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { endpoint } from "../../src/actors/host/worker.ts";
import type { HostEvents } from "../../src/actors/protocol/host-link.ts";
import { unanswered } from "../../src/actors/protocol/host-link.ts";
import type { HostResult, TurnReport } from "../../src/actors/protocol/host-protocol.ts";
import { guardEvents, onlyCalls } from "../../src/actors/protocol/validate-host-calls.ts";
import { resultProblem } from "../../src/actors/protocol/validate-results.ts";
import { createPool } from "../../src/actors/supervisor/worker-pool.ts";
import { createSystemClock } from "../../src/adapters/system/clock.ts";
import { encodeVerdict } from "../../src/domain/decision.ts";
import { limits } from "../../src/domain/limits.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { property } from "../support/property.ts";

function ears() {
  const heard: (readonly [name: string, given: unknown])[] = [];
  const refusals: string[] = [];
  const hear = (name: string) => (given: unknown) => void heard.push([name, given]);
  const events = {
    onReports: hear("reports"),
    onDelta: hear("delta"),
    onDraft: hear("draft"),
    onLog: (...given: unknown[]) => void heard.push(["log", given]),
    ask: async (given: unknown) => {
      heard.push(["ask", given]);
      return "told";
    },
  } as unknown as HostEvents;
  const refused = (what: string) => void refusals.push(what);
  return { heard, refusals, guarded: guardEvents(events, refused), refused };
}

const turn = { conv: 7, key: "agent:main:main", turnId: "t1" };
const report = (event: object): TurnReport =>
  ({ ...turn, n: 0, attempt: 0, event: { at: 1, turnId: "t1", ...event } }) as never;
const ended = report({ type: "agent.ended", silent: false });

describe("A40: what a host says unasked", () => {
  test("is taken where it has its form (the twin)", async () => {
    const { heard, refusals, guarded } = ears();
    const text = { type: "agent.text", index: 0, from: 0, to: 2, text: "hi", mentions: ["a"] };
    const good = [
      report({ type: "agent.started", attempt: 0 }),
      report(text),
      report({ ...text, draft: true }),
      report({ type: "agent.tool", name: "x", input: { a: [1] } }),
      report({ type: "agent.usage", inputTokens: 1, outputTokens: 2, costUsd: 0.1 }),
      report({ type: "agent.failed", code: "error", message: "no" }),
      report({ type: "disengage" }),
      ended,
    ];
    guarded.onReports(good);
    guarded.onDelta({ ...turn, text: "h" });
    guarded.onDraft({ ...turn, index: 0, text: "h" });
    guarded.onLog("warn", "agent.said", { a: 1 });
    guarded.onLog("info", "agent.said");
    expect(await guarded.ask({ ...turn, tool: "attachment_list", input: {} })).toBe("told");
    expect(heard).toHaveLength(6);
    expect(heard[0]).toEqual(["reports", good]);
    expect(refusals).toEqual([]);
  });

  test.each([
    [
      "a person's message",
      report({ type: "message.received", message: {}, authority: { owner: true } }),
    ],
    ["a command", report({ type: "command.ordered", command: "reset" })],
    ["a lane", report({ type: "lane.granted" })],
    ["a delivery", report({ type: "delivery.sent", index: 0, messageIds: ["1"] })],
    [
      "a destination",
      report({ type: "agent.text", index: 0, from: 0, to: 1, text: "x", mentions: [], route: {} }),
    ],
    [
      "a huge text",
      report({
        type: "agent.failed",
        code: "error",
        message: "x".repeat(limits.agentBytesMax + 1),
      }),
    ],
    ["no number", report({ type: "agent.usage", inputTokens: Number.NaN, outputTokens: 1 })],
    [
      "a moment that is none",
      report({ type: "agent.ended", silent: false, at: Number.POSITIVE_INFINITY }),
    ],
    ["a number below zero", { ...ended, n: -1 }],
    ["a conversation in words", { ...ended, conv: "7" }],
    ["nothing", null],
    ["more than there is", { ...ended, also: 1 }],
    ["a prototype", JSON.parse('{"__proto__":{"conv":7}}')],
  ])("%s is refused and counted, and what is said beside it is not", (_, bad) => {
    const { heard, refusals, guarded } = ears();
    guarded.onReports([bad as TurnReport, ended]);
    expect(heard).toEqual([["reports", [ended]]]);
    expect(refusals).toHaveLength(1);
  });

  test("a list of wrong reports is refused once, as it is one call, and keeps the good ones", () => {
    const { heard, refusals, guarded } = ears();
    const wrong = Array.from({ length: 3_000 }, (_, n) => n) as unknown as TurnReport[];
    guarded.onReports([...wrong.slice(1), ended, ...wrong]);
    expect(heard).toEqual([["reports", [ended]]]);
    expect(refusals).toEqual(["a report: its form (of 5999)"]);
  });

  const anything = fc.anything({ withBigInt: true, withMap: true, withTypedArray: true });
  property([anything])("never throws and never passes anything else", async (given) => {
    const { heard, guarded, refusals } = ears();
    const said = given as never;
    guarded.onReports(said);
    guarded.onDelta(said);
    guarded.onDraft(said);
    guarded.onLog(said, said, said);
    expect(await guarded.ask(said)).toMatch(/^Refused/);
    expect(heard).toEqual([]);
    expect(refusals.length).toBeGreaterThanOrEqual(4);
  });
});

const raw = (value: unknown) => [{ type: "RAW", value }];

describe("A40: the port of a host", () => {
  let worker: Worker | null = null;
  afterEach(async () => {
    await worker?.terminate();
    worker = null;
  });

  /** Posts messages from a thread of its own; what was heard and answered. */
  async function attack(messages: readonly object[], guarded = true) {
    const { heard, refusals, refused, guarded: events } = ears();
    const { port1, port2 } = new MessageChannel();
    const port = endpoint(port1);
    expose(guarded ? events : { ...events }, guarded ? onlyCalls(port, refused) : port);
    const code = `const { workerData, parentPort } = require("node:worker_threads");
      const { port, messages, last } = workerData;
      let answers = 0;
      let lastAnswers = 0;
      port.on("message", ({ id }) => {
        if (id !== last.id) answers += 1;
        else if (++lastAnswers === 2) parentPort.postMessage(answers);
        else port.postMessage(last);
      });
      for (const message of [...messages, last]) port.postMessage(message);`;
    worker = new Worker(code, {
      eval: true,
      env: {},
      workerData: { port: port2, messages, last },
      transferList: [port2],
    });
    const answered = await new Promise((resolve) => worker?.once("message", resolve));
    port1.close();
    return { heard: heard.filter(([name]) => name !== "log"), refusals, answered };
  }
  /** A good call: once it is answered, and again, whatever was called before has its answer. */
  const last = {
    id: "last",
    type: "APPLY",
    path: ["onLog"],
    argumentList: ["info", "agent.said"].flatMap((value) => raw(value)),
  };
  const call = { id: "1", type: "APPLY", path: ["onReports"] };

  test("takes a call of a name that there is (the twin)", async () => {
    const { heard, refusals, answered } = await attack([{ ...call, argumentList: raw([ended]) }]);
    expect(heard).toEqual([["reports", [ended]]]);
    expect([refusals, answered]).toEqual([[], 1]);
  });

  test("hears a call that nobody waits for, and does not answer it", async () => {
    const quiet = { ...call, id: unanswered, argumentList: raw([ended]) };
    const { heard, refusals, answered } = await attack([quiet]);
    expect(heard).toEqual([["reports", [ended]]]);
    expect([refusals, answered]).toEqual([[], 0]);
  });

  test("leads to no constructor, no prototype, no field and no further port", async () => {
    const evil = [
      {
        ...call,
        type: "CONSTRUCT",
        path: ["onReports", "constructor"],
        argumentList: raw("return process"),
      },
      { ...call, path: ["onReports", "constructor"], argumentList: raw("return process") },
      { ...call, path: ["constructor"], argumentList: raw(1) },
      { ...call, path: ["__proto__", "toString"], argumentList: [] },
      { ...call, path: [], argumentList: [] },
      { ...call, type: "SET", path: ["ask"], value: { type: "RAW", value: 1 } },
      { ...call, type: "GET", path: ["ask"] },
      { ...call, type: "ENDPOINT", path: [] },
      { ...call, type: "RELEASE", path: [] },
      { ...call, argumentList: [{ type: "HANDLER", name: "throw", value: {} }] },
      { ...call, argumentList: "none" },
      { ...call, path: ["onReports"] },
      { id: "x" },
      { ...call, path: ["hello"], argumentList: [] },
    ];
    const last = { ...call, argumentList: raw([ended]) };
    const { heard, refusals, answered } = await attack([...evil, last]);
    expect(heard).toEqual([["reports", [ended]]]);
    expect([refusals.length, answered]).toEqual([evil.length, 1]);
  });

  test("would lead there without the guard (so that the test can fail)", async () => {
    const get = { ...call, type: "GET", path: ["onReports", "name"] };
    const { answered } = await attack([get], false);
    expect(answered).toBe(1);
  });
});

/** Says hello as a host does, and then what none may say, again and again. */
const flooding = (calls: number) => `export const host = ({ port, events, epoch }) => {
  port.on("message", ({ id }) => {
    port.postMessage({ id, type: "RAW", value: epoch });
    const argumentList = [{ type: "RAW", value: 1 }];
    for (let n = 0; n < ${calls}; n += 1)
      events.postMessage({ id: String(n), type: "APPLY", path: ["onDelta"], argumentList });
  });
  return new Promise(() => undefined);
};`;

describe("A40: a host that goes on and on", () => {
  async function play(calls: number) {
    const entry = join(newFolder(), "host.mjs");
    writeFileSync(entry, flooding(calls));
    const logged: string[] = [];
    const pool = createPool({
      workers: 1,
      clock: createSystemClock(),
      log: (_, event) => void logged.push(event),
      live: 10,
      checkpointEvery: 100,
      memoryMb: 64,
      startMsMax: 60_000,
      hostModule: "",
      entry: pathToFileURL(entry),
    });
    const link = await pool.open(0, 1, ears().guarded);
    const lines = () => logged.filter((event) => event === "host.refused").length;
    return { link, lines, close: () => pool.close() };
  }

  test("is ended at the limit, and has no more lines in the log than that", async () => {
    const { link, lines, close } = await play(50 * limits.hostRefusalsMax);
    expect(await link.exited).toBe("broke the protocol: a delta: its form");
    expect(link.refused?.()).toBeGreaterThanOrEqual(limits.hostRefusalsMax);
    expect(lines()).toBe(limits.hostRefusalsMax);
    await close();
  });

  test("goes on below the limit (the twin)", async () => {
    const { link, lines, close } = await play(limits.hostRefusalsMax - 1);
    await expect.poll(lines, { timeout: 30_000 }).toBe(limits.hostRefusalsMax - 1);
    const ended = await Promise.race([link.exited, new Promise((go) => setImmediate(go, "lives"))]);
    expect(ended).toBe("lives");
    await close();
  });
});

describe("A40: an answer to a batch", () => {
  const asked = { epoch: 3, events: 1, lastSeq: 20, knows: (conv: number) => conv === 7 };
  const observed = encodeVerdict({ decision: "observe", rule: "default", credit: "none" });
  const step = { seq: 20, conv: 7, key: "k", at: 1, code: observed, effects: [{ type: "typing" }] };
  const good = {
    id: 1,
    epoch: 3,
    codes: [observed],
    steps: [step],
    passivated: [7],
    rejected: [],
    checkpoints: [{ conv: 7, recordSeq: 20, record: "[]" }],
    unreadable: [],
    forgotten: [[20, 1, "m1"]],
    live: 1,
  };

  test("is taken where all of it is its own (the twin)", () => {
    expect(resultProblem(good, asked)).toBeNull();
    for (const code of [0, -1, -2, -3])
      expect(resultProblem({ ...good, codes: [code] }, asked)).toBeNull();
  });

  test.each<[string, Partial<Record<keyof HostResult, unknown>>]>([
    ["of an older incarnation", { epoch: 2 }],
    ["of a newer incarnation", { epoch: 4 }],
    ["for more events than there were", { codes: [observed, observed] }],
    ["for none", { codes: [] }],
    ["with a verdict that is none", { codes: [0xffff_ffff] }],
    ["with a verdict in words", { codes: ["1"] }],
    ["with a step of somebody else's conversation", { steps: [{ ...step, conv: 8 }] }],
    ["with a step of an event that it was never sent", { steps: [{ ...step, seq: 21 }] }],
    ["with an effect that is none", { steps: [{ ...step, effects: [null] }] }],
    ["with steps that are none", { steps: "all" }],
    ["that does not say what was forgotten", { forgotten: undefined }],
    ["that forgot what has no id", { forgotten: [[20, 1]] }],
    ["that forgot because of an event that it was never sent", { forgotten: [[21, 1, "m"]] }],
    ["that forgot a message of any size", { forgotten: [[20, 1, "x".repeat(513)]] }],
    ["with a record of somebody else", { checkpoints: [{ conv: 8, recordSeq: 1, record: "[]" }] }],
    [
      "with a record that covers what is still to come",
      { checkpoints: [{ conv: 7, recordSeq: 21, record: "[]" }] },
    ],
    [
      "with a record beyond any size",
      { checkpoints: [{ conv: 7, recordSeq: 1, record: "x".repeat(limits.recordUnitsMax + 1) }] },
    ],
    ["without rejections", { rejected: undefined }],
    ["with a rejection of nothing", { rejected: [{ seq: -1, conv: 7, error: "" }] }],
    ["that puts away what is no conversation", { passivated: ["7"] }],
    ["that counts no conversations", { live: Number.NaN }],
  ])("%s is a breach", (_, more) => {
    expect(resultProblem({ ...good, ...more }, asked)).toMatch(/\w/);
  });

  property([fc.anything()])("of any kind is judged without an exception", (given) => {
    expect(resultProblem(given, asked)).not.toBeNull();
  });
});
