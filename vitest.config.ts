import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Many tests wait for processes and timers; more than one beyond the two cores makes them late.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: ["test/support/setup.ts"],
  },
});
