// Two projects: the config of the library, and the same rules with a mistake in the config.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["library", "mistake"].map((name) => ({
      test: { name, include: [`${name}.test.ts`], testTimeout: 120_000 },
    })),
  },
});
