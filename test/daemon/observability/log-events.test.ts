/**
 * The table of log events against the sources: every name that is logged is in it, with its level,
 * and everything in it is logged somewhere.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { logsPage, logTable } from "../../../scripts/reference/logs.ts";
import { logReader } from "../../../src/daemon/observability/event-log.ts";
import type { SendLine, StreamLine } from "../../../src/domain/stream.ts";
import { filesBelow } from "../../support/files.ts";

const root = resolve(import.meta.dirname, "../../..");
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

test("there is one line a decision and one a turn, at the level that fits, and no words", () => {
  const decision = { t: 0, id: "m1", key: "k", rule: "mention", credit: "none" } as const;
  const end = { t: 0, key: "k", event: "agent_end", turn: 1 } as const;
  const send: Omit<SendLine, "status"> = {
    t: 0,
    out: "send",
    key: "k",
    channel: "c",
    account: "a",
    chat: "g",
    thread: null,
    replyTo: null,
    text: "words of an agent",
    id: "t:0",
  };
  const logged: [string, string][] = [];
  const fields: unknown[] = [];
  const read = (showText: boolean) =>
    logReader(
      (level, event, more) => {
        logged.push([level, event]);
        fields.push(more);
      },
      () => showText,
    );
  const lines: StreamLine[] = [
    { ...decision, decision: "engage" },
    { ...decision, decision: "observe" },
    { ...end, outcome: "replied" },
    { ...end, outcome: "failed", reason: "error" },
    { ...send, status: "sent" },
    { ...send, status: "dead" },
    { t: 0, out: "typing", on: true, chat: "g" },
    { t: 0, key: "k", event: "delta", turnId: "t", text: "words of an agent" },
  ];
  for (const line of lines) read(false)(line);
  expect(logged).toEqual([
    ["info", "decision"],
    ["info", "decision"],
    ["info", "turn"],
    ["warn", "turn"],
    ["debug", "send"],
    ["warn", "send"],
  ]);
  expect(JSON.stringify(fields)).not.toContain("words");
  read(true)({ ...send, status: "sent" });
  expect(JSON.stringify(fields)).toContain("words of an agent");
});

test("docs/reference/logs.md is what the table makes", () => {
  expect(readFileSync(resolve(root, "docs/reference/logs.md"), "utf8")).toBe(logsPage());
});
