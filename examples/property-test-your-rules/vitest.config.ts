// Two projects: the house as it should be, and the same rules against a config with a mistake in it.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["house", "mistake"].map((name) => ({
      test: { name, include: [`${name}.test.ts`], testTimeout: 120_000 },
    })),
  },
});
