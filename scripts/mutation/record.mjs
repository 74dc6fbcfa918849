// What test/mutation.json says of src/machines: what was measured of each file, and of which text of it.
// test/mutation-record.test.ts holds it, without measuring anything.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";

const machines = join(root, "src", "machines");
const recordFile = join(root, "test", "mutation.json");
/** The share of noticed changes, in percent, that the whole and each folder must have. */
export const wanted = 85;
/** So many files may have changed since they were measured; then they are due. */
export const changedMax = 8;

export const machineFiles = readdirSync(machines, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .toSorted();

/** A short checksum of the text of a file of src/machines. */
export const digest = (file) =>
  createHash("sha256")
    .update(readFileSync(join(machines, file)))
    .digest("hex")
    .slice(0, 16);

/** By file: what was measured, and of which text. */
export const readRecord = () => JSON.parse(readFileSync(recordFile, "utf8"));

export const writeRecord = (record) =>
  writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`);

/** Percent of noticed changes. */
export const score = ({ noticed, missed }) =>
  noticed + missed === 0 ? 100 : (100 * noticed) / (noticed + missed);

export const sum = (parts) => ({
  noticed: parts.reduce((all, { noticed }) => all + noticed, 0),
  missed: parts.reduce((all, { missed }) => all + missed, 0),
});
