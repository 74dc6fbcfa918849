/**
 * The record of what the tests of the machines notice (`npm run mutation`): it has every file, its score is
 * good enough, and only few files have changed since they were measured. Nothing is measured here.
 */
import { dirname } from "node:path";
import { expect, test } from "vitest";
import {
  changedMax,
  digest,
  machineFiles,
  readRecord,
  score,
  sum,
  wanted,
} from "../scripts/mutation/record.mjs";

const record = readRecord();
const files = Object.keys(record);

test("every file of src/machines is measured, and nothing that is gone", () => {
  expect(machineFiles.length).toBeGreaterThan(80);
  expect(files.toSorted()).toEqual(machineFiles);
});

test("the tests notice enough, in the whole and in each folder", () => {
  expect(wanted).toBe(85);
  expect(score(sum(Object.values(record)))).toBeGreaterThanOrEqual(wanted);
  const poor = [...new Set(files.map(dirname))].flatMap((folder) => {
    const own = files.filter((file) => dirname(file) === folder);
    const reached = score(sum(own.map((file) => record[file] ?? { noticed: 0, missed: 0 })));
    return reached < wanted ? [`${folder}: ${reached.toFixed(1)}%`] : [];
  });
  expect(poor).toEqual([]);
});

test("few files have changed since; when more have: npm run mutation -- --next 8 --record", () => {
  const changed = machineFiles.filter((file) => record[file]?.source !== digest(file));
  expect(changed.length, changed.join(", ")).toBeLessThanOrEqual(changedMax);
});
