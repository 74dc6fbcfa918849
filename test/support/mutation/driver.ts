/**
 * The tests of a mutation run, kept loaded
 * ========================================
 * Starting Vitest for each mutant costs a second; the tests that notice one cost milliseconds.
 * So they are all collected here once, as the suites of this one file, and its first test runs them
 * again and again, each time with the mutant that scripts/mutation/runner.mjs asks for.
 */
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, inject, type RunnerTask, type RunnerTestCase, test } from "vitest";
import { getFn } from "vitest/suite";

declare module "vitest" {
  interface ProvidedContext {
    /** The channel to the runner, and the test files. Null outside a mutation run. */
    readonly mutation: { readonly channel: string; readonly files: readonly string[] } | null;
  }
}

interface Order {
  /** The tests to run, in this order. */
  readonly ids: readonly string[];
  /** The mutant that is active; undefined: none, and what each test covers is counted. */
  readonly mutant?: string;
  /** How often the mutant may run before it counts as endless. */
  readonly hitLimit?: number;
}

interface Outcome {
  readonly id: string;
  /** Of processor time, as the machine may be busy. */
  readonly ms: number;
  readonly error?: string;
}

/** What the instrumented sources read: Stryker's own names. */
interface Switches {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: unknown;
}

const { channel: name, files } = inject("mutation") ?? { channel: "", files: [] };
const switches: Switches = {};
Object.assign(globalThis, { __stryker__: switches });
// The least values that break a property help a reader, and nobody reads these.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });

/**
 * Left out: costs of growth are measured in time, which an instrumented source does not keep; and what
 * all cases of a file have reached together is not reached where only some of them run.
 */
const isLeftOut =
  /an idle generator fails|\btimes the (?:text|time)|\bgrows? with|linear time|cost of a look-up/u;

const casesOf = (task: RunnerTask): RunnerTestCase[] =>
  task.type === "test" ? [task] : task.tasks.flatMap(casesOf);

async function run(one: RunnerTestCase, id: string): Promise<Outcome> {
  const started = process.cpuUsage();
  const ms = () => {
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1_000;
  };
  try {
    await getFn(one)();
    return { id, ms: ms() };
  } catch (error) {
    return { id, ms: ms(), error: String(error) };
  }
}

test("the runner's orders are followed until it closes", { timeout: 0 }, async ({ task }) => {
  const cases = new Map<string, RunnerTestCase>();
  for (const suite of task.file.tasks)
    for (const one of suite === task ? [] : casesOf(suite)) {
      const id = one.fullTestName;
      if (one.mode === "run" && !isLeftOut.test(id)) cases.set(id, one);
    }

  /** Whether the test still passes without a mutant: if not, that one has left something behind. */
  const isClean = async (one: RunnerTestCase, id: string) => {
    switches.activeMutant = undefined;
    return (await run(one, id)).error === undefined;
  };

  async function follow({ ids, mutant, hitLimit }: Order) {
    const outcomes: Outcome[] = [];
    Object.assign(switches, { activeMutant: mutant, hitCount: 0, hitLimit });
    let isSpoiled = false;
    for (const id of ids) {
      const one = cases.get(id);
      if (one === undefined) continue;
      if (mutant === undefined) switches.currentTestId = id;
      const outcome = await run(one, id);
      switches.currentTestId = undefined;
      outcomes.push(outcome);
      if (mutant === undefined || outcome.error === undefined) continue;
      isSpoiled = !(await isClean(one, id));
      break;
    }
    switches.activeMutant = undefined;
    const { hitCount, mutantCoverage } = switches;
    return { outcomes, isSpoiled, hitCount, ...(mutant === undefined ? { mutantCoverage } : {}) };
  }

  const channel = new BroadcastChannel(name);
  await new Promise<void>((closed) => {
    channel.onmessage = async ({ data }: MessageEvent<Order | "close">) => {
      if (data === "close") closed();
      else channel.postMessage({ answer: await follow(data) });
    };
    channel.postMessage({ ready: [...cases.keys()] });
  });
  channel.close();
});

for (const file of files)
  describe(file, async () => {
    await import(/* @vite-ignore */ resolve(file));
  });
