/** What a node learns of other nodes about a message that it does not know: within a time, whatever they answer. */
import { describe, expect, test } from "vitest";
import type { Why } from "../../../src/actors/protocol/why.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { createQuestions } from "../../../src/daemon/engine/questions.ts";
import { engineLimits } from "../../../src/domain/ports/engine/engine-limits.ts";
import type { Note } from "../../../src/engines/restate/feed/wire.ts";

const why = {
  message: { id: "m1" },
  at: 1,
  seq: 1,
  key: "agent:main:irc:group:#tea",
  recorded: null,
  explanation: null,
  admission: "not on the list",
  humans: { count: 1, source: "seen" },
  participants: [],
  membership: null,
  credits: {},
  held: [],
  guard: { state: "clear", consecutive: 0 },
  fate: { turnId: null, turn: null, batch: [], outcome: null, dropped: null, deliveries: [] },
} as unknown as Why;

function rig(others: number) {
  const clock = new SimulatedClock(1_000);
  const published: Note[] = [];
  let ids = 0;
  const questions = createQuestions({
    clock,
    log: () => undefined,
    ids: {
      next: () => {
        ids += 1;
        return `question-${ids}`;
      },
    },
    publish: (note) => void published.push(note),
    others: () => others,
  });
  const answer = (body: unknown, id = "question-1") =>
    questions.heard({ kind: "answer", id, body });
  return { clock, published, questions, answer };
}

describe("a question to the other nodes", () => {
  test("is not asked where there is none", async () => {
    const { published, questions } = rig(0);
    expect(await questions.why("m1")).toEqual([]);
    expect(published).toEqual([]);
  });

  test("is over when each has answered; what several say is said once", async () => {
    const { published, questions, answer } = rig(3);
    const asked = questions.why("m1");
    expect(published).toEqual([{ kind: "ask", id: "question-1", body: { why: "m1" } }]);
    answer({ why: [] });
    answer({ why: [why] });
    answer({ why: [why] }, "another question");
    answer({ why: [why] });
    expect(await asked).toEqual([why]);
  });

  test("is over in time with what was answered, where a node says nothing or nonsense", async () => {
    const { clock, questions, answer } = rig(3);
    const asked = questions.why("m1");
    answer({ why: [{ message: "of another form" }] });
    answer({ why: [why] });
    clock.advanceTo(clock.now() + engineLimits.askMsMax);
    expect(await asked).toEqual([why]);
    answer({ why: [why] });
  });

  test("is answered with what is known here, and with nothing where that is too long", async () => {
    const { published, questions } = rig(1);
    questions.heard({ kind: "ask", id: "early", body: { why: "m1" } });
    const known: Record<string, readonly Why[]> = { m1: [why] };
    known.long = [{ ...why, admission: "x".repeat(engineLimits.answerUnitsMax) }];
    questions.serve(async (id) => known[id] ?? []);
    for (const id of ["m1", "long", "unknown"])
      questions.heard({ kind: "ask", id, body: { why: id } });
    questions.heard({ kind: "ask", id: "nonsense", body: 7 });
    await expect
      .poll(() => published)
      .toEqual([
        { kind: "answer", id: "m1", body: { why: [why] } },
        { kind: "answer", id: "long", body: { why: [] } },
        { kind: "answer", id: "unknown", body: { why: [] } },
      ]);
  });
});
