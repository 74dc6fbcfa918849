/** What docs/guide/turns.md says of modes and defaults is what the config has. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { parseConfig } from "../../src/domain/config/index.ts";
import { limits } from "../../src/domain/limits.ts";

const docs = readFileSync(resolve(import.meta.dirname, "../../docs/guide/turns.md"), "utf8");
const config: unknown = parseConfig({});

function at(path: string): unknown {
  let value = config;
  for (const name of path.split("."))
    value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}

test("every default named beside its key is the default", () => {
  const named = [...docs.matchAll(/`([\w.*]+)`(?:\s\(| \| )([\d,]+)(?:\)| \|)/g)].map(
    ([, key = "", value = ""]) => ({
      key: key.replace("agents.*", "agents.defaults"),
      value: Number(value.replaceAll(",", "")),
    }),
  );
  expect(named.length).toBeGreaterThan(7);
  const homes = ["", "messages.", "messages.inbound.", "messages.dedupe."];
  for (const { key, value } of named)
    expect(
      homes.map((home) => at(home + key)),
      key,
    ).toContain(value);
  expect(at("messages.dedupe.ttlMs")).toBe(20 * 60_000);
  expect(at("messages.dedupe.retentionMs")).toBe(48 * 3_600_000);
  expect(at("turn.replyAgeMsMax")).toBe(15 * 60_000);
  expect(at("turn.inDoubtFreshMs")).toBe(2 * 60_000);
  expect(limits.interruptMsMin).toBe(1_000);
  expect(limits.unreactionAgeMsMax).toBe(24 * 3_600_000);
  expect(limits.turnAttemptsMax).toBe(3);
});

test("the table of modes has them all, and no other", () => {
  const table = docs.slice(docs.indexOf("| mode |"), docs.indexOf("A running agent receives"));
  const rows = [...table.matchAll(/^\| `([\w-]+)`/gm)].map(([, mode]) => mode);
  expect(rows).toEqual(["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"]);
  for (const mode of rows)
    expect(() => parseConfig({ messages: { queue: { mode } } })).not.toThrow();
  expect(() => parseConfig({ messages: { queue: { mode: "other" } } })).toThrow();
});
