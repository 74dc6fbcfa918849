/**
 * The node of test/crash/child.ts as a later version would be: it writes records of the next machine version, has a
 * handler more, and says a field more with each event and each piece of work.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "vite";
import { machineVersion } from "../../../src/machines/snapshot/snapshot.ts";
import type { Program } from "./nodes-world.ts";

const root = resolve(import.meta.dirname, "../../..");
/** In node_modules, because what is not bundled is found from there. */
const cache = join(root, "node_modules", ".cache");

const newer = machineVersion + 1;
const snapshot = "/src/machines/snapshot/snapshot.ts";
const objects = "/src/engines/restate/objects.ts";
/** What is different in it, by file; it reads records of the version before it, too. */
const changes = [
  [snapshot, `machineVersion = ${machineVersion}`, `machineVersion = ${newer}`],
  [
    snapshot,
    "machine === machineVersion",
    `machine === machineVersion || machine === ${machineVersion}`,
  ],
  [objects, "begins: true }", "begins: true, later: 1 }"],
  [
    objects,
    "known: sdk.handlers.object.shared(",
    "later: sdk.handlers.object.shared(async () => true),\n known: sdk.handlers.object.shared(",
  ],
  [
    "/src/engines/restate/inbox.ts",
    "batch.map(({ event }) => event)",
    "batch.map(({ event }) => ({ ...event, later: 1 }))",
  ],
] as const;

export interface NewerBuild extends Program {
  readonly machineVersion: number;
  remove(): void;
}

export async function buildNewer(): Promise<NewerBuild> {
  mkdirSync(cache, { recursive: true });
  const outDir = mkdtempSync(join(cache, "earshot-newer-"));
  let changed = 0;
  await build({
    root,
    configFile: false,
    logLevel: "error",
    publicDir: false,
    plugins: [
      {
        name: "newer",
        enforce: "pre",
        transform(code, id) {
          const own = changes.filter(([file]) => id.endsWith(file));
          if (own.length === 0) return null;
          let text = code;
          for (const [, from, to] of own) {
            if (text.includes(from)) changed += 1;
            text = text.replace(from, to);
          }
          return text;
        },
      },
    ],
    build: {
      ssr: true,
      outDir,
      minify: false,
      target: "node20",
      rolldownOptions: { input: { child: join(root, "test/crash/child.ts") } },
    },
    // One file starts in less time than many; these bring files of their own.
    ssr: {
      noExternal: true,
      external: ["@photostructure/sqlite", "@restatedev/restate-sdk", "piscina"],
    },
  });
  if (changed !== changes.length)
    throw new Error(`${changed} of ${changes.length} changes are made`);
  return {
    file: join(outDir, "child.js"),
    machineVersion: newer,
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  };
}
