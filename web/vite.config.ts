/** The pages: one script, one style sheet, no inline code, so that the content policy can be strict. */
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    // light-dark() and :has() are used as they are.
    target: ["chrome123", "firefox121", "safari17.5"],
    modulePreload: { polyfill: false },
    // A data: address would need a hole in the content policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ["index.html", "inspect.html"].map((page) => `${import.meta.dirname}/${page}`),
    },
  },
});
