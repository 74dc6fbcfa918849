/** What the chart asks of a conversation, question by question. */
import { describe, expect, test } from "vitest";
import * as guards from "../../../../src/machines/conversation/guards.ts";
import { contextWith, flush, forming, room, run } from "../../../support/machines/acting.ts";
import { settings } from "./values.ts";

describe("what the chart asks", () => {
  const due = (id: string, at: number) => ({ type: "deadline.due", id, at }) as never;

  test("whether a window or the quiet one is over", () => {
    const open = { forming: [forming([1])] };
    const releases = (given: object, event: never) =>
      guards.flushReleases(contextWith(given), event);
    expect(releases(open, due("flush", 500))).toBe(true);
    expect(releases(open, due("flush", 499))).toBe(false);
    expect(releases(open, due("quiet", 500))).toBe(false);
    expect(releases({ ...open, quietAt: 1 }, due("flush", 500))).toBe(false);
    expect(releases({}, due("flush", 500))).toBe(false);
    const over = (given: object, event: never) => guards.quietIsOver(contextWith(given), event);
    expect(over({ quietAt: 5 }, due("quiet", 5))).toBe(true);
    expect(over({ quietAt: 5 }, due("quiet", 4))).toBe(false);
    expect(over({ quietAt: 5 }, due("flush", 5))).toBe(false);
    expect(over({}, due("quiet", 5))).toBe(false);
  });

  test("whether something waits, runs, is delivered or owed", () => {
    const of = (given: object) => {
      const context = contextWith(given);
      return [
        guards.hasLine(context),
        guards.hasWindow(context),
        guards.isQuiet(context),
        guards.owesTurn(context),
        guards.isDelivering(context),
        guards.commandReleases(context),
      ]
        .map(Number)
        .join("");
    };
    expect(of({})).toBe("000000");
    expect(of({ inbox: [flush([1])] })).toBe("100000");
    expect(of({ forming: [forming([1])] })).toBe("010001");
    expect(of({ forming: [forming([1])], quietAt: 1 })).toBe("011000");
    expect(of({ heartbeat: room })).toBe("000100");
    expect(of({ prompts: [{ seq: 1, route: room }] })).toBe("000100");
    expect(of({ run: run() })).toBe("000000");
    expect(of({ run: run({ open: [{ index: 0, kind: "reply", mentions: [] }] }) })).toBe("000010");
  });

  test("whether an event is of the turn under way", () => {
    const is = (given: object, event: object) =>
      guards.isThisTurn(contextWith(given), event as never);
    expect(is({ run: run() }, { type: "skip", turnId: "T1" })).toBe(true);
    expect(is({ run: run() }, { type: "skip", turnId: "T2" })).toBe(false);
    expect(is({ run: run() }, { type: "host.recovered" })).toBe(false);
    expect(is({}, { type: "skip", turnId: "T1" })).toBe(false);
  });

  test("whether an agent before us frees the line", () => {
    const relays = [{ token: "m3", place: 1, keys: ["a", "b"], seq: 3, at: 1, ahead: [0] }];
    const held = contextWith({ inbox: [flush([3])], relays });
    expect(guards.mayFreeLine(held, due("relay", 1))).toBe(true);
    expect(guards.mayFreeLine(held, due("relay|m3|0", 1))).toBe(true);
    expect(guards.mayFreeLine(held, due("flush", 1))).toBe(false);
    expect(guards.mayFreeLine(contextWith({ inbox: [flush([3])] }), due("relay", 1))).toBe(false);
  });

  test("whether a message engages, at once, and what the loop guard makes of it", () => {
    const gathered = (closed: number) => ({
      forming: [],
      closed: Array.from({ length: closed }, () => forming([1])),
    });
    const event = (analysis: object) => ({ analysis }) as never;
    const idle = contextWith({});
    expect(guards.engages(idle, event({ gathered: gathered(0) }))).toBe(true);
    expect(guards.engages(idle, event({ gathered: null }))).toBe(false);
    expect(guards.engagesNow(idle, event({ gathered: gathered(1) }))).toBe(true);
    expect(guards.engagesNow(idle, event({ gathered: gathered(0) }))).toBe(false);
    expect(guards.engagesNow(idle, event({ gathered: null }))).toBe(false);
    expect(guards.engagesNow(contextWith({ quietAt: 1 }), event({ gathered: gathered(1) }))).toBe(
      false,
    );
    expect(guards.humanSpoke(idle, event({ fromBot: false }))).toBe(true);
    expect(guards.humanSpoke(idle, event({ fromBot: true }))).toBe(false);
    const strict = contextWith(
      settings({ loopGuard: { maxConsecutive: 2, maxInWindow: 9, windowMs: 9, hardLimit: 4 } }),
    );
    const bot = (consecutive: number, over: object = {}) =>
      event({
        fromBot: true,
        gathered: gathered(0),
        counters: { consecutive, window: [] },
        ...over,
      });
    const found = [1, 2, 3, 4].map((n) => [
      guards.trips(strict, bot(n)),
      guards.mutes(strict, bot(n)),
    ]);
    expect(found.map((one) => one.map(Number).join("")).join(" ")).toBe("00 10 10 11");
    for (const over of [{ fromBot: false }, { gathered: null }])
      expect([guards.trips(strict, bot(9, over)), guards.mutes(strict, bot(9, over))]).toEqual([
        false,
        false,
      ]);
  });
});
