/** The journal of long simulations says the same as the plain one, whatever is asked and when. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRows, type Rows } from "../../../src/adapters/stores/memory.rows.ts";
import { createSpilledRows } from "../../../src/adapters/stores/on-disk.ts";
import { hash52 } from "../../../src/domain/key.ts";
import type { EventWrite } from "../../../src/domain/ports/index.ts";

const write = (n: number, at: number, text: string): EventWrite => ({
  kind: "event",
  at,
  eid: hash52(`event ${n}`),
  identity: `event ${n}`,
  conv: 1 + (n % 3),
  key: `agent:main:irc:group:${n % 3}`,
  cfg: 1,
  body: JSON.stringify({ n, text }),
  messageId: n % 2 === 0 ? `m${n}` : null,
});
const ask = (rows: Rows, count: number) => ({
  rows: Array.from({ length: count + 2 }, (_, seq) => rows.get(seq) ?? null),
  messages: rows.ofMessage("m2"),
  seqs: [...rows.seqs()],
});

describe("a journal outside the heap", () => {
  test("is a plain journal in every answer", () => {
    const writes = fc.array(
      fc.tuple(fc.nat(12), fc.nat(1), fc.string({ unit: "grapheme", maxLength: 40 }), fc.boolean()),
      { minLength: 8, maxLength: 60 },
    );
    fc.assert(
      fc.property(writes, (all) => {
        const pair = [createRows(), createSpilledRows()] as const;
        let seq = 0;
        for (const [n, at, text, marks] of all) {
          const [taken, same] = pair.map((rows) => rows.add(seq + 1, write(n, at, text)));
          expect(same).toBe(taken);
          if (taken === true) seq += 1;
          if (marks) expect(pair[1].mark(seq, n)).toBe(pair[0].mark(seq, n));
        }
        expect(ask(pair[1], seq)).toEqual(ask(pair[0], seq));
        for (const rows of pair) rows.close();
      }),
    );
  });

  test("finds what went to the file, and what is as long as a piece of it", () => {
    const rows = createSpilledRows();
    const long = "é".repeat(100_000);
    const texts = Array.from({ length: 400 }, (_, n) => `${n} ${long}`);
    const huge = "x".repeat(400_000);
    for (const [n, text] of [...texts, huge].entries()) rows.add(n + 1, write(n, 0, text));
    const read = (seq: number) =>
      (JSON.parse(rows.get(seq)?.body ?? "{}") as { text: string }).text;
    for (const seq of [1, 2, 150, 399, 400]) expect(read(seq)).toBe(texts[seq - 1]);
    expect(read(401)).toBe(huge);
    rows.close();
  });

  test("knows, marks and recognises rows whose numbers went to the file as well", () => {
    const rows = createSpilledRows();
    const count = 300_000;
    const base = write(0, 0, "");
    const nth = (n: number): EventWrite => ({ ...base, eid: n, at: n * 20, body: `{"n":${n}}` });
    for (let n = 1; n <= count; n += 1) rows.add(n, nth(n));
    for (const n of [1, 16_384, 16_385, 30_000, 200_000, count]) {
      expect(rows.add(count + 1, nth(n))).toBe(false);
      expect(rows.get(n)).toMatchObject({ seq: n, at: n * 20, body: `{"n":${n}}`, code: null });
      expect(rows.mark(n, 7)).toBe(true);
      expect(rows.mark(n, 8)).toBe(false);
      expect(rows.get(n)?.code).toBe(7);
    }
    expect(rows.add(count + 1, nth(count + 1))).toBe(true);
    expect(rows.get(2)).toMatchObject({ seq: 2, code: null });
    rows.close();
  });

  test("recognises every one of many identities, and takes every new one", () => {
    const rows = createSpilledRows();
    for (let n = 0; n < 20_000; n += 1) expect(rows.add(n + 1, write(n, 0, ""))).toBe(true);
    for (let n = 0; n < 20_000; n += 997) expect(rows.add(20_001, write(n, 0, ""))).toBe(false);
    rows.close();
  });
});
