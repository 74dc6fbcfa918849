/**
 * Lines of the log: what a field looks like in them, and that joining lines loses, doubles and reorders
 * none.
 */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cleanField, createLog } from "../../../src/daemon/observability/log.ts";
import { joinLines } from "../../../src/daemon/observability/stderr-lines.ts";

const root = resolve(import.meta.dirname, "../../..");

test("fields-kept: a field of plain text and numbers is logged as it is, under its name", () => {
  const plain = fc.string({ unit: fc.constantFrom(..."abc XYZ019._:/-"), maxLength: 40 });
  const name = plain.filter((text) => !/(token|secret|key|password)$/i.test(text));
  const value = fc.oneof(plain, fc.integer(), fc.boolean(), fc.constant(null));
  const fields = fc.dictionary(fc.oneof(name, fc.constant("__proto__")), value, { maxKeys: 20 });
  fc.assert(
    fc.property(fields, (given) => {
      const clean = cleanField(given, ["a secret that nobody says"]) as object;
      expect(Object.entries(clean)).toEqual(Object.entries(given));
      expect(Object.getPrototypeOf(clean)).toBe(Object.prototype);
    }),
  );
});

test("fields-masked: no secret, no field that is named like one and no control gets into a line", async () => {
  const lines: string[] = [];
  const { log, keepSecret } = await createLog({
    level: "info",
    pretty: false,
    write: (line) => lines.push(line),
  });
  keepSecret(["correct horse battery"]);
  const before = fc.string({ maxLength: 20 });
  fc.assert(
    fc.property(before, before, fc.constantFrom("", "\u001b[2J", "\u202e", "\n"), (a, b, odd) => {
      log("info", "seen", { text: `${a}correct horse battery${odd}${b}`, apiToken: "visible" });
      const line = lines.at(-1) ?? "";
      expect(line.trimEnd().split("\n")).toHaveLength(1);
      expect(line).not.toMatch(/correct horse|visible|\\u001b|\u202e/u);
      expect(JSON.parse(line)).toMatchObject({ msg: "seen", apiToken: "[redacted]" });
    }),
  );
});

test("the time of a line is that of its moment", async () => {
  const lines: string[] = [];
  const { log } = await createLog({
    level: "info",
    pretty: false,
    write: (line) => lines.push(line),
  });
  const from = Date.now();
  for (let n = 0; n < 3_000 || Date.now() - from < 3; n += 1) log("info", "tick", {});
  const until = Date.now();
  const times = lines.map((line) => Date.parse(JSON.parse(line).time as string));
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(from);
  expect(times.at(-1)).toBeLessThanOrEqual(until);
  expect(new Set(times).size).toBeGreaterThan(1);
});

test("joined-lines: what is put out is what was written, in order, once, and soon", async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.constant("write") },
    fc.constantFrom("flush", "pause"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const put: string[] = [];
      const lines = joinLines((text) => put.push(text));
      let written = "";
      for (const [n, what] of steps.entries()) {
        if (what === "write") {
          lines.write(`line ${n}\n`);
          written += `line ${n}\n`;
          continue;
        }
        if (what === "flush") lines.flush();
        else await Promise.resolve();
        expect(put.join("")).toBe(written);
      }
      await Promise.resolve();
      expect(put.join("")).toBe(written);
      expect(put).not.toContain("");
    }),
  );
});

test("lines that are written together are one write", async () => {
  const put: string[] = [];
  const { write } = joinLines((text) => put.push(text));
  for (const line of ["a\n", "b\n", "c\n"]) write(line);
  await Promise.resolve();
  write("d\n");
  await Promise.resolve();
  expect(put).toEqual(["a\nb\nc\n", "d\n"]);
});

test("the last lines before the end of the process are put out", () => {
  const module = JSON.stringify(resolve(root, "src/daemon/observability/stderr-lines.ts"));
  const code = `import { writeToStderr } from ${module};
    writeToStderr("first\\n"); writeToStderr("last words\\n"); process.exit(3);`;
  const ended = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", code],
    { cwd: root, encoding: "utf8" },
  );
  expect([ended.status, ended.stderr]).toEqual([3, "first\nlast words\n"]);
});
