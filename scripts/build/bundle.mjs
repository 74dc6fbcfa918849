// The entries of the package, each with what it needs in few files. A start that opens hundreds of
// modules one by one spends most of its time finding them; a host that comes back after a crash does
// so once more. The other modules that tsc wrote are for their types and for the benches.
//
// What package.json calls a dependency stays outside, because it brings files of its own (threads,
// binaries); what it calls a devDependency goes inside, in a chunk of its own where it is imported
// when asked for. All entries are bundled together, so that an agent's module that imports `earshot`
// meets the daemon's classes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { root } from "../prepare.mjs";

/** The entry's name in dist, and its source. */
const entries = {
  "daemon/cli/main": "daemon/cli/main",
  "daemon/what-if-worker": "daemon/what-if/worker",
  "daemon/quality-worker": "daemon/quality/worker",
  "actors/host": "actors/host/worker",
  "adapters/host-ports": "adapters/host-ports",
  index: "index",
  testing: "testing",
  "bridges/grammy": "bridges/grammy",
  "bridges/bolt": "bridges/bolt",
  "bridges/discordjs": "bridges/discordjs",
};
/** Inside as well, although our types name them and so a user has them: every start needs them. */
const insideToo = ["grammy", "xstate", "zod"];

/**
 * Writes characters above U+00FF as escapes, the two halves of a pair each. V8 keeps the source of a module
 * for as long as it runs, with two bytes for every character as soon as one does not fit into one: a single
 * emoji doubles a megabyte, in each thread.
 */
const oneByte = {
  name: "one-byte",
  renderChunk(code, _chunk, _options, { magicString }) {
    for (const { 0: character, index } of code.matchAll(/[^\0-\xff]/gu)) {
      const units = Array.from({ length: character.length }, (_, n) => character.charCodeAt(n));
      const escaped = units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
      magicString.update(index, index + character.length, escaped);
    }
    return { code: magicString };
  },
};

/**
 * Writes the entries, their chunks and the notices of the libraries inside to dist/, or elsewhere and
 * with further entries (their name there, and their source from the root).
 */
export async function bundle(outDir = "dist", further = {}) {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { dependencies, optionalDependencies = {}, peerDependencies = {} } = manifest;
  const named = [dependencies, optionalDependencies, peerDependencies].flatMap(Object.keys);
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    plugins: [oneByte],
    ssr: {
      noExternal: true,
      external: named.filter((name) => !insideToo.includes(name)),
    },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      minify: false,
      sourcemap: true,
      target: "node20",
      license: { fileName: "licenses.md" },
      rolldownOptions: {
        experimental: { nativeMagicString: true },
        input: Object.fromEntries([
          ...Object.entries(entries).map(([name, source]) => [
            name,
            join(root, "src", `${source}.ts`),
          ]),
          ...Object.entries(further).map(([name, source]) => [name, join(root, source)]),
        ]),
        output: {
          format: "esm",
          // Vite's "dce-only" prints the code again after the plugins, and texts without escapes.
          minify: false,
          entryFileNames: "[name].js",
          chunkFileNames: "chunks/[name]-[hash].js",
          // The libraries' manuals are a third of some chunks; their licences stay.
          comments: { jsdoc: false },
        },
      },
    },
  });
}
