/**
 * Nodes with clocks of their own, that stand still at any moment, over a Restate that is slow, loses answers
 * and calls, and that some of them cannot reach: never two of them run one connection.
 */
import fc from "fast-check";
import { describe, expect } from "vitest";
import { SimulatedClock } from "../../../../src/actors/simulation/simulated-clock.ts";
import type { Clock, Lease } from "../../../../src/domain/ports/index.ts";
import {
  createNodeLeases,
  type NodeLeases,
} from "../../../../src/engines/restate/leases/connection-leases.ts";
import { beaten, emptyTable } from "../../../../src/engines/restate/leases/table.ts";
import { beatSchema, type LeaseTable } from "../../../../src/engines/restate/leases/wire.ts";
import { property } from "../../../support/property.ts";
import { rounds } from "../../../support/rounds.ts";

/** What a channel may take to disconnect, ms. */
const disconnectMs = 2_000;

/** A process: its clock, and work that waits while it stands still. */
function openProcess(time: SimulatedClock, rate: number, ahead: number) {
  let late: (() => void)[] | null = null;
  const run = (work: () => void) => (late === null ? work() : void late.push(work));
  const timer = (ms: number, fire: () => void) =>
    time.setTimer(time.now() + Math.max(0, ms) / rate, () => run(fire));
  let stoodAt = Number.NEGATIVE_INFINITY;
  const clock: Clock = {
    now: () => time.now() * rate + ahead,
    monotonic: () => time.monotonic() * rate,
    setTimer: (at, fire) => timer(at - clock.now(), fire),
    setLimit: timer,
    clearTimer: (one) => time.clearTimer(one),
  };
  return {
    clock,
    run,
    isStanding: () => late !== null,
    /** Lately. */
    hasStood: () => time.now() < stoodAt + 15_000,
    stand: () => {
      late ??= [];
    },
    goOn: () => {
      const waiting = late ?? [];
      late = null;
      stoodAt = time.now();
      for (const work of waiting) work();
    },
  };
}

interface Fate {
  readonly there: number;
  readonly back: number;
  /** The call does not come there, or its answer not back. */
  readonly lost: "call" | "answer" | "none";
}

function openRestate(time: SimulatedClock, fates: readonly Fate[]) {
  let table: LeaseTable = emptyTable;
  let calls = 0;
  /** Nodes that cannot reach it. */
  const cut = new Set<number>();
  let isCalm = false;
  const waiters: (() => void)[] = [];
  const handle = (path: string, input: object): Promise<unknown> => {
    if (path.endsWith("/beat")) {
      const before = table.version;
      table = beaten(table, beatSchema.parse(input));
      if (table.version !== before) for (const wake of waiters.splice(0)) wake();
      return Promise.resolve(structuredClone(table));
    }
    if ((input as { version: number }).version !== table.version)
      return Promise.resolve(table.version);
    return new Promise((resolve) => waiters.push(() => resolve(table.version)));
  };
  return {
    cut,
    /** From now on every call is answered at once. */
    calm: () => {
      cut.clear();
      isCalm = true;
    },
    callFrom:
      (node: ReturnType<typeof openProcess>, place: number) =>
      (path: string, input: object = {}) =>
        new Promise<unknown>((resolve, reject) => {
          const fate = isCalm || fates.length === 0 ? null : (fates[calls % fates.length] as Fate);
          calls += 1;
          if (cut.has(place)) return reject(new Error("there is no connection"));
          const { there = 1, back = 1, lost = "none" } = fate ?? {};
          if (lost === "call") return;
          time.setTimer(time.now() + there, () => {
            void handle(path, input).then((answer) => {
              if (lost === "none")
                time.setTimer(time.now() + back, () => node.run(() => resolve(answer)));
            });
          });
        }),
  };
}

/**
 * A connection as the runtime has it: it ends some time after its lease is lost. One whose process stood still
 * meanwhile cannot end in time; of that one only what it sends counts.
 */
function openConnection(
  time: SimulatedClock,
  leases: NodeLeases,
  account: string,
  { hasStood }: { readonly hasStood: () => boolean },
) {
  let lease: Lease | null = null;
  let openUntil = 0;
  let holder: string | null = null;
  const wanted = leases.want("telegram", account, {
    onHeld: (given) => {
      lease = given;
    },
    onLost: () => {
      lease = null;
      openUntil = hasStood() ? 0 : time.now() + disconnectMs;
    },
    onHolder: (of) => {
      holder = of?.node ?? null;
    },
  });
  return {
    stop: () => {
      lease = null;
      return wanted.giveBack();
    },
    isOpen: () => lease !== null || time.now() < openUntil,
    maySend: () => lease?.isValid() === true,
    holder: () => holder,
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

async function advance(time: SimulatedClock, ms: number, look: () => void): Promise<void> {
  const end = time.now() + ms;
  for (;;) {
    await settled();
    look();
    const due = time.nextDue();
    if (due === null || due > end) break;
    time.fireNext(end);
  }
  time.moveTo(end);
}

const fate: fc.Arbitrary<Fate> = fc.record({
  there: fc.oneof(fc.constant(2), fc.nat({ max: 9_000 })),
  back: fc.oneof(fc.constant(2), fc.nat({ max: 9_000 })),
  lost: fc.constantFrom("none", "none", "none", "call", "answer"),
});
const act = fc.record({
  ms: fc.integer({ min: 1, max: 15_000 }),
  what: fc.constantFrom("stand", "go on", "down", "up", "leave"),
  node: fc.nat({ max: 2 }),
});
const clockOf = fc.record({
  rate: fc.double({ min: 0.98, max: 1.02, noNaN: true }),
  ahead: fc.integer({ min: -3_600_000, max: 3_600_000 }),
});

describe("a connection that may exist once only", () => {
  property([fc.array(clockOf, { minLength: 2, maxLength: 3 }), fc.array(fate), fc.array(act)], {
    numRuns: rounds(30, 2_000),
  })("is run by one node at a time, and by one in the end", async (clocks, fates, acts) => {
    const time = new SimulatedClock(1_000_000);
    const restate = openRestate(time, fates);
    const nodes = clocks.map(({ rate, ahead }, place) => {
      const process = openProcess(time, rate, ahead);
      const leases = createNodeLeases({
        node: `node-${place}`,
        boot: `boot-${place}`,
        call: restate.callFrom(process, place),
        clock: process.clock,
        log: () => undefined,
      });
      return {
        process,
        leases,
        connection: openConnection(time, leases, "bot", process),
        hasLeft: false,
      };
    });
    const look = () => {
      const awake = nodes.filter(({ process }) => !process.isStanding());
      const open = awake.filter(({ connection }) => connection.isOpen());
      expect(open.length).toBeLessThanOrEqual(1);
      expect(awake.filter(({ connection }) => connection.maySend()).length).toBeLessThanOrEqual(1);
    };
    for (const { ms, what, node: place } of acts) {
      const node = nodes[place % nodes.length];
      if (node === undefined) continue;
      if (what === "stand") node.process.stand();
      else if (what === "go on") node.process.goOn();
      else if (what === "leave" && !node.hasLeft && !node.process.isStanding()) {
        node.hasLeft = true;
        void node.connection.stop().then(() => node.leases.close());
      } else if (what === "up") restate.cut.delete(nodes.indexOf(node));
      else if (what === "down") restate.cut.add(nodes.indexOf(node));
      await advance(time, ms, look);
    }
    restate.calm();
    for (const { process } of nodes) process.goOn();
    await advance(time, 60_000, look);
    const left = nodes.filter(({ hasLeft }) => !hasLeft);
    const holders = left.filter(({ connection }) => connection.maySend());
    expect(holders.length).toBe(Math.min(1, left.length));
    for (const one of left)
      if (!holders.includes(one))
        expect(one.connection.holder()).toBe(`node-${nodes.indexOf(holders[0] as typeof one)}`);
    await Promise.all([
      ...nodes.map(({ leases }) => leases.close()),
      advance(time, 120_000, () => undefined),
    ]);
  });
});
