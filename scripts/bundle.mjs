// The entries of the package, each with what it needs in few files. A start that opens hundreds of
// modules one by one spends most of its time finding them; a host that comes back after a crash does
// so once more. The other modules that tsc wrote stay beside them, for their types and the benches.
//
// Inside: our code and the libraries that every start loads. Outside stay those that are loaded when
// asked for and those that bring files of their own (threads, binaries). All entries are bundled
// together, so that an agent's module that imports `earshot` meets the classes the daemon uses.
import { join } from "node:path";
import { build } from "vite";
import { root } from "./prepare.mjs";

const entries = ["daemon/cli/main", "index", "testing", "actors/host", "adapters/host-ports"];
const inside = [
  "@hono/node-server",
  "@opentelemetry/api",
  "bintrees",
  "chokidar",
  "comlink",
  "commander",
  "hono",
  "json5",
  "lru-cache",
  "picocolors",
  "pino",
  "prom-client",
  "readdirp",
  "tdigest",
  "ws",
  "xstate",
  "zod",
];

/** Writes the entries, their chunks and the notices of the libraries inside to dist/. */
export async function bundle() {
  const input = Object.fromEntries(entries.map((name) => [name, join(root, "src", `${name}.ts`)]));
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    ssr: { noExternal: inside },
    build: {
      ssr: true,
      outDir: "dist",
      emptyOutDir: false,
      minify: false,
      sourcemap: true,
      target: "node20",
      license: { fileName: "licenses.md" },
      rolldownOptions: {
        input,
        output: {
          format: "esm",
          entryFileNames: "[name].js",
          chunkFileNames: "chunks/[name]-[hash].js",
        },
      },
    },
  });
}
