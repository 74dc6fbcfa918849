/** The ladder of one message, walked on its conversation alone, is that of the whole recording. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { tagged } from "../../../src/daemon/events/event-kinds.ts";
import { simulateScenario } from "../../../src/daemon/replay/simulate.ts";
import { linesUpTo, ofConversation } from "../../../src/daemon/what-if/conversation-slice.ts";
import type { Recording } from "../../../src/daemon/what-if/recording.ts";
import type { Decided } from "../../../src/daemon/what-if/worker.ts";
import { scenarioOf } from "../../../src/domain/scenario/read-scenario.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { rounds } from "../../support/rounds.ts";

const config = { agents: { list: [{ id: "main", name: "Scout" }] } };
const said = fc.record({
  wait: fc.constantFrom(1, 400, 500, 2_500, 60_000),
  room: fc.constantFrom("a", "b", "c"),
  who: fc.constantFrom("u1", "u2", "u3"),
  text: fc.constantFrom("hello", "scout, hello", "and you?", "relay, hello"),
  kind: fc.constantFrom("group", "group", "direct"),
});

function recordingOf(lines: readonly unknown[]): Recording {
  const { lines: read, header } = scenarioOf(lines, "test");
  return { name: "test", header, lines: read, messages: [], rooms: 0, judges: new Map() };
}

async function decide(recording: Recording, explain: string | null) {
  const decided: Decided[] = [];
  const why = await simulateScenario(scenarioOf([{ earshot: 1 }, ...recording.lines], "test"), {
    instead: { ...config, access: { dmPolicy: "open", groupPolicy: "open" } },
    explain: explain === null ? false : [explain],
    onLine(line: StreamLine) {
      const { kind, line: event } = tagged(line);
      if (kind === "decision")
        decided.push([event.t, event.id, event.key, event.decision, event.rule]);
    },
  });
  return { decided, why: explain === null ? undefined : why[explain] };
}

test("the ladder of one message, walked on its conversation alone, is that of the whole recording", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 2, maxLength: 16 }), fc.nat(), async (all, at) => {
      let t = 0;
      const lines = all.map(({ wait, room, who, text, kind }, index) => {
        t += wait;
        const chat = { id: kind === "direct" ? who : room, kind };
        return { t, in: { channel: "x", chat, id: `m${index}`, author: { id: who }, text } };
      });
      const recording = recordingOf(lines);
      const n = at % lines.length;
      const { decided } = await decide(recording, null);
      const part = ofConversation(linesUpTo(recording, n), decided);
      expect(part).not.toBeNull();
      const { why } = await decide({ ...recording, lines: part ?? [] }, `m${n}`);
      const whole = decided.find(([, id]) => id === `m${n}`);
      expect([why?.recorded?.decision, why?.recorded?.rule]).toEqual(whole?.slice(3));
      expect(part?.length).toBeLessThanOrEqual(n + 1);
    }),
    { numRuns: rounds(15, 40) },
  );
});

test("a script without a conversation keeps the recording whole", () => {
  const script = { t: 0, agent: { runs: [{ steps: [{ text: "hi" }] }] } };
  const message = {
    channel: "x",
    chat: { id: "a", kind: "group" },
    id: "m0",
    author: { id: "u" },
    text: "scout?",
  };
  const keyed = { t: 0, agent: { ...script.agent, key: "agent:main:x:group:a" } };
  const other = { t: 0, agent: { ...script.agent, key: "agent:main:x:group:b" } };
  const decided: Decided[] = [[1, "m0", "agent:main:x:group:a", "engage", "alias"]];
  const lines = (first: object) => recordingOf([first, { t: 1, in: message }]).lines;
  expect(ofConversation(lines(script), decided)).toBeNull();
  expect(ofConversation(lines(keyed), decided)).toHaveLength(2);
  expect(ofConversation(lines(other), decided)).toHaveLength(1);
});
