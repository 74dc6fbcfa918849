// Runs seeds in processes of their own and prints what came of them. Not in threads: ending one inside the
// database driver aborts the process.
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { buildProgram } from "./build.mjs";
import { mistakes } from "./mistakes.mjs";

const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;
const colour = (code, text) => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
const barWidth = 30;

/** A bar on a terminal; elsewhere nothing. */
function progress(total) {
  if (!process.stderr.isTTY) return { show: () => undefined, clear: () => undefined };
  const clear = () => process.stderr.write("\r\u001b[K");
  return {
    clear,
    show(done, failed) {
      const full = Math.round((done / total) * barWidth);
      const bar = "█".repeat(full) + "░".repeat(barWidth - full);
      process.stderr.write(`\r${bar} ${done}/${total}${failed > 0 ? `, ${failed} failed` : ""}`);
    },
  };
}

/** A seed that runs longer hangs, however busy the machine is. */
const seedMsMax = 300_000;

/** A process that answers one order at a time; `end` kills it. */
function open(file) {
  const child = fork(file, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  let wait = null;
  let isOver = false;
  child.on("message", (answer) => wait?.resolve(answer));
  child.on("exit", (code, signal) => {
    if (!isOver) wait?.reject(new Error(`the program ended (${code ?? signal})`));
  });
  return {
    ask: (order) =>
      new Promise((resolve, reject) => {
        wait = { resolve, reject };
        child.send(order);
      }),
    end() {
      isOver = true;
      child.kill("SIGKILL");
    },
  };
}

/** The result of a seed; one that does not end has failed, and its process is replaced. */
async function runSeed(file, process, seed) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, seedMsMax, null);
  });
  const result = await Promise.race([process.ask({ seed }), late]);
  clearTimeout(timer);
  if (result !== null) return { process, result };
  process.end();
  const violations = [`hang: it did not end within ${seedMsMax / 1_000} s`];
  const hung = { seed, hash: "", entries: 0, ms: seedMsMax, violations };
  return { process: open(file), result: hung };
}

/**
 * Runs the seeds, `jobs` at a time; the results come in any order. Ends early when `onResult` returns
 * false.
 */
async function runSeeds(file, { seed, rounds, jobs }, onResult) {
  let next = seed;
  let isOver = false;
  const work = async () => {
    let process = open(file);
    try {
      while (!isOver && next < seed + rounds) {
        const ran = await runSeed(file, process, next++);
        process = ran.process;
        if (!isOver && onResult(ran.result) === false) isOver = true;
      }
    } finally {
      process.end();
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, rounds) }, work));
}

/** The shortest plan that breaks what this seed breaks. */
async function shorten(file, seed) {
  const process = open(file);
  try {
    return await process.ask({ shrink: seed });
  } finally {
    process.end();
  }
}

function printShrunk({ shrunk, runs, of, steps, violations }) {
  process.stdout.write(
    `\nseed ${shrunk}, with ${steps.length} of its ${of} steps (${runs} runs):\n`,
  );
  for (const { at, ...step } of steps)
    process.stdout.write(`  ${String(at).padStart(7)} ms  ${JSON.stringify(step)}\n`);
  for (const violation of violations) process.stdout.write(`  ${colour(31, violation)}\n`);
}

/** Runs a campaign; true: no promise was broken. */
export async function campaign({ seed, rounds, jobs, json }) {
  const startedAt = performance.now();
  const program = await buildProgram();
  const results = [];
  let failed = 0;
  if (!json) process.stdout.write(`sim: seeds ${seed} to ${seed + rounds - 1}\n`);
  const bar = progress(rounds);
  try {
    await runSeeds(program.file, { seed, rounds, jobs }, (result) => {
      results.push(result);
      if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
      if (result.violations.length > 0) {
        failed += 1;
        bar.clear();
        if (!json) {
          process.stdout.write(`${colour(31, "✗")} npm run sim -- --seed ${result.seed}\n`);
          for (const violation of result.violations) process.stdout.write(`    ${violation}\n`);
        }
      }
      bar.show(results.length, failed);
    });
    bar.clear();
    const broken = results.filter(({ violations }) => violations.length > 0);
    const [first] = broken.sort((a, b) => a.seed - b.seed);
    const shrunk = first === undefined ? null : await shorten(program.file, first.seed);
    if (shrunk !== null && !json) printShrunk(shrunk);
    report({ seed, rounds, failed, results, shrunk, json, startedAt });
  } finally {
    program.remove();
  }
  return failed === 0;
}

function report({ seed, rounds, failed, results, shrunk, json, startedAt }) {
  const hash = createHash("sha256");
  for (const one of results.sort((a, b) => a.seed - b.seed)) hash.update(one.hash);
  const all = hash.digest("hex").slice(0, 16);
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const middle = results.map(({ ms }) => ms).sort((a, b) => a - b)[results.length >> 1] ?? 0;
  if (json) {
    const whole = { seed, rounds, failed, hash: all, seconds, msMedian: middle, shrunk };
    process.stdout.write(`${JSON.stringify(whole)}\n`);
    return;
  }
  const mark = failed === 0 ? colour(32, "✓") : colour(31, "✗");
  process.stdout.write(
    `${mark} ${rounds} ${rounds === 1 ? "seed" : "seeds"}, ${failed} failed; histories ${all}; ` +
      `${seconds} s, ${middle} ms a seed (median)\n`,
  );
}

/** Plants a mistake, or each, and looks for it; true: each was found. The plan that shows a single one is shortened. */
export async function hunt({ plant, seed, rounds, jobs, json }) {
  const chosen = mistakes.filter(({ name }) => plant === "all" || name === plant);
  let isGood = true;
  for (const mistake of chosen) {
    const program = await buildProgram(mistake);
    let found = null;
    let shrunk = null;
    let seeds = 0;
    const bar = progress(rounds);
    try {
      await runSeeds(program.file, { seed, rounds, jobs }, (result) => {
        seeds += 1;
        if (result.violations.length > 0) found = result;
        bar.show(seeds, found === null ? 0 : 1);
        return found === null;
      });
      // With all of them it would take as long as finding them.
      if (found !== null && plant !== "all") shrunk = await shorten(program.file, found.seed);
    } finally {
      bar.clear();
      program.remove();
    }
    isGood &&= found !== null;
    const { name, what } = mistake;
    const violation = found?.violations[0] ?? null;
    if (json)
      process.stdout.write(
        `${JSON.stringify({ name, what, seed: found?.seed ?? null, seeds, violation, shrunk })}\n`,
      );
    else
      process.stdout.write(
        found === null
          ? `${colour(31, "✗")} ${name}: not found in ${seeds} seeds (${what})\n`
          : `${colour(32, "✓")} ${name}: found by seed ${found.seed}, after ${seeds} ${seeds === 1 ? "seed" : "seeds"} (${what})\n    ${violation}\n`,
      );
    if (shrunk !== null && !json) printShrunk(shrunk);
  }
  return isGood;
}
