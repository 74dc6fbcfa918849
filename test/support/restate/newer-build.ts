/** The node of test/crash/child.ts as a later version would be: it writes records of the next machine version. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "vite";
import { machineVersion } from "../../../src/machines/snapshot/snapshot.ts";
import type { Program } from "./nodes-world.ts";

const root = resolve(import.meta.dirname, "../../..");
/** In node_modules, because what is not bundled is found from there. */
const cache = join(root, "node_modules", ".cache");

const newer = machineVersion + 1;
/** What is different in its snapshot.ts: it reads the version before it, too. */
const changes = [
  [`machineVersion = ${machineVersion}`, `machineVersion = ${newer}`],
  ["machine === machineVersion", `machine === machineVersion || machine === ${machineVersion}`],
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
          if (!id.endsWith("/src/machines/snapshot/snapshot.ts")) return null;
          let text = code;
          for (const [from, to] of changes) {
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
  });
  if (changed !== changes.length)
    throw new Error(`${changed} of ${changes.length} changes are made`);
  return {
    file: join(outDir, "child.js"),
    machineVersion: newer,
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  };
}
