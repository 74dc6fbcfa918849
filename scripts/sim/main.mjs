// `npm run sim [-- --seed N --rounds M]`: the simulation campaign of test/sim/campaign. Each seed is one
// run of the whole runtime with faults; the same seed gives the same history. Exits with 1 when a
// promise was broken, with 2 for a wrong argument.
import { availableParallelism } from "node:os";
import { commandLine } from "../command-line.mjs";
import { mistakes } from "./mistakes.mjs";

const help = `Usage: npm run sim [-- --seed N] [--rounds M] [--jobs J] [--plant X] [--json]

Runs the whole runtime on a simulated clock, with faults of disk, platforms, clock and process that follow
from a seed, and checks that no promise of the README was broken. Example: npm run sim -- --seed 7 --rounds 100

  --seed N     the first seed; by default a random one, which is printed
  --rounds M   how many seeds; 1 by default if a seed is given, else 100
  --jobs J     how many at a time; by default one for each core
  --plant X    with the mistake X of scripts/sim/mistakes.mjs in the sources, or with each (all): it has to
               be found, and the number of seeds that it took is printed
  --json       prints one JSON object for each seed, and one for all
`;

const options = /** @type {const} */ ({
  seed: { type: "string" },
  rounds: { type: "string" },
  jobs: { type: "string" },
  plant: { type: "string" },
  json: { type: "boolean", default: false },
});

function check(values) {
  const number = (name, initial) => {
    const given = values[name];
    if (given === undefined) return initial;
    if (!/^\d{1,9}$/u.test(given) || (name !== "seed" && Number(given) === 0))
      throw new Error(`--${name} is a number, not ${given}`);
    return Number(given);
  };
  const known = ["all", ...mistakes.map(({ name }) => name)];
  if (values.plant !== undefined && !known.includes(values.plant))
    throw new Error(`--plant is one of ${known.join(", ")}, not ${values.plant}`);
  const isSeeded = values.seed !== undefined || values.plant !== undefined;
  const few = values.plant === undefined ? 1 : 1_000;
  return {
    ...values,
    seed: number("seed", values.plant ? 1 : Math.floor(Math.random() * 1_000_000_000)),
    rounds: number("rounds", isSeeded ? few : 100),
    jobs: number("jobs", availableParallelism()),
  };
}

async function run(asked) {
  const { campaign, hunt } = await import("./campaign.mjs");
  return asked.plant === undefined ? campaign(asked) : hunt(asked);
}

await commandLine({ name: "sim", help, docs: "docs/testing.md", options, check, run });
