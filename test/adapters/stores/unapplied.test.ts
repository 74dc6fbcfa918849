/**
 * Events that are not applied are found in any part of a journal, also where nearly all of it is applied and
 * only the marks are counted.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { openKeptStore, openTemporaryStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { type EventWrite, noConversation } from "../../../src/domain/ports/index.ts";
import { property } from "../../support/property.ts";

/** Whether an event is marked with it, marked later, or not at all; and how far its number is from the one before. */
const rows = fc.array(
  fc.record({
    mark: fc.constantFrom("with", "later", "later", "later", "never"),
    gap: fc.constantFrom(1, 1, 1, 1, 7),
    isNowhere: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
);
const part = fc.tuple(fc.nat(1_000), fc.nat(1_000));

property([rows, fc.boolean(), part])(
  "what is not applied is found, whatever is applied beside it, and nothing else",
  async (given, hasGaps, [one, other]) => {
    let last = 0;
    let place = 0;
    const numbers = { next: () => (last += given[place++]?.gap ?? 1) };
    const store = hasGaps ? openKeptStore([], numbers) : openTemporaryStore();
    const unmarked: number[] = [];
    let lastSeq = 0;
    for (const [n, { mark, isNowhere }] of given.entries()) {
      const isMarked = mark === "with" || isNowhere;
      const event: EventWrite = {
        kind: "event",
        at: 1,
        eid: n,
        identity: `e${n}`,
        cfg: 1,
        body: "{}",
        messageId: null,
        conv: isNowhere ? noConversation : 1 + (n % 3),
        key: isNowhere ? "" : `k${n % 3}`,
        ...(isMarked ? { code: 1 } : {}),
      };
      const [seq = 0] = await store.commit([event]);
      lastSeq = seq;
      if (!isMarked && mark === "later") await store.commit([{ kind: "applied", seq, code: 2 }]);
      else if (!isMarked) unmarked.push(seq);
    }
    const [from = 0, to = 0] = [one % (lastSeq + 1), other % (lastSeq + 1)].sort((a, b) => a - b);
    const found = async (after: number, upTo: number) =>
      (await store.unapplied(after, upTo)).map(({ seq }) => seq);
    expect(await found(from, to)).toEqual(unmarked.filter((seq) => seq > from && seq <= to));
    expect(await found(0, Number.MAX_SAFE_INTEGER)).toEqual(unmarked);
    await store.close();
  },
);
