/** Limits on the silence of others, in a process that stands still at times. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { runTimeLimit } from "../../../src/adapters/system/time-limit.ts";
import { property } from "../../support/property.ts";

interface Ran {
  /** How long the process ran until the limit ended, and how long it stood still, ms. */
  readonly ranMs: number;
  readonly frozenMs: number;
  /** Between the end of the last freeze and the end of the limit. */
  readonly awakeMs: number;
}

/** Runs a limit in a process that stands still at these moments of its own time. */
function run(ms: number, freezes: readonly { at: number; ms: number }[]): Ran {
  let ran = 0;
  let frozen = 0;
  let awakeSince = 0;
  let over = false;
  let next: { due: number; fire: () => void } | null = null;
  const left = [...freezes].sort((a, b) => a.at - b.at);
  const monotonic = () => ran + frozen;
  const arm = (wait: number, fire: () => void) => {
    next = { due: monotonic() + wait, fire };
  };
  runTimeLimit({ monotonic, cpu: () => 0, arm }, ms, () => {
    over = true;
  });
  while (!over && next !== null) {
    const { due, fire }: { due: number; fire: () => void } = next;
    next = null;
    const freeze = left[0];
    if (freeze !== undefined && freeze.at <= ran + Math.max(0, due - monotonic())) {
      left.shift();
      ran = Math.max(ran, freeze.at);
      frozen += freeze.ms;
      awakeSince = ran;
    }
    ran += Math.max(0, due - monotonic());
    if (monotonic() >= due) fire();
    else next = { due, fire };
  }
  return { ranMs: ran, frozenMs: frozen, awakeMs: ran - awakeSince };
}

const freezesArbitrary = fc.uniqueArray(
  fc.record({ at: fc.nat(60_000), ms: fc.integer({ min: 1_501, max: 3_600_000 }) }),
  { maxLength: 5, selector: ({ at }) => Math.floor(at / 1_001) },
);

/** Longer than the 1 ms that a late look counts at least, so that every limit ends, for each freeze. */
const limitMs = fc.integer({ min: 10, max: 30_000 });

property([limitMs, freezesArbitrary], { examples: [[10, [{ at: 0, ms: 1_501 }]]] })(
  "a limit gives its whole time, whenever and for how long the process stands still",
  (ms, freezes) => {
    const { ranMs } = run(ms, freezes);
    expect(ranMs).toBeGreaterThanOrEqual(ms - freezes.length);
    expect(ranMs).toBeLessThanOrEqual(ms + freezes.length * 1_001);
  },
);

property([limitMs, freezesArbitrary])(
  "what arrived while the process stood still is read before the limit ends",
  (ms, freezes) => {
    const { frozenMs, awakeMs } = run(ms, freezes);
    if (frozenMs > 0) expect(awakeMs).toBeGreaterThan(0);
  },
);

test("a limit ends after its time, and one that is cleared does not", async () => {
  const clock = createSystemClock();
  const since = performance.now();
  let cleared = false;
  const off = clock.setLimit(1_150, () => {
    cleared = true;
  });
  await new Promise<void>((done) => {
    clock.setLimit(1_100, done);
  });
  clock.clearTimer(off);
  expect(performance.now() - since).toBeGreaterThan(1_090);
  await new Promise((done) => setTimeout(done, 150));
  expect(cleared).toBe(false);
});

property([fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 501, max: 5_000 })])(
  "a limit ends also where every look is late",
  (ms, lateMs) => {
    let at = 0;
    let looks = 0;
    let due: (() => void) | null = null;
    const arm = (wait: number, fire: () => void) => {
      due = () => {
        at += wait + lateMs;
        fire();
      };
    };
    const cpu = () => at / 100;
    let over = false;
    runTimeLimit({ monotonic: () => at, cpu, arm }, ms, () => {
      over = true;
    });
    while (!over && looks < 10_000) {
      looks += 1;
      (due as (() => void) | null)?.();
    }
    expect(over).toBe(true);
  },
);
