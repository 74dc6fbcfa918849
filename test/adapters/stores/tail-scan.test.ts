/**
 * What a start finds of the events without a record is the same, whenever somebody first asks for it
 * and whatever is committed while it is read.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createTailScan } from "../../../src/adapters/stores/tail-scan.ts";
import { createTails } from "../../../src/adapters/stores/unsnapshotted-events.ts";
import type { StoreWrite } from "../../../src/domain/ports/index.ts";
import { property } from "../../support/property.ts";

const folder = mkdtempSync(join(tmpdir(), "earshot-tails-"));
chmodSync(folder, 0o700);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const convs = 4;
const rows = 8_000;
/** Slices of a scan of that many rows. */
const slices = 4;

interface Change {
  readonly slice: number;
  readonly conv: number;
  /** Null: an event; else a record up to this part of the journal. */
  readonly upTo: number | null;
}
const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    slice: fc.nat(slices),
    conv: fc.nat(convs - 1),
    upTo: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  }),
  { maxLength: 12 },
);

property([changes])("events and records of any moment of the scan are in its result", (story) => {
  const tails = createTails();
  /** The journal: the conversation of each number. Every second row is of none. */
  const journal = Array.from({ length: rows }, (_, n) => (n % 2 === 0 ? n % convs : -1));
  const records = new Map<number, number>();
  const covered = new Map<number, number>();
  let slice = 0;
  const change = () => {
    for (const { conv, upTo } of story.filter((one) => one.slice === slice))
      if (upTo === null) tails.push(conv, journal.push(conv));
      else {
        const recordSeq = Math.max(records.get(conv) ?? 0, Math.floor(upTo * journal.length));
        records.set(conv, recordSeq);
        tails.cover(conv, recordSeq);
        covered.set(conv, recordSeq);
      }
    slice += 1;
  };
  const open = (conv: number, seq: number) => conv >= 0 && seq > (records.get(conv) ?? 0);
  const scan = createTailScan({
    tails,
    uncovered(from, to) {
      const found = journal
        .slice(from, to)
        .flatMap((conv, n) => (open(conv, from + n + 1) ? [{ conv, seq: from + n + 1 }] : []));
      change();
      const joined = (of: "conv" | "seq") => found.map((one) => one[of]).join(",") || null;
      return { convs: joined("conv"), seqs: joined("seq") };
    },
    next: (seq) => (seq < journal.length ? seq : Number.POSITIVE_INFINITY),
    checked: () => 0,
    last: rows,
    covered,
    onEnd: () => covered.clear(),
    isClosed: () => false,
    yields: false,
  });
  void scan.done();
  while (slice <= slices) change();
  for (let conv = 0; conv < convs; conv += 1)
    expect(tails.after(conv, 0)).toEqual(
      journal.flatMap((of, n) => (of === conv && open(conv, n + 1) ? [n + 1] : [])),
    );
});

test("a store that is closed while it reads refuses to say how far records reach", async () => {
  const path = join(folder, "closed.db");
  const event = (n: number): StoreWrite => ({
    kind: "event",
    eid: n,
    conv: 1 + (n % 7),
    key: `k${n % 7}`,
    at: n,
    cfg: 1,
    identity: `i${n}`,
    messageId: null,
    body: "{}",
    code: 1,
  });
  const before = await openSqliteStore({ path });
  await before.commit(Array.from({ length: 6_000 }, (_, n) => event(n)));
  await before.close();
  const after = await openSqliteStore({ path });
  const asked = after.lowWater();
  const closed = after.close();
  await expect(asked).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
  await closed;
  const again = await openSqliteStore({ path });
  expect(await again.lowWater()).toBe(0);
  expect(again.dirtySize()).toBe(7);
  await again.close();
});
