import { defineConfig } from "vitest/config";

const here = (path: string) => new URL(path, import.meta.url).pathname;

export default defineConfig({
  // The examples import what they would find installed.
  resolve: {
    alias: [
      { find: /^earshot$/u, replacement: here("src/index.ts") },
      { find: /^earshot\/testing$/u, replacement: here("src/testing.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    // Many tests wait for processes and timers; more than one beyond the two cores makes them late.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: ["test/support/setup.ts"],
    globalSetup: ["test/support/temp-folder.ts"],
  },
});
