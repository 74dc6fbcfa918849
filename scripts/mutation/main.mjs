// `npm run mutation [-- --folder engagement ...]`: changes src/machines in small ways, one at a time, and
// counts how many of them some test notices. Exits with 1 below 85%, with 2 for a wrong argument.
import { commandLine } from "../command-line.mjs";
import { machineFiles as all } from "./record.mjs";

const help = `Usage: npm run mutation [-- --folder X ...] [--file X ...] [--next N] [--quick] [--survivors] [--record]

Changes src/machines in small ways, one at a time ("mutants"), runs the tests of test/machines, and prints
for each folder how many of the changes were noticed. Example: npm run mutation -- --folder access --survivors

  --folder X    only this folder of src/machines; may be given several times
  --file X      only this file, such as access/codes.ts
  --next N      only N files: those that changed since they were recorded, then others in turn, by the day
  --quick       leaves out tests that take over 0.4 s: less time, and a score that is at most too low
  --survivors   prints each change that nobody noticed
  --record      writes what was measured into test/mutation.json
`;
const options = /** @type {const} */ ({
  folder: { type: "string", multiple: true, default: [] },
  file: { type: "string", multiple: true, default: [] },
  next: { type: "string" },
  quick: { type: "boolean", default: false },
  survivors: { type: "boolean", default: false },
  record: { type: "boolean", default: false },
});

/** The arguments, and the files they name. */
function check(values) {
  const { folder, file, next } = values;
  for (const one of folder)
    if (!all.some((name) => name.startsWith(`${one}/`)))
      throw new Error(`there is no folder ${one} in src/machines`);
  for (const one of file)
    if (!all.includes(one)) throw new Error(`there is no file ${one} in src/machines`);
  if (next !== undefined && !/^[1-9]\d?$/u.test(next))
    throw new Error(`--next is a number from 1 to 99, not ${next}`);
  const isNamed = (name) => file.includes(name) || folder.some((one) => name.startsWith(`${one}/`));
  const isAll = folder.length + file.length === 0;
  return { ...values, files: all.filter((name) => isAll || isNamed(name)) };
}

async function run(asked) {
  const { measure } = await import("./measure.mjs");
  return measure(asked);
}

await commandLine({ name: "mutation", help, docs: "test/README.md", options, check, run });
