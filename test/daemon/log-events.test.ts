/**
 * The table of log events against the sources: every name that is logged is in it, with its level,
 * and everything in it is logged somewhere.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { logsPage, logTable } from "../../src/daemon/log.table.ts";
import { filesBelow } from "../support/files.ts";

const root = resolve(import.meta.dirname, "../..");
/** A call of a log: its level and its event, each as it stands in the source. */
const call = /\blog\(\s*("\w+"|level),\s*("[^"]+"|`[^`]+`)\s*[,)]/g;

interface Logged {
  /** Null: said by a variable. */
  readonly level: string | null;
  /** What its name matches. */
  readonly name: RegExp;
  readonly source: string;
}

const logged = filesBelow(resolve(root, "src"))
  .filter((path) => !path.endsWith("domain/ports.ts"))
  .flatMap((path): Logged[] =>
    [...readFileSync(path, "utf8").matchAll(call)].map(([, level = "", event = ""]) => {
      const parts = event.slice(1, -1).split(/\$\{[^}]*\}/);
      const pattern = parts.map((part) => part.replaceAll(".", "\\.")).join("[\\w-]+");
      return {
        level: level.startsWith('"') ? level.slice(1, -1) : null,
        name: new RegExp(`^${pattern}$`),
        source: `${path}: ${event}`,
      };
    }),
  );

test("every event that is logged is in the table, at its level", () => {
  expect(logged.length).toBeGreaterThan(100);
  const missing = logged.filter(
    ({ name, level }) =>
      !logTable.some(
        (entry) => name.test(entry.name) && (level === null || entry.level.includes(level)),
      ),
  );
  expect(missing.map(({ source }) => source)).toEqual([]);
});

test("everything in the table is logged somewhere, and stands there once", () => {
  const names = logTable.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((one) => !logged.some(({ name }) => name.test(one)))).toEqual([]);
});

test("docs/logs.md is what the table makes", () => {
  expect(readFileSync(resolve(root, "docs/logs.md"), "utf8")).toBe(logsPage());
});
