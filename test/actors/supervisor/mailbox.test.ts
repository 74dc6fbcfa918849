/** The mailbox and the choice of a host: order inside a conversation, fairness between them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HostEntry } from "../../../src/actors/protocol/host-protocol.ts";
import { Mailbox } from "../../../src/actors/supervisor/mailbox.ts";
import { ownerOf } from "../../../src/actors/supervisor/rendezvous-hash.ts";
import { hash52 } from "../../../src/domain/key.ts";

const entry = (conv: number, seq: number): HostEntry => ({
  conv,
  key: `k${conv}`,
  seq,
  cfg: 1,
  event: { type: "host.recovered", at: 0 },
});

const ops = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        op: fc.constant("push" as const),
        conv: fc.integer({ min: 1, max: 4 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        op: fc.constant("take" as const),
        max: fc.integer({ min: 1, max: 10 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("putBack" as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        op: fc.constant("hold" as const),
        conv: fc.integer({ min: 1, max: 4 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        op: fc.constant("release" as const),
        conv: fc.integer({ min: 1, max: 4 }),
      }),
    },
  ),
  { maxLength: 80 },
);

describe("the mailbox", () => {
  test("keeps each conversation's order and loses nothing, whatever is put back or held", () => {
    fc.assert(
      fc.property(ops, (steps) => {
        const box = new Mailbox();
        const done: HostEntry[] = [];
        let out: HostEntry[] = [];
        let seq = 0;
        const confirm = () => {
          done.push(...out);
          out = [];
        };
        for (const step of steps) {
          if (step.op === "push") {
            seq += 1;
            box.push(entry(step.conv, seq));
          } else if (step.op === "take") {
            confirm();
            out = box.take(step.max);
            expect(out.length).toBeLessThanOrEqual(step.max);
          } else if (step.op === "putBack") {
            box.putBack(out);
            out = [];
          } else if (step.op === "hold") box.hold(step.conv);
          else box.release(step.conv);
        }
        confirm();
        done.push(...box.drain());
        expect(box.size).toBe(0);
        expect(done.map((one) => one.seq).sort((a, b) => a - b)).toEqual(
          Array.from({ length: seq }, (_, n) => n + 1),
        );
        for (const conv of [1, 2, 3, 4]) {
          const own = done.filter((one) => one.conv === conv).map((one) => one.seq);
          expect(own).toEqual([...own].sort((a, b) => a - b));
        }
      }),
    );
  });

  test("gives a quiet conversation its turn although a hot one has ten thousand waiting", () => {
    const box = new Mailbox();
    for (let seq = 1; seq <= 10_000; seq += 1) box.push(entry(1, seq));
    box.push(entry(2, 10_001));
    expect(box.take(64).some(({ conv }) => conv === 2)).toBe(true);
  });

  test("fills a batch from a hot conversation when nobody else waits", () => {
    const box = new Mailbox();
    for (let seq = 1; seq <= 100; seq += 1) box.push(entry(1, seq));
    expect(box.take(64).map(({ seq }) => seq)).toEqual(Array.from({ length: 64 }, (_, n) => n + 1));
  });
});

describe("the owner of a conversation", () => {
  const convs = Array.from({ length: 4_000 }, (_, n) => hash52(`agent:main:irc:group:room${n}`));

  test("does not depend on the order of the hosts", () => {
    for (const conv of convs.slice(0, 200))
      expect(ownerOf(conv, [2, 0, 1])).toBe(ownerOf(conv, [0, 1, 2]));
  });

  test("moves only if its own host is taken out", () => {
    for (const conv of convs) {
      const owner = ownerOf(conv, [0, 1, 2, 3]);
      if (owner !== 2) expect(ownerOf(conv, [0, 1, 3])).toBe(owner);
    }
  });

  test("spreads conversations evenly", () => {
    const counts = [0, 0, 0, 0];
    for (const conv of convs) counts[ownerOf(conv, [0, 1, 2, 3])]! += 1;
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});
