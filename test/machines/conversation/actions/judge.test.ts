/** Questions to a judge and its answers, action by action. */
import { describe, expect, test } from "vitest";
import { inboundSchema } from "../../../../src/domain/message.ts";
import * as judge from "../../../../src/machines/conversation/judge-actions.ts";
import {
  acting,
  contextWith,
  forming,
  pending,
  room,
  run,
} from "../../../support/machines/acting.ts";
import { asked, buffer, entry, none, set, settings } from "./values.ts";

describe("a judge", () => {
  const judged = { engagement: { judge: { minConfidence: 0.5 } } };
  const answer = (over: object = {}) =>
    ({
      type: "judge.answered",
      at: 50,
      id: "m6",
      engage: true,
      confidence: 0.5,
      why: "",
      ...over,
    }) as never;
  const analyze = (given: object, over: object = {}) =>
    judge.analyzeAnswer(
      contextWith({ buffer: buffer(entry(6, { asked })), ...settings(judged), ...given }),
      answer(over),
    );

  test("is asked about the newest lines, twelve at most, where there is one", () => {
    const ask = (count: number) =>
      acting({ buffer: buffer(...Array.from({ length: count }, (_, n) => entry(n))) }, (step) =>
        judge.askJudge(step, room),
      ).effects;
    expect(ask(0)).toEqual([]);
    expect(ask(1)).toEqual([{ type: "judge.ask", messages: [{ seq: 0, id: "m0" }], route: room }]);
    const [many] = ask(14);
    expect(many?.type === "judge.ask" && many.messages.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 12 }, (_, n) => n + 2),
    );
  });

  test("engages a line that a question is open about, where it is sure enough", () => {
    const gathered = {
      forming: [
        forming([], {
          messages: [pending(6, { at: 50, ack: "👀", gist: "ann: hi" })],
          firstAt: 50,
          closesAt: 550,
        }),
      ],
      closed: [],
    };
    expect(analyze({})).toEqual({ entry: entry(6, { asked }), gathered });
    for (const over of [{ engage: false }, { confidence: 0.49 }, { failed: "timeout" }])
      expect(analyze({}, over)).toEqual({ entry: entry(6, { asked }), gathered: null });
    expect(analyze(settings({}))).toMatchObject({ gathered: null });
    expect(analyze({ buffer: buffer(entry(6)) })).toEqual({ entry: null, gathered: null });
    expect(analyze({}, { id: "m7" })).toEqual({ entry: null, gathered: null });
    const edited = analyze({ buffer: buffer(entry(6, { asked, editSeq: 9 })) });
    expect(edited.gathered?.forming[0]?.messages).toMatchObject([{ seq: 6, editSeq: 9 }]);
    expect(
      analyze(settings({ ...judged, typing: { mode: "instant" } })).gathered?.forming[0],
    ).toMatchObject({
      instant: true,
    });
  });

  test("engages it as overtaken where somebody else has spoken since", () => {
    const overtaken = (...later: ReturnType<typeof entry>[]) =>
      analyze({ buffer: buffer(entry(6, { asked }), ...later) }).gathered?.forming[0]?.overtaken;
    expect(overtaken(entry(7, { author: "bob" }))).toBe(true);
    expect(overtaken(entry(7))).toBe(false);
    expect(overtaken(entry(5, { author: "bob" }))).toBe(false);
    const photo = { ...asked, media: true };
    const { gathered } = analyze({
      forming: [forming([1], { author: "bob" })],
      buffer: buffer(entry(6, { asked: photo }), entry(7, { author: "bob" })),
    });
    expect(gathered?.closed.map((one) => one.overtaken)).toEqual([false, true]);
  });

  test("engages late what was observed: decided, acked, typed, and in a window", () => {
    const late = (given: object, work?: { running: boolean }) => {
      const context = {
        buffer: buffer(entry(5), entry(6, { asked })),
        ...settings(judged),
        ...given,
      };
      const event = answer() as object;
      const analysis = judge.analyzeAnswer(contextWith(context), answer());
      return acting(context, (step) =>
        judge.engageLate(step, { ...event, analysis } as never, work),
      );
    };
    const decided = {
      type: "decided",
      seq: 6,
      messageId: "m6",
      decision: "engage",
      rule: "judge",
      credit: "none",
    };
    const ack = { type: "react", message: "m6", emoji: "👀", route: room };
    const { changed, effects } = late({});
    expect(changed).toMatchObject({
      buffer: buffer(entry(5)),
      forming: [{ messages: [{ seq: 6 }] }],
    });
    expect(effects).toEqual([decided, ack, set("flush", 550)]);
    const plain = late(settings({ ...judged, ackReaction: null, typing: { mode: "instant" } }));
    expect(plain.effects).toEqual([
      decided,
      { type: "typing", on: true, route: room },
      set("flush", 550),
    ]);
    const beat = { run: run({}, { heartbeat: true }) };
    expect(late(beat, { running: true }).effects).toContainEqual({
      type: "turn.abort",
      turnId: "T1",
      reason: "a person spoke",
    });
    expect(late(beat, { running: false }).effects).toHaveLength(3);
    expect(late(beat).effects).toHaveLength(3);
    expect(late({ buffer: buffer(entry(6)) })).toEqual(none);
  });

  test("leaves the line observed, or all of them", () => {
    const given = { buffer: buffer(entry(5, { asked }), entry(6, { asked })) };
    expect(acting(given, (step) => judge.closeQuestion(step, answer())).changed.buffer).toEqual(
      buffer(entry(5, { asked }), entry(6)),
    );
    expect(acting(given, judge.dropQuestions).changed.buffer).toEqual(buffer(entry(5), entry(6)));
  });

  test("is given what its message would have been", () => {
    const message = inboundSchema.parse({
      channel: "irc",
      chat: room.chat,
      id: "m6",
      author: { id: "ann", name: "Ann" },
      text: `two\nlines ${"x".repeat(200)}`,
      groupId: "g",
    });
    const all = contextWith(settings({ queue: { drop: "summarize" } })).settings;
    const found = judge.askedOf(all, message);
    expect(found).toMatchObject({ route: room, media: true, group: "g" });
    expect(found.gist).toMatch(/^Ann: two lines x+…$/u);
    expect(found.gist).toHaveLength(160);
    expect(judge.gistOf(contextWith(settings({ queue: { drop: "old" } })).settings, message)).toBe(
      "",
    );
    const bare = { ...message, groupId: undefined };
    expect([judge.hasMedia(bare), judge.askedOf(all, bare).group]).toEqual([false, null]);
    expect(judge.hasMedia({ ...bare, attachments: [{ id: "a", kind: "file" }] })).toBe(true);
  });
});
