/**
 * `npm run soak`: the built daemon under talk that comes and goes, for as long as wanted. Fails when
 * something grows without bound (trend.ts), when messages got lost, or when SIGTERM leaves something in
 * doubt.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomFrom } from "../../bench/support.ts";
import { commandLine } from "../../scripts/command-line.mjs";
import { ensureBuilt } from "../../scripts/prepare.mjs";
import { openAnswers } from "./answers.ts";
import { prepare, type SoakDaemon, start } from "./daemon.ts";
import { decisionProblems, restartProblems } from "./ended.ts";
import { picture } from "./picture.ts";
import { type Sample, sample } from "./samples.ts";
import { createTalk } from "./talk.ts";
import { type Counts, startTraffic } from "./traffic.ts";
import { shown, type Trend, trends, verdict } from "./trend.ts";

const help = `Usage: npm run soak [-- --minutes N] [--rate N] [--seed N] [--json] [--picture FILE]

Runs the built daemon in a folder of its own, posts messages over HTTP, and takes samples of memory, handles,
descriptors and file sizes. Exits with 1 when something grows without bound, when a message is lost, or when
SIGTERM under load leaves something in doubt. Example: npm run soak -- --minutes 60 --picture soak.svg

  --minutes N     how long                                       [10]
  --rate N        entries posted a second                        [100]
  --seed N        the same one makes the same talk               [a new one, printed]
  --picture FILE  draws the samples as SVG
  --json          prints one JSON object a sample, and one at the end
`;

interface Asked {
  readonly minutes: number;
  readonly rate: number;
  readonly seed: number;
  readonly isJson: boolean;
  readonly pictureFile: string | null;
}

/** Rooms, those busy at once, and conversations that may stay in memory. */
const rooms = 120;
const busy = 12;
const live = 15;
const retentionMs = 20_000;
const warmShare = 0.4;
const warmMsMax = 600_000;
/** Before the end more is said for a moment, so that SIGTERM comes while much is under way. */
const lastRush = 3;
const rushMs = 2_000;
const everyMsMin = 2_500;
const samplesMax = 150;

const out = (text: string) => process.stdout.write(text);
const pause = (ms: number) => new Promise((next) => setTimeout(next, ms));
const note = (text: string) => process.stderr.write(text);

const options = {
  minutes: { type: "string", default: "10" },
  rate: { type: "string", default: "100" },
  seed: { type: "string", default: String(Date.now() % 1_000_000) },
  picture: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

/** Samples until the time is over or somebody interrupts. */
async function observe(
  asked: Asked,
  daemon: SoakDaemon,
  stateDir: string,
  progress: () => Pick<Sample, "messages" | "answers">,
): Promise<Sample[]> {
  const ms = asked.minutes * 60_000;
  const everyMs = Math.max(everyMsMin, ms / samplesMax);
  const since = performance.now();
  const samples: Sample[] = [];
  let isOver = false;
  process.once("SIGINT", () => {
    isOver = true;
  });
  // The agent, which measures the host, is loaded with its first turn.
  while (progress().answers === 0) await pause(100);
  while (!isOver && performance.now() - since < ms) {
    await pause(everyMs - ((performance.now() - since) % everyMs));
    const at = Math.round((performance.now() - since) / 100) / 10;
    const one = await sample(daemon, stateDir, { at, ...progress() });
    if (one === null) note(`${at} s: no answer to a measurement\n`);
    else samples.push(one);
    if (one !== null && asked.isJson) out(`${JSON.stringify(one)}\n`);
    if (one !== null && !asked.isJson) out(`${line(one)}\n`);
  }
  return samples;
}

function line({ at, messages, answers, values }: Sample): string {
  const part = (name: keyof typeof values, unit = "MB") => `${name} ${shown(values[name], unit)}`;
  return [
    `${Math.round(at)} s`,
    `${messages} messages`,
    `${answers} answers`,
    part("heap, main thread"),
    part("heap, host"),
    part("RSS"),
    part("descriptors", ""),
    part("WAL"),
    part("database"),
  ].join(" · ");
}

function table(all: readonly Trend[], counts: Counts, warm: number): string {
  const rows = all.map(({ name, unit, first, last, most, perMessage, problem }) =>
    [
      name.padEnd(20),
      shown(first, unit).padStart(10),
      shown(last, unit).padStart(10),
      shown(most, unit).padStart(10),
      (unit === "MB" ? perMessage.toFixed(1) : "").padStart(12),
      `  ${verdict(problem, warm)}`,
    ].join(""),
  );
  const heads = ["first third", "last third", "most", "B/message"];
  const [a = "", b = "", c = "", d = ""] = heads;
  const head = `${" ".repeat(19)}${a.padStart(11)}${b.padStart(11)}${c.padStart(9)}${d.padStart(12)}`;
  const { offered, accepted, refused, unanswered } = counts;
  return `\n${head}\n${rows.join("\n")}\n\noffered ${offered} = accepted ${accepted} + refused ${refused} + unanswered ${unanswered}\n`;
}

async function soak(asked: Asked): Promise<boolean> {
  const stateDir = mkdtempSync(join(tmpdir(), "earshot-soak-"));
  const random = randomFrom(asked.seed);
  const answers = await openAnswers(randomFrom(asked.seed + 1));
  prepare({ stateDir, answersUrl: answers.url, live, retentionMs });
  note(`soak: seed ${asked.seed}, ${asked.minutes} min, ${stateDir}\n`);
  const talk = createTalk({ rooms, busy, random });
  let daemon = await start(stateDir);
  try {
    const traffic = startTraffic(daemon, talk, asked.rate);
    const progress = () => ({ messages: traffic.counts.accepted, answers: answers.taken() });
    const samples = await observe(asked, daemon, stateDir, progress);
    await traffic.stop();
    const problems = await decisionProblems(daemon, traffic.counts.accepted);
    // SIGTERM under load, and a start that finds what it left.
    const last = startTraffic(daemon, talk, asked.rate * lastRush);
    await pause(rushMs);
    const code = await daemon.stop();
    await last.stop();
    if (code !== 0) problems.push(`SIGTERM ended it with ${code}`);
    daemon = await start(stateDir);
    problems.push(...(await restartProblems(daemon)));
    await daemon.stop();
    const warm = Math.min(warmMsMax / 1_000, (samples.at(-1)?.at ?? 0) * warmShare);
    const found = trends(samples.filter(({ at }) => at > warm));
    for (const { name, problem } of found)
      if (problem !== null) problems.push(`${name} ${problem}`);
    if (asked.pictureFile !== null) writeFileSync(asked.pictureFile, picture(samples, warm));
    const { counts } = traffic;
    if (asked.isJson)
      out(`${JSON.stringify({ seed: asked.seed, counts, trends: found, problems })}\n`);
    else out(table(found, counts, warm));
    for (const problem of problems) note(`soak: ${problem}\n`);
    if (problems.length === 0) rmSync(stateDir, { recursive: true, force: true });
    else
      note(
        `soak: npm run soak -- --seed ${asked.seed} --minutes ${asked.minutes}; ${stateDir} is kept\n`,
      );
    return problems.length === 0;
  } finally {
    daemon.kill();
    await answers.close();
  }
}

await commandLine({
  name: "soak",
  help,
  docs: "docs/operate/operating.md",
  options,
  check: (values): Asked => {
    const number = (name: "minutes" | "rate" | "seed", min: number) => {
      const value = Number(values[name]);
      if (!(value >= min && value <= 1_000_000))
        throw new Error(`--${name} is a number from ${min}, not ${values[name]}`);
      return value;
    };
    return {
      minutes: number("minutes", 1),
      rate: number("rate", 1),
      seed: number("seed", 0),
      isJson: values.json,
      pictureFile: values.picture ?? null,
    };
  },
  run: (asked) => {
    ensureBuilt();
    return soak(asked);
  },
});
