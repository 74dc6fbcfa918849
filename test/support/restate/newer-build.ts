/**
 * The node of test/crash/child.ts as a later version would be: it writes records of the next machine version, has a
 * handler more, and says a field more with each event and each piece of work. It is made from the bundle that there
 * is by changing its text: one more bundle would take seconds of processor time.
 */
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { machineVersion } from "../../../src/machines/snapshot/snapshot.ts";
import { builtFile } from "../built/files.ts";
import type { Program } from "./nodes-world.ts";

const newer = machineVersion + 1;
/** What is different in it, as the bundle has it; it reads records of the version before it, too. */
const changes: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(`(JSON\\.stringify\\(\\[\\s*\\d+,\\s*)${machineVersion}(,\\s*states,)`, "gu"),
    `$1${newer}$2`,
  ],
  [
    new RegExp(`machine === ${machineVersion}\\b`, "gu"),
    `(machine === ${machineVersion} || machine === ${newer})`,
  ],
  [/\bbegins: true(?=\s*\})/gu, "begins: true, later: 1"],
  [
    /\bknown: sdk\.handlers\.object\.shared\(/gu,
    "later: sdk.handlers.object.shared(async () => true),\n $&",
  ],
  [
    /\bbatch\.map\(\(\{ event \}\) => event\)/gu,
    "batch.map(({ event }) => ({ ...event, later: 1 }))",
  ],
];

export interface NewerBuild extends Program {
  readonly machineVersion: number;
}

/** It is gone with the bundle, at the end of the run. */
export function makeNewer(): NewerBuild {
  const program = builtFile("test/crash-child");
  const dist = dirname(dirname(program));
  const folder = mkdtempSync(join(dirname(dist), "newer-"));
  const made = changes.map(() => 0);
  for (const part of ["chunks", "test"]) {
    mkdirSync(join(folder, part));
    for (const name of readdirSync(join(dist, part)).filter((one) => one.endsWith(".js"))) {
      const text = readFileSync(join(dist, part, name), "utf8");
      let own = text;
      for (const [place, [from, to]] of changes.entries()) {
        made[place] = (made[place] ?? 0) + [...own.matchAll(from)].length;
        own = own.replaceAll(from, to);
      }
      if (own === text) linkSync(join(dist, part, name), join(folder, part, name));
      else writeFileSync(join(folder, part, name), own);
    }
  }
  if (made.some((times) => times !== 1))
    throw new Error(`Each change is to be made once in the bundle, and was so often: ${made}`);
  return { file: join(folder, "test", basename(program)), machineVersion: newer };
}
