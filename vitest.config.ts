import { availableParallelism, totalmem } from "node:os";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const here = (path: string) => new URL(path, import.meta.url).pathname;

/** Read here, as test/support/setup.ts runs once a test file, many of them in one process. */
const { CI, EARSHOT_SEED: seed = CI === undefined ? undefined : "20261121" } = process.env;

/** Kinds of tests that use a machine differently: those of other servers wait, those of pages draw, others only compute. */
const kinds = [
  ["test/engines/", "test/daemon/engine/"],
  ["test/adapters/channels/"],
  ["test/pages/"],
  ["test/daemon/", "test/crash/"],
];

/**
 * Of each kind what took longest in the last run here first, as Vitest has it, so that nothing long is left for the end.
 * The kinds come in even steps: side by side, those that wait would leave the cores idle.
 */
class Interleaved extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const kindOf = ({ moduleId }: TestSpecification) =>
      kinds.findIndex((folders) => folders.some((folder) => moduleId.includes(folder)));
    const lists = new Map<number, TestSpecification[]>();
    for (const file of await super.sort(files)) {
      const list = lists.get(kindOf(file)) ?? [];
      lists.set(kindOf(file), list);
      list.push(file);
    }
    const placed = [...lists.values()].flatMap((list) =>
      list.map((file, place) => ({ file, share: place / list.length })),
    );
    return placed.sort((one, other) => one.share - other.share).map(({ file }) => file);
  }
}

/**
 * Two cores are busy with seven, as some wait, and with four in the full rounds, which wait less; each takes up to a
 * gigabyte with its browser.
 */
const isFull = process.env.EARSHOT_ROUNDS === "full";
const besides = isFull ? 2 : 5;
const workers = Math.max(
  1,
  Math.min(availableParallelism() + besides, Math.floor(totalmem() / 1e9)),
);

/**
 * A third of the processor time of a worker process was V8's own. So there is more room for what is soon garbage, and
 * what is called often is compiled for speed later, as most of it is not called again (Node 20; later ones have Maglev).
 */
const execArgv = [
  "--min-semi-space-size=32",
  "--max-semi-space-size=64",
  ...(process.versions.node.startsWith("20.") ? ["--interrupt-budget=500000"] : []),
];

/** Packages as Node finds them for a daemon: their development builds check more, in twice the time. */
const asInstalled: Plugin = {
  name: "packages-as-installed",
  configResolved({ ssr, environments }) {
    for (const { resolve } of [ssr, ...Object.values(environments)])
      for (const list of [resolve?.conditions, resolve?.externalConditions]) {
        const place = list?.indexOf("development|production") ?? -1;
        if (place >= 0) list?.splice(place, 1);
      }
  },
};

export default defineConfig({
  plugins: [asInstalled],
  // The examples import what they would find installed.
  resolve: {
    alias: [
      { find: /^earshot$/u, replacement: here("src/index.ts") },
      { find: /^earshot\/(grammy|bolt|discordjs)$/u, replacement: here("src/bridges/$1.ts") },
      { find: /^earshot\/testing$/u, replacement: here("src/testing.ts") },
      { find: /^\.\.\/entries\.ts$/u, replacement: here("test/support/built/entries.ts") },
      {
        find: /^\.\.\/state\/worker-entries\.ts$/u,
        replacement: here("test/support/built/worker-entries.ts"),
      },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    // Files that run one after the other in a process share its modules: loading them again for each
    // file would cost more processor time than all the tests. So a test leaves nothing behind.
    isolate: false,
    // Kept in node_modules by its text, what a file was made into need not be made again in the next run.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: Interleaved },
    provide: { propertySeed: seed === undefined ? null : Number(seed) },
    maxWorkers: workers,
    execArgv,
    // Only to end what hangs: nothing here is a claim about time, and the machine may be busy.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ["test/support/setup.ts"],
    globalSetup: ["test/support/temp-folder.ts", "test/support/built/setup.ts"],
  },
});
