/**
 * One message edited in place: when it opens, how often it changes, and its final text.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ScriptedRun } from "../../../src/domain/scenario/script.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { type Fate, World, type WorldOptions } from "../../support/runtime/world.ts";

const draft = { stream: { mode: "draft" } };
const started = async (options: WorldOptions = {}) =>
  new World({ config: draft, ...options }).start();

/** A long answer, word by word. */
const sentence = "The quick brown fox jumps over the lazy dog. ";
const typed = (text: string, waitMs = 100): ScriptedRun => ({
  afterMs: 0,
  steps: text.split(/(?<= )/).flatMap((word) => [{ text: word }, { waitMs }]),
});
const answer = async (world: World, run: ScriptedRun, ms = 120_000): Promise<void> => {
  world.runs.push(run);
  await world.say("go", { direct: true });
  await world.pass(ms);
};
const whole = sentence.repeat(6).trim();
/** What the session remembers of the agent's words. */
const said = async (world: World): Promise<string[]> => {
  const session = await world.runtime.session("agent:main:main");
  const lines = await world.store.transcript({ sessionId: session?.sessionId ?? "", limit: 100 });
  return lines.filter(({ role }) => role === "assistant").map(({ text }) => text);
};

describe("a draft", () => {
  test("opens after a few words, is edited at most once a second, and ends as the whole", async () => {
    const world = await started();
    await answer(world, typed(whole));
    expect(world.sent).toHaveLength(1);
    expect(world.sent[0]?.text.length).toBeGreaterThanOrEqual(30);
    expect(world.sent[0]?.text.length).toBeLessThan(60);
    expect(world.edited.length).toBeGreaterThan(3);
    const live = world.edited.slice(0, -1);
    live.forEach(({ at, text }, index) => {
      expect(whole.startsWith(text)).toBe(true);
      const before = index === 0 ? world.sent[0] : live[index - 1];
      expect(at - (before?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
      expect(text.length).toBeGreaterThan(before?.text.length ?? 0);
    });
    expect(world.shown()).toEqual([whole]);
    expect(world.sends()).toMatchObject([
      { status: "sent", draft: true },
      { status: "sent", text: whole, edits: world.sent[0]?.id },
    ]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
    const [why] = await world.runtime.why(String(world.decisions()[0]?.id));
    expect(why?.fate.deliveries).toMatchObject([{ status: "sent", text: whole }]);
  });

  test("shows the newest text after a rate limit, and nothing of what it missed", async () => {
    const world = await started();
    world.fates.push("ok", "429");
    await answer(world, typed(whole));
    const gaps = world.edited.map(({ at }, index) => at - (world.edited[index - 1]?.at ?? at));
    expect(world.fates).toEqual([]);
    expect((world.edited[0]?.at ?? 0) - (world.sent[0]?.at ?? 0)).toBeGreaterThanOrEqual(3_000);
    expect(Math.max(...gaps)).toBeLessThan(3_000);
    expect(world.shown()).toEqual([whole]);
  });

  test("of an answer that came at once is never opened", async () => {
    const world = await started();
    await answer(world, { afterMs: 0, steps: [{ text: whole }, { waitMs: 100 }] });
    expect(world.sent.map(({ text }) => text)).toEqual([whole]);
    expect(world.edited).toEqual([]);
    expect(world.sends()[0]).not.toHaveProperty("draft");
  });

  test("is not made of what a tool says at once", async () => {
    const world = await started();
    const tool = { tool: "channel_reply", input: { text: "Sent by tool, and longer than that." } };
    await answer(world, { afterMs: 0, steps: [tool, { text: whole }, { waitMs: 5_000 }] });
    expect(world.shown()).toEqual([tool.input.text, whole]);
    expect(world.sends().map(({ draft }) => draft)).toEqual([undefined, true, undefined]);
  });

  test("of a slow answer opens after a second, however little there is", async () => {
    const world = await started();
    await answer(world, {
      afterMs: 0,
      steps: [{ text: "Well" }, { waitMs: 5_000 }, { text: ", no." }],
    });
    expect(world.sent).toMatchObject([{ text: "Well" }]);
    expect(world.shown()).toEqual(["Well, no."]);
  });

  test("is not needed where the platform cannot edit: blocks leave as they complete", async () => {
    const world = await started();
    world.canEdit = false;
    const text = sentence.repeat(60).trim();
    await answer(world, typed(text, 10));
    expect(world.sent.length).toBeGreaterThan(1);
    expect(world.sent.map((one) => one.text).join("")).toBe(text);
  });

  test("of an answer too long for one message is one message, and the rest follows it", async () => {
    const world = await started();
    const text = sentence.repeat(220).trim();
    await answer(world, typed(text, 20));
    expect(world.sent.length).toBe(3);
    expect(world.shown().join("")).toBe(text);
    expect(world.shown().every(({ length }) => length <= 4_096)).toBe(true);
  });

  test("in several messages is one message", async () => {
    const world = await started();
    const [one = "", two = ""] = [sentence.repeat(2).trim(), sentence.repeat(3).trim()];
    const steps = [...typed(one).steps, { messageEnd: true as const }, ...typed(two).steps];
    await answer(world, { afterMs: 0, steps });
    expect(world.shown()).toEqual([`${one}\n\n${two}`]);
  });
});

describe("silence", () => {
  test("is not shown, whatever its form and its pace", async () => {
    for (const text of ["NO_REPLY", "no_reply.", '{"action": "NO_REPLY"}', "**NO_REPLY**\n"]) {
      const world = await started();
      const steps = [...text].flatMap((unit) => [{ text: unit }, { waitMs: 700 }]);
      await answer(world, { afterMs: 0, steps });
      expect([world.sent, world.edited]).toEqual([[], []]);
      expect(world.events("agent_end")).toMatchObject([{ outcome: "silent" }]);
    }
  });

  test("at the end of an answer is taken off it before anybody sees it", async () => {
    const world = await started();
    await answer(world, typed(`${whole} NO_REPLY`, 300));
    expect(world.edited.some(({ text }) => text.includes("NO_"))).toBe(false);
    expect(world.shown()).toEqual([whole]);
  });

  test("chosen by tool after the draft opened leaves what was said until then, complete", async () => {
    const world = await started();
    const steps = [
      ...typed(whole).steps,
      { tool: "skip_response", input: {} },
      ...typed("and more that nobody reads at all").steps,
    ];
    await answer(world, { afterMs: 0, steps });
    expect(world.shown()).toEqual([whole]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
  });
});

describe("a draft whose answer is cut short", () => {
  // A full stop at the end may still belong to a silent token.
  const untilThen = whole.slice(0, -1);

  test("is complete with what was said until the agent failed, which the session knows", async () => {
    const world = await started();
    await answer(world, { afterMs: 0, steps: [...typed(whole).steps, { error: "boom" }] });
    expect(world.sent).toHaveLength(2);
    const [shown, notice] = world.shown();
    expect(shown).toBe(untilThen);
    expect(notice).toContain("Something went wrong");
    expect(await said(world)).toEqual([untilThen]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "failed" }]);
  });

  test("does not show what may still be the silent token when the agent fails", async () => {
    const world = await started();
    const steps = [...typed(`${whole} NO_REP`).steps, { error: "boom" }];
    await answer(world, { afterMs: 0, steps });
    expect(world.shown()[0]).toBe(untilThen);
    expect(await said(world)).toEqual([untilThen]);
  });

  test("that the room never saw is not sent after a stop", async () => {
    const world = await started({
      config: { ...draft, messages: { queue: { mode: "interrupt" } } },
    });
    world.ready = false;
    world.runs.push(typed(whole, 500));
    await world.say("go", { direct: true });
    await world.pass(8_000);
    await world.say("no, wait", { direct: true });
    await world.pass(5_000);
    world.ready = true;
    world.runtime.connectionChanged("telegram", "default");
    await world.pass(60_000);
    expect(await said(world)).toEqual(["ok"]);
  });

  test("is complete with what was said until it was stopped, and is edited no more", async () => {
    const world = await started({
      config: { ...draft, messages: { queue: { mode: "interrupt" } } },
    });
    world.runs.push(typed(whole, 500));
    await world.say("go", { direct: true });
    await world.pass(8_000);
    const before = world.edited.length;
    await world.say("no, wait", { direct: true });
    await world.pass(60_000);
    expect(world.edited.length).toBeLessThanOrEqual(before + 2);
    const [shown = "", ...next] = world.shown();
    expect(whole.startsWith(shown)).toBe(true);
    expect(next).toEqual(["ok"]);
    expect(await said(world)).toEqual([shown, "ok"]);
    expect(world.events("agent_end")).toMatchObject([
      { outcome: "cancelled" },
      { outcome: "replied" },
    ]);
  });
});

describe("a crash", () => {
  test("before the last edit repeats the edit and nothing else", async () => {
    const store = createTestStore();
    const world = await started({ store });
    world.runs.push(typed(whole));
    await world.say("go", { direct: true });
    await world.pass(3_000);
    world.ready = false;
    await world.pass(60_000);
    expect(world.shown()).not.toEqual([whole]);
    await world.restart();
    world.ready = true;
    world.runtime.connectionChanged("telegram", "default");
    await world.pass(10_000);
    expect(world.sent).toHaveLength(1);
    expect(world.shown()).toEqual([whole]);
  });

  test("while the last edit is under way edits again", async () => {
    const world = await started();
    world.runs.push(typed(whole));
    await world.say("go", { direct: true });
    await world.pass(7_000);
    world.fates.push("hang");
    await world.pass(900);
    world.fates.push("hang");
    await world.pass(2_000);
    await world.restart();
    await world.pass(30_000);
    expect(world.sent).toHaveLength(1);
    expect(world.shown()).toEqual([whole]);
    expect(world.sends().at(-1)).toMatchObject({ status: "sent", text: whole });
  });

  test("while the draft waits sends the whole answer once, as a message", async () => {
    const world = await started();
    world.ready = false;
    world.runs.push(typed(whole));
    await world.say("go", { direct: true });
    await world.pass(60_000);
    await world.restart();
    world.ready = true;
    world.runtime.connectionChanged("telegram", "default");
    await world.pass(10_000);
    expect(world.sent.map(({ text }) => text)).toEqual([whole]);
    expect(world.edited).toEqual([]);
  });
});

describe("what happens to the draft's message", () => {
  test("never sent: the whole answer is a message of its own, without the draft before it", async () => {
    const world = await started();
    world.ready = false;
    world.runs.push(typed(whole));
    await world.say("go", { direct: true });
    await world.pass(60_000);
    world.ready = true;
    world.runtime.connectionChanged("telegram", "default");
    await world.pass(10_000);
    expect(world.shown()).toEqual([whole]);
    expect(world.sent).toHaveLength(1);
    expect(world.sends().map(({ status }) => status)).toEqual(["dead", "sent"]);
  });

  test("in doubt: it is not sent again, it is marked, and the whole answer follows", async () => {
    const world = await started();
    world.fates.push("odd");
    await answer(world, typed(whole));
    expect(world.sent.map(({ text }) => text)).toEqual([whole]);
    expect(world.sends().map(({ status }) => status)).toEqual(["in-doubt", "dead", "sent"]);
  });

  test("removed by somebody: the whole answer is sent as a message", async () => {
    const world = await started();
    world.fates.push("ok", "refuse", "refuse");
    await answer(world, typed(whole));
    expect(world.sent.at(-1)?.text).toBe(whole);
    expect(world.sent).toHaveLength(2);
    expect(world.sends().at(-1)).toMatchObject({ status: "sent", text: whole });
  });
});

describe("whatever the platform does", () => {
  const fate = fc.constantFrom<Fate>("ok", "ok", "429", "fail", "refuse", "odd", "hang");
  property([fc.array(fate, { maxLength: 8 }), fc.integer({ min: 20, max: 400 })], {
    numRuns: rounds(7, 60),
  })(
    "the whole answer is shown once or known not to be, and nothing goes on",
    async (fates, pace) => {
      const world = await started();
      world.fates.push(...fates);
      await answer(world, typed(whole, pace), 1_200_000);
      const last = world
        .sends()
        .findLast(({ text, draft }) => text === whole && draft === undefined);
      const times = world.shown().filter((text) => text === whole).length;
      if (last?.status === "sent") expect(times).toBe(1);
      else
        expect([times, last?.status]).toEqual([
          0,
          expect.stringMatching(/^(dead|in-doubt|expired)$/),
        ]);
      for (const text of world.shown()) expect(whole.startsWith(text)).toBe(true);
      expect(world.events("agent_end")).toHaveLength(1);
      const { pending, sending, waiting } = world.runtime.status().outbox;
      expect([pending ?? 0, sending ?? 0, waiting ?? 0]).toEqual([0, 0, 0]);
      expect(world.clock.nextDue()).toBeNull();
    },
  );

  property([fc.array(fate, { maxLength: 4 }), fc.nat(8_000), fc.integer({ min: 20, max: 200 })], {
    numRuns: rounds(7, 60),
  })(
    "and whenever the process ends, the whole answer is never there twice",
    async (fates, ms, pace) => {
      const world = await started();
      world.fates.push(...fates);
      // The turn may be tried again.
      world.runs.push(typed(whole, pace), typed(whole, pace));
      await world.say("go", { direct: true });
      await world.pass(ms);
      await world.restart();
      await world.pass(1_200_000);
      expect(world.shown().filter((text) => text === whole).length).toBeLessThanOrEqual(1);
      for (const text of world.shown())
        expect(whole.startsWith(text) || text.startsWith("Something went wrong")).toBe(true);
      expect(world.events("agent_end")).toHaveLength(1);
      const { pending, sending, waiting } = world.runtime.status().outbox;
      expect([pending ?? 0, sending ?? 0, waiting ?? 0]).toEqual([0, 0, 0]);
      expect(world.clock.nextDue()).toBeNull();
    },
  );
});
