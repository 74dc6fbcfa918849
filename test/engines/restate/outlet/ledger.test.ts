/**
 * Calls that wait at an outlet, over any order of what callers and holders do, with holders that die, stand still
 * and wake up: no caller learns that a call was not made which was, and every caller learns something in the end.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Known,
  type Ledger,
  put,
  settle,
  take,
  withdraw,
} from "../../../../src/engines/restate/outlet/ledger.ts";
import type { Result } from "../../../../src/engines/restate/outlet/wire.ts";
import { property } from "../../../support/property.ts";

const max = 4;
const done = (attempt: string): Result => ({ kind: "done", messageIds: [attempt] });
const codeOf = (result: Result) => (result.kind === "done" ? "done" : result.code);

/** A holder as it is in a process: what it has taken and made. */
interface Holder {
  readonly epoch: number;
  /** Taken and not settled. */
  readonly has: Set<string>;
  readonly made: Set<string>;
}

function rig() {
  let ledger: Ledger = [];
  const answered = new Map<string, Result>();
  const made = new Set<string>();
  const learn = (next: { readonly ledger: Ledger; readonly known: readonly Known[] }) => {
    ledger = next.ledger;
    for (const { attempt, result } of next.known) {
      expect(answered.has(attempt), `${attempt} is answered once`).toBe(false);
      answered.set(attempt, result);
    }
  };
  return {
    answered,
    made,
    ledger: () => ledger,
    put: (attempt: string) => learn(put(ledger, { attempt, awakeable: `wake-${attempt}` }, max)),
    withdraw: (attempt: string) => learn(withdraw(ledger, attempt)),
    take(holder: Holder, room: number, isHeard = true) {
      const taken = take(ledger, { epoch: holder.epoch, has: [...holder.has], room });
      learn(taken);
      if (isHeard) for (const attempt of taken.given) holder.has.add(attempt);
      return taken.given;
    },
    make(holder: Holder) {
      for (const attempt of holder.has) {
        expect(made.has(attempt), `${attempt} is made once`).toBe(false);
        made.add(attempt);
        holder.made.add(attempt);
      }
    },
    settle(holder: Holder, results: ReadonlyMap<string, Result | null>) {
      learn(settle(ledger, holder.epoch, results));
      for (const attempt of results.keys()) holder.has.delete(attempt);
    },
  };
}

const act = fc.record({
  what: fc.constantFrom("put", "withdraw", "take", "take lost", "make", "settle", "next", "old"),
  call: fc.nat({ max: 9 }),
  room: fc.nat({ max: 3 }),
});

describe("calls at an outlet", () => {
  property([fc.array(act, { maxLength: 60 })])(
    "a call is made once, and its caller learns that it was, or that nobody knows",
    (acts) => {
      const outlet = rig();
      const asked = new Set<string>();
      let holder: Holder = { epoch: 1, has: new Set(), made: new Set() };
      const older: Holder[] = [];
      for (const { what, call, room } of acts) {
        const attempt = `call-${call}`;
        if (what === "put" && !asked.has(attempt)) {
          asked.add(attempt);
          outlet.put(attempt);
        } else if (what === "withdraw") outlet.withdraw(attempt);
        else if (what === "take") outlet.take(holder, room);
        else if (what === "take lost") outlet.take(holder, room, false);
        else if (what === "make") {
          outlet.make({
            ...holder,
            has: new Set([...holder.has].filter((one) => !holder.made.has(one))),
          });
          for (const one of holder.has) holder.made.add(one);
        } else if (what === "settle") {
          const results = [...holder.has].map(
            (one) => [one, holder.made.has(one) ? done(one) : null] as const,
          );
          outlet.settle(holder, new Map(results));
        } else if (what === "next") {
          older.push(holder);
          holder = { epoch: holder.epoch + 1, has: new Set(), made: new Set() };
          outlet.take(holder, 0);
        } else {
          // One that was paused wakes up: what it says of its calls comes too late.
          const woken = older.at(-1);
          const results = [...(woken?.has ?? [])].map((one) => [one, done(one)] as const);
          if (woken !== undefined) outlet.settle(woken, new Map(results));
        }
      }
      for (const [attempt, result] of outlet.answered) {
        if (codeOf(result) === "EAR_CHANNEL_UNAVAILABLE")
          expect(outlet.made).not.toContain(attempt);
        if (codeOf(result) === "done") expect(outlet.made).toContain(attempt);
      }
      // Everything else is still there, and a holder that goes on ends it.
      for (;;) {
        const given = outlet.take(holder, max);
        outlet.make({
          ...holder,
          has: new Set([...holder.has].filter((one) => !holder.made.has(one))),
        });
        for (const one of holder.has) holder.made.add(one);
        outlet.settle(holder, new Map([...holder.has].map((one) => [one, done(one)] as const)));
        if (given.length === 0) break;
      }
      expect(outlet.ledger()).toEqual([]);
      expect([...outlet.answered.keys()].toSorted()).toEqual([...asked].toSorted());
    },
  );

  test("what was taken by a holder that is gone is in doubt, and what was not taken goes to the next", () => {
    const outlet = rig();
    for (const attempt of ["a", "b"]) outlet.put(attempt);
    outlet.take({ epoch: 1, has: new Set(), made: new Set() }, 1);
    const next: Holder = { epoch: 2, has: new Set(), made: new Set() };
    expect(outlet.take(next, 1)).toEqual(["b"]);
    expect([...outlet.answered].map(([attempt, result]) => [attempt, codeOf(result)])).toEqual([
      ["a", "EAR_SEND_IN_DOUBT"],
    ]);
  });

  test("what a holder has not begun goes to the next one in its old place", () => {
    const outlet = rig();
    for (const attempt of ["a", "b"]) outlet.put(attempt);
    const first: Holder = { epoch: 1, has: new Set(), made: new Set() };
    outlet.take(first, 1);
    outlet.settle(first, new Map([["a", null]]));
    expect(outlet.take({ epoch: 2, has: new Set(), made: new Set() }, 2)).toEqual(["a", "b"]);
  });

  test("a call that was not taken can be withdrawn, one that was goes on; more than the limit come later", () => {
    const outlet = rig();
    for (const attempt of ["a", "b", "c", "d", "e"]) outlet.put(attempt);
    const holder: Holder = { epoch: 1, has: new Set(), made: new Set() };
    outlet.take(holder, 1);
    for (const attempt of ["a", "b"]) outlet.withdraw(attempt);
    expect([...outlet.answered].map(([attempt, result]) => [attempt, codeOf(result)])).toEqual([
      ["e", "EAR_CHANNEL_UNAVAILABLE"],
      ["b", "EAR_CHANNEL_UNAVAILABLE"],
    ]);
    expect(outlet.ledger().map(({ attempt }) => attempt)).toEqual(["a", "c", "d"]);
  });
});
