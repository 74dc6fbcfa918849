// Two projects: the config of the café, and the same expectations with a mistake in the config.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["cafe", "mistake"].map((name) => ({
      test: { name, include: [`${name}.test.ts`] },
    })),
  },
});
