/** What reaches a turn while it runs, action by action. */
import { describe, expect, test } from "vitest";
import { limits } from "../../../../src/domain/limits.ts";
import * as steering from "../../../../src/machines/conversation/steering-actions.ts";
import { acting, flush, pending, room, run, thread } from "../../../support/machines/acting.ts";
import { none, settings } from "./values.ts";

describe("the running agent", () => {
  const batch = (seqs: number[], over: object = {}, message: object = {}) =>
    ({
      ...flush(seqs, over, message),
      author: "ann",
      group: null,
      firstAt: 1,
      closesAt: 2,
    }) as never;
  const reach = (mode: string, given: object = {}, one = batch([5])) =>
    acting(
      { run: run(), inbox: [flush([5])], ...given, ...settings({ queue: { mode } }) },
      (step) => steering.reachAgent(step, one, 5_000),
    );
  const offered = (...seqs: number[]) => ({
    type: "turn.steer",
    turnId: "T1",
    batch: seqs.map((seq) => ({ seq, id: `m${seq}` })),
  });

  test("is offered what its people say in its place, where the mode steers or they ask for it", () => {
    expect(reach("steer").effects).toEqual([offered(5)]);
    expect(reach("steer-backlog").effects).toEqual([offered(5)]);
    for (const mode of ["collect", "queue", "followup"]) expect(reach(mode)).toEqual(none);
    const asks = { inbox: [flush([5], {}, { steer: true }), flush([6])] };
    expect(reach("queue", asks, batch([5], {}, { steer: true })).effects).toEqual([offered(5)]);
    expect(reach("steer", {}, batch([5], { route: thread }))).toEqual(none);
  });

  test("is offered the whole line in order, without what it took or others said", () => {
    const inbox = [
      flush([2], { steeredAt: 0 }),
      flush([3]),
      flush([4], { route: thread }),
      flush([5], {}, { author: "bob" }),
      flush([6]),
    ];
    expect(reach("steer", { inbox }).effects).toEqual([offered(3, 6)]);
    const edit = { seq: 9, id: "m1", at: 5, was: { seq: 1 } };
    expect(reach("steer", { notes: [edit] }).effects).toMatchObject([
      { batch: [{ seq: 5 }, { seq: 9, id: "m1", was: { seq: 1 } }] },
    ]);
  });

  test("is offered nothing once it is stopped, or its session is over", () => {
    expect(reach("steer", { run: run({ abortedBy: "stop" }) })).toEqual(none);
    expect(reach("steer", { run: run({ left: true }) })).toEqual(none);
    expect(reach("steer", { run: null })).toEqual(none);
    const line = (given: object) =>
      acting(
        { inbox: [flush([5])], ...given, ...settings({ queue: { mode: "steer" } }) },
        steering.offerLine,
      );
    expect(line({ run: run() }).effects).toEqual([offered(5)]);
    for (const over of [null, run({ abortedBy: "x" })]) expect(line({ run: over })).toEqual(none);
  });

  test("is interrupted by its own people in that mode, not too often", () => {
    const stopped = {
      changed: { run: run({ abortedBy: "interrupt" }), interruptedAt: 5_000 },
      effects: [{ type: "turn.abort", turnId: "T1", reason: "interrupt" }],
    };
    const soon = { interruptedAt: 5_000 - limits.interruptMsMin + 1 };
    expect(reach("interrupt")).toEqual(stopped);
    expect(reach("interrupt", { interruptedAt: 5_000 - limits.interruptMsMin })).toEqual(stopped);
    expect(reach("interrupt", soon)).toEqual({
      changed: {},
      effects: [{ type: "deadline.set", id: "interrupt", at: 5_001 }],
    });
    expect(reach("interrupt", {}, batch([5], {}, { author: "bob" }))).toEqual(none);
    const asked = reach(
      "interrupt",
      { inbox: [flush([5], {}, { steer: true })] },
      batch([5], {}, { steer: true }),
    );
    expect(asked.effects).toEqual([offered(5)]);
  });

  test("is interrupted later where it was too soon, if it still applies", () => {
    const due = (given: object, mode = "interrupt") =>
      acting(
        { run: run(), inbox: [flush([5])], ...given, ...settings({ queue: { mode } }) },
        (step) => steering.interruptDue(step, { type: "deadline.due", id: "interrupt", at: 5_000 }),
      ).effects;
    expect(due({})).toEqual([{ type: "turn.abort", turnId: "T1", reason: "interrupt" }]);
    for (const given of [
      { run: null },
      { run: run({ abortedBy: "stop" }) },
      { inbox: [] },
      { inbox: [flush([5], {}, { author: "bob" })] },
    ])
      expect(due(given)).toEqual([]);
    expect(due({ inbox: [flush([5], {}, { author: "bob" }), flush([6])] })).toHaveLength(1);
    expect(due({}, "queue")).toEqual([]);
  });

  test("that nobody asked for is stopped for a person", () => {
    const beat = (over: object, ordered: object = { heartbeat: true }) =>
      acting({ run: run(over, ordered) }, steering.stopHeartbeat).effects;
    expect(beat({})).toEqual([{ type: "turn.abort", turnId: "T1", reason: "a person spoke" }]);
    expect(beat({ abortedBy: "x" })).toEqual([]);
    expect(beat({}, {})).toEqual([]);
    expect(acting({}, steering.stopHeartbeat)).toEqual(none);
    expect(reach("queue", { run: run({}, { heartbeat: true }) }).effects).toHaveLength(1);
  });

  const stop = { type: "run.aborted", at: 5, by: "stop" } as const;
  const from = (author: string) => ({ ...stop, from: { author, owner: false, route: room } });

  test("is stopped once, by those whom it answers", () => {
    const abort = (event: object, over: object = {}) =>
      acting({ run: run(over) }, (step) => steering.abortTurn(step, event as never)).effects;
    expect(abort(stop)).toEqual([{ type: "turn.abort", turnId: "T1", reason: "stop" }]);
    expect(abort(from("ann"))).toHaveLength(1);
    expect(abort(from("bob"))).toEqual([]);
    expect(abort(stop, { abortedBy: "x" })).toEqual([]);
    expect(acting({}, (step) => steering.abortTurn(step, stop))).toEqual(none);
  });

  test("that has ended is cancelled where its words have not left", () => {
    const abort = (event: object, over: object = {}) =>
      acting({ run: run(over) }, (step) => steering.abortDelivery(step, event as never)).changed
        .run;
    const cancelled = { abortedBy: "stop", failure: { outcome: "cancelled", reason: "stop" } };
    expect(abort(stop)).toEqual(run(cancelled));
    expect(abort(from("bob"))).toBeUndefined();
    const failure = { outcome: "failed", reason: "x" };
    expect(abort(stop, { failure })).toEqual(run({ abortedBy: "stop", failure }));
    expect(abort(stop, { abortedBy: "y" })).toMatchObject({ failure: { reason: "y" } });
    expect(acting({}, (step) => steering.abortDelivery(step, stop))).toEqual(none);
  });
});

describe("what the running agent takes in", () => {
  const take = (given: object, event: object, mode = "steer") =>
    acting({ run: run({ blocks: 1 }), ...given, ...settings({ queue: { mode } }) }, (step) =>
      steering.joinTurn(step, {
        type: "agent.steered",
        at: 60,
        turnId: "T1",
        messages: [],
        ...event,
      } as never),
    );
  const joined = (...batch: object[]) => ({ type: "joined", turnId: "T1", batch });

  test("is its turn's, whole batches of it", () => {
    const inbox = [flush([3, 4]), flush([5, 6]), flush([7])];
    const { changed, effects } = take({ inbox }, { messages: [3, 4, 5] });
    expect(changed).toEqual({
      inbox: [inbox[1], inbox[2]],
      run: run({ blocks: 1, batch: [pending(1), pending(3), pending(4)] }),
      readByTurns: [
        { seq: 3, id: "m3" },
        { seq: 4, id: "m4" },
      ],
    });
    expect(effects).toEqual([joined({ seq: 3, id: "m3" }, { seq: 4, id: "m4" })]);
    expect(take({ run: null, inbox }, { messages: [3, 4] })).toEqual(none);
    expect(take({ inbox }, { messages: [99] }).effects).toEqual([]);
  });

  test("stays in line in that mode, marked with where the answer was", () => {
    const inbox = [flush([3]), flush([4])];
    const { changed, effects } = take({ inbox }, { messages: [3] }, "steer-backlog");
    expect(changed.inbox).toEqual([flush([3], { steeredAt: 1 }), inbox[1]]);
    expect(effects).toEqual([]);
    expect(changed.run).toBeUndefined();
    expect(changed.readByTurns).toEqual([{ seq: 3, id: "m3" }]);
  });

  test("that was edited on its way was read as it had been, unless the agent says otherwise", () => {
    const inbox = [flush([3], {}, { editSeq: 9 })];
    const note = { seq: 9, id: "m3", at: 60, was: { seq: 3 } };
    const before = take({ inbox }, { messages: [3], edits: [] });
    expect(before.changed.notes).toEqual([note]);
    expect(before.changed.run?.batch).toEqual([pending(1), pending(3)]);
    expect(before.effects).toEqual([
      joined({ seq: 3, id: "m3" }),
      { type: "turn.steer", turnId: "T1", batch: [{ seq: 9, id: "m3", was: { seq: 3 } }] },
    ]);
    for (const edits of [undefined, [9]]) {
      const read = take({ inbox }, { messages: [3], edits });
      expect(read.changed.notes).toBeUndefined();
      expect(read.changed.run?.batch).toEqual([pending(1), pending(3, { editSeq: 9 })]);
      expect(read.effects).toEqual([joined({ seq: 3, id: "m3", editSeq: 9 })]);
    }
  });

  test("of edits of its own messages is how those read now", () => {
    const note = { seq: 9, id: "m1", at: 5, was: { seq: 1 } };
    const other = { seq: 8, id: "m7", at: 5, was: { seq: 7 } };
    const { changed, effects } = take({ notes: [note, other] }, { messages: [9, 8] });
    expect(changed.notes).toEqual([other]);
    expect(changed.run?.batch).toEqual([pending(1, { editSeq: 9 })]);
    expect(effects).toEqual([joined({ seq: 9, id: "m1", was: { seq: 1 } })]);
    expect(take({ notes: [note] }, { messages: [] }).changed.notes).toBeUndefined();
  });
});
