/** What a session changes, action by action. */
import { describe, expect, test } from "vitest";
import { emptyFloors } from "../../../../src/domain/floor.ts";
import { limits } from "../../../../src/domain/limits.ts";
import * as session from "../../../../src/machines/conversation/session-actions.ts";
import {
  acting,
  contextWith,
  flush,
  forming,
  room,
  run,
  thread,
} from "../../../support/machines/acting.ts";
import { asked, buffer, entry, floor, settings } from "./values.ts";

describe("a session", () => {
  test("says its queue, its sending and its activation differently, field by field", () => {
    const over = (override: object, event: object) =>
      acting({ override }, (step) =>
        session.overrideSession(step, { type: "session.overridden", at: 1, ...event } as never),
      ).changed;
    const before = {
      queue: { mode: "queue" as const, cap: 3 },
      send: "deny" as const,
      activation: "always" as const,
    };
    expect(over(before, {}).override).toEqual(before);
    expect(over(before, { send: null }).override).toEqual({
      queue: before.queue,
      activation: "always",
    });
    expect(over(before, { activation: null, queue: null }).override).toEqual({ send: "deny" });
    expect(over(before, { queue: { cap: 5 } }).override).toMatchObject({ queue: { cap: 5 } });
    expect(over(before, { queue: { cap: 5 } }).override?.queue).not.toHaveProperty("mode");
    expect(over(before, { queue: { cap: 5 }, merge: true }).override).toMatchObject({
      queue: { mode: "queue", cap: 5 },
    });
    expect(over(before, { queue: null, merge: true }).override).not.toHaveProperty("queue");
    expect(over(before, { merge: true }).override).toEqual(before);
    const found = over({}, { send: "deny", activation: "mention", queue: { cap: 4 } });
    expect(found.settings).toMatchObject({
      send: "deny",
      queue: { cap: 4 },
      engagement: { activation: "mention" },
    });
    expect(found.override).toEqual({ send: "deny", activation: "mention", queue: { cap: 4 } });
  });

  test("takes on another config under what it says differently", () => {
    const given = { override: { send: "deny" as const }, floors: { ...emptyFloors, heard: 2 } };
    const next = contextWith(settings({ replyTo: "all" })).settings;
    const adopt = (over: object) =>
      acting(given, (step) =>
        session.adoptSettings(step, { type: "config.changed", at: 1, settings: over } as never),
      ).changed;
    expect(adopt(next)).toMatchObject({
      configured: next,
      settings: { replyTo: "all", send: "deny" },
      floors: emptyFloors,
    });
    expect(adopt(contextWith(settings(floor)).settings)).not.toHaveProperty("floors");
  });

  test("begins anew: introduced again, no question open, nothing read", () => {
    const given = {
      inbox: [flush([3], { past: 1 }), flush([4])],
      buffer: buffer(entry(6, { asked })),
      readByTurns: [{ seq: 1, id: "m1" }],
      notes: [{ seq: 7, id: "x", at: 1 }],
      introduced: true,
      abortedLastRun: true,
      run: run(),
    };
    const begin = (event: object, more: object = {}) =>
      acting({ ...given, ...more }, (step) =>
        session.beginSession(step, { type: "session.reset", at: 1, ...event } as never),
      );
    const common = {
      buffer: buffer(entry(6)),
      readByTurns: [],
      introduced: false,
      abortedLastRun: false,
      run: run({ left: true }),
    };
    expect(begin({})).toEqual({ changed: common, effects: [] });
    expect(begin({ sessionId: "s" }).effects).toStrictEqual([
      { type: "session.began", sessionId: "s" },
    ]);
    const cut = begin({ sessionId: "s", cuts: true });
    expect(cut.changed).toEqual({
      ...common,
      inbox: [flush([3], { past: 2 }), flush([4], { past: 1 })],
    });
    expect(cut.effects).toEqual([{ type: "session.began", sessionId: "s", owes: true }]);
    const parked = { buffer: buffer(entry(5, { stopped: true }), entry(6)) };
    expect(begin({ cuts: true }, parked).changed.buffer).toEqual(buffer(entry(6)));
    expect(begin({}, parked).changed).not.toHaveProperty("buffer");
    const idle = begin({ sessionId: "s", cuts: true }, { inbox: [], run: null });
    expect(idle.changed).toMatchObject({ notes: [] });
    expect(idle.changed).not.toHaveProperty("run");
    expect(idle.effects).toStrictEqual([{ type: "session.began", sessionId: "s" }]);
  });

  test("backs off: nobody holds anything", () => {
    const given = {
      ledger: { ann: 9 },
      buffer: buffer(entry(6, { asked })),
      forming: [forming([1])],
      inbox: [flush([2])],
      run: run(),
    };
    expect(acting(given, session.dropCredits).changed).toEqual({
      ledger: {},
      buffer: buffer(entry(6)),
      forming: [forming([1], { holds: false })],
      inbox: [flush([2], { holds: false })],
      run: run({ holds: false }),
    });
    expect(acting({ run: run({ holds: false }) }, session.dropCredits).changed).toEqual({
      ledger: {},
    });
    const rows = { ann: {} } as never;
    const judged = acting(
      { floors: { ...emptyFloors, rows }, ...settings(floor) },
      session.dropCredits,
    );
    expect(judged.changed.floors?.rows).toEqual({});
  });

  test("owes one heartbeat at most, and so many prompts", () => {
    const beat = (given: object) =>
      acting(given, (step) =>
        session.noteHeartbeat(step, { type: "heartbeat.due", at: 1, route: room }),
      ).changed;
    expect(beat({})).toEqual({ heartbeat: room });
    expect(beat({ run: run() })).toEqual({ heartbeat: room });
    expect(beat({ run: run({}, { heartbeat: true }) })).toEqual({});
    const prompt = (count: number) =>
      acting({ prompts: Array.from({ length: count }, () => ({ seq: 1, route: room })) }, (step) =>
        session.notePrompt(step, {
          type: "prompt.due",
          at: 1,
          seq: 9,
          id: "p",
          route: thread,
        } as never),
      );
    expect(prompt(0)).toEqual({ changed: { prompts: [{ seq: 9, route: thread }] }, effects: [] });
    expect(prompt(limits.promptsOwedMax - 1).changed.prompts).toHaveLength(limits.promptsOwedMax);
    expect(prompt(limits.promptsOwedMax)).toEqual({
      changed: {},
      effects: [{ type: "dropped", message: { seq: 9, id: "p" }, why: "queue-cap-new" }],
    });
  });

  test("answers commands with its figures", () => {
    const given = {
      run: run(),
      inbox: [flush([3, 4]), flush([5], {}, { author: "bob" })],
      forming: [forming([6])],
      buffer: buffer(entry(7)),
      turnSeq: 8,
      ledger: { ann: 1, bob: 2 },
      counters: { consecutive: 9, window: [] },
    };
    const by = { route: room, messageId: "m", author: "ann", owner: false, about: null };
    const status = (event: object, over: object = {}) => {
      const { effects } = acting({ ...given, ...over }, (step) =>
        session.runCommand(step, {
          type: "command.applied",
          at: 1,
          command: "status",
          args: ["a"],
          ...event,
        } as never),
      );
      expect(effects).toHaveLength(1);
      return effects[0] as never as {
        calls: unknown;
        asked: unknown;
        status: Record<string, unknown>;
      };
    };
    const { settings: all } = contextWith({});
    expect(status({ asked: by, more: [{ command: "why", args: [] }] })).toEqual({
      type: "command",
      calls: [
        { command: "status", args: ["a"] },
        { command: "why", args: [] },
      ],
      asked: by,
      status: {
        stops: { turn: true, messages: 2, past: 0 },
        consecutive: 9,
        waiting: 3,
        remembered: 1,
        turns: 8,
        credits: 2,
        activation: all.engagement.activation,
        queue: all.queue,
        send: all.send,
      },
    });
    const stops = (event: object, over: object = {}) => status(event, over).status.stops;
    expect(status({}).asked).toBeNull();
    expect(stops({})).toEqual({ turn: true, messages: 3, past: 0 });
    expect(stops({ asked: { ...by, author: "bob" } })).toEqual({
      turn: false,
      messages: 1,
      past: 0,
    });
    expect(stops({}, { run: run({ abortedBy: "x" }) })).toEqual({
      turn: false,
      messages: 3,
      past: 0,
    });
    expect(stops({}, { run: null })).toEqual({ turn: false, messages: 3, past: 0 });
    const inbox = [flush([3, 4], { past: 1 }), flush([5])];
    expect(stops({}, { inbox })).toEqual({ turn: true, messages: 1, past: 2 });
  });

  test("passes on what a turn used", () => {
    const usage = (event: object) =>
      acting({}, (step) =>
        session.noteUsage(step, {
          turnId: "T1",
          inputTokens: 1,
          outputTokens: 2,
          ...event,
        } as never),
      ).effects;
    const used = { type: "usage", turnId: "T1", inputTokens: 1, outputTokens: 2 };
    expect(usage({})).toEqual([{ ...used, costUsd: 0 }]);
    expect(usage({ costUsd: 3 })).toEqual([{ ...used, costUsd: 3 }]);
  });
});
