/**
 * A transcript that is extended turn by turn is the one that is made of all its lines at once, and it
 * crosses to a worker whole.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { packJob, unpackJob } from "../../../src/actors/protocol/batch-encoding.ts";
import type { TurnJob } from "../../../src/actors/protocol/host-link.ts";
import { createTranscriptsSoFar } from "../../../src/actors/sessions/transcript-so-far.ts";
import { entriesOf, estimateEntries } from "../../../src/actors/sessions/transcript-view.ts";
import type { TranscriptEntry } from "../../../src/domain/ports/index.ts";
import type { TranscriptLine } from "../../../src/domain/session.ts";
import { anyCharacter, property } from "../../support/property.ts";

const turns = fc.array(
  fc.record({
    said: fc.array(
      fc.record({
        role: fc.constantFrom("user", "assistant", "note"),
        who: fc.constantFrom("ann", "ann", "ann", "bob"),
        text: fc.string({ unit: anyCharacter, maxLength: 12 }),
        part: fc.nat({ max: 2 }),
        unsent: fc.boolean(),
      }),
      { maxLength: 4 },
    ),
    /** How many lines a summary before this turn leaves out. */
    covers: fc.option(fc.nat({ max: 9 })),
    session: fc.constantFrom("s1", "s2"),
    named: fc.boolean(),
    now: fc.constantFrom("ann", "bob"),
  }),
  { maxLength: 8 },
);

const crossed = (transcript: readonly TranscriptEntry[]) => {
  const job = { order: { turnId: "t", transcript } } as unknown as TurnJob;
  return unpackJob(structuredClone(packJob(job, 0))).order.transcript;
};

property([turns, fc.constantFrom(0, 1_500, 1_000_000)])(
  "a transcript extended turn by turn is the one made of all lines",
  (all, bytesMax) => {
    const views = createTranscriptsSoFar(1 + bytesMax);
    const pasts = new Map<string, { mark: TranscriptLine | null; lines: TranscriptLine[] }>();
    let id = 0;
    for (const [n, { said, covers, session, named, now }] of all.entries()) {
      const past = pasts.get(session) ?? { mark: null, lines: [] };
      const turn = { sessionId: session, turnId: `t${n}` };
      for (const { role, who, text, part, unsent } of said) {
        id += 1;
        const line = { ...turn, id, at: id, role, text } as const;
        if (role === "user") past.lines.push({ ...line, author: { id: who, name: who } });
        else if (role === "assistant") past.lines.push({ ...line, part });
        else if (unsent) past.lines.push({ ...line, unsent: [{ part, status: "dead" }] });
        else past.lines.push(line);
      }
      if (covers !== null) {
        id += 1;
        past.mark = { ...turn, id, at: id, role: "summary", text: "before", covers: id };
        past.lines = past.lines.slice(covers);
      }
      pasts.set(session, past);
      const authors = past.lines.flatMap(({ author }) => author?.id ?? []);
      const isNamed = named || new Set([...authors, now]).size > 1;
      const whole = past.mark === null ? past.lines : [past.mark, ...past.lines];
      const expected = entriesOf(whole, { named: isNamed });
      const soFar = views.of(session, { ...past, lines: [...past.lines] }, named, [now]);
      expect(soFar.entries).toEqual(expected);
      expect(soFar.named).toBe(isNamed);
      expect(soFar.tokens).toBe(estimateEntries(expected));
      expect(crossed(soFar.entries)).toEqual(expected);
    }
  },
);
