/**
 * Fits the weights of `stickiness.mode: "floor"`, and writes src/machines/engagement/floor-weights.ts:
 *
 *   node --import tsx bench/fit-floor.ts train.jsonl.gz
 *
 * Logistic regression by Newton's method with a small ridge, on the lines that the conversation
 * machine itself puts before the floor, of each agent in each room. Facts that grow with lines of
 * others get no positive weight, our name no negative one. What was engaged changes what is
 * remembered, so run it until almost nothing changes: three times from any start. Same rooms, same weights.
 * Then choose the threshold on other rooms with `earshot eval` (docs/quality.md).
 *
 * The weights in the repository were fitted on 153 rooms of #ubuntu with annotated replies
 * (Kummerfeld et al., "A Large-Scale Corpus for Conversation Disentanglement", ACL 2019, CC BY 4.0,
 * https://jkk.name/irc-disentanglement), in the form of docs/quality.md; 10 other rooms of the same
 * source chose the threshold.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { authorsOf, playAgent } from "../src/actors/quality/play-room.ts";
import { settingsIn } from "../src/daemon/quality/room-settings.ts";
import { parseConfig } from "../src/domain/config/index.ts";
import type { EngagementInput } from "../src/domain/decision.ts";
import {
  isMeant,
  type LabelledRoom,
  LabelledRoomReader,
} from "../src/domain/quality/labelled-room.ts";
import { type FloorFactName, floorFacts } from "../src/machines/engagement/floor-facts.ts";
import { floorWeights } from "../src/machines/engagement/floor-weights.ts";
import { LadderCase } from "../src/machines/engagement/ladder-input.ts";

const names = Object.keys(floorFacts) as FloorFactName[];
const notAbove = new Set<FloorFactName>([
  "othersFirst",
  "othersLater",
  "addressedMinute",
  "addressedFive",
  "addressed",
  "talks",
]);
const notBelow = new Set<FloorFactName>(["name"]);
/** Rules that decide before the floor does. */
const before = new Set<string>(["dm", "mention", "reply", "addressed-elsewhere"]);
const ridge = 2;
const newtonSteps = 8;

interface Sample {
  /** 1 and the facts, in the order of `names`. */
  readonly facts: Float64Array;
  readonly meant: 0 | 1;
}

function roomsOf(file: string): LabelledRoom[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const reader = new LabelledRoomReader(file);
  const rooms = text.split("\n").map((line) => reader.add(line));
  return [...rooms, reader.end()].filter((room) => room !== null);
}

function samplesOf(rooms: readonly LabelledRoom[]): Sample[] {
  const config = parseConfig({ engagement: { stickiness: { mode: "floor" } } });
  return rooms.flatMap((room) => {
    const authors = authorsOf(room);
    const from = room.lines.findIndex(({ id }) => id === room.from);
    return room.agents.flatMap((agent) => {
      const samples: Sample[] = [];
      let input: EngagementInput | null = null;
      playAgent(
        room,
        agent,
        settingsIn(room, config),
        (index, _decision, rule) => {
          const line = room.lines[index];
          if (line === undefined || index < from || input === null || before.has(rule)) return;
          const one = new LadderCase(input);
          if (one.credit !== "live") return;
          const meant = isMeant(line, agent, (id) => authors.get(id)) ? 1 : 0;
          samples.push({ facts: factsOf(one), meant });
        },
        (_index, next) => {
          input = next;
        },
      );
      return samples;
    });
  });
}

function factsOf(ladderCase: LadderCase): Float64Array {
  const one = ladderCase.floorCase("");
  return Float64Array.from([1, ...names.map((name) => floorFacts[name].value(one))]);
}

/** Newton's method; a weight of the wrong sign is held at 0 and the rest fitted again. */
function regress(samples: readonly Sample[]): Float64Array {
  let active = [...names.keys()].map((at) => at + 1);
  for (;;) {
    const used = [0, ...active];
    let weights = new Float64Array(used.length);
    for (let step = 0; step < newtonSteps; step += 1) weights = newton(samples, used, weights);
    const wrong = new Set(
      active.filter((fact, at) => {
        const name = names[fact - 1] as FloorFactName;
        const weight = weights[at + 1] ?? 0;
        return (notAbove.has(name) && weight > 0) || (notBelow.has(name) && weight < 0);
      }),
    );
    if (wrong.size === 0) {
      const all = new Float64Array(names.length + 1);
      for (const [at, fact] of used.entries()) all[fact] = weights[at] ?? 0;
      return all;
    }
    active = active.filter((fact) => !wrong.has(fact));
  }
}

function newton(samples: readonly Sample[], used: readonly number[], weights: Float64Array) {
  const size = used.length;
  const hessian = used.map(() => new Float64Array(size + 1));
  const x = new Float64Array(size);
  for (const { facts, meant } of samples) {
    let sum = 0;
    for (let i = 0; i < size; i += 1) {
      x[i] = facts[used[i] as number] as number;
      sum += (weights[i] as number) * (x[i] as number);
    }
    const p = 1 / (1 + Math.exp(-sum));
    for (let i = 0; i < size; i += 1) {
      const row = hessian[i] as Float64Array;
      const xi = x[i] as number;
      if (xi === 0) continue;
      row[size] = (row[size] as number) + (meant - p) * xi;
      for (let j = 0; j < size; j += 1)
        row[j] = (row[j] as number) + p * (1 - p) * xi * (x[j] as number);
    }
  }
  for (let i = 0; i < size; i += 1) {
    const row = hessian[i] as Float64Array;
    row[i] = (row[i] as number) + ridge;
    if (i > 0) row[size] = (row[size] as number) - ridge * (weights[i] as number);
  }
  const step = solve(hessian);
  return weights.map((weight, i) => weight + (step[i] as number));
}

/** Gauss-Jordan with the largest pivot; each row ends with its right-hand side. */
function solve(rows: Float64Array[]): number[] {
  const size = rows.length;
  for (let at = 0; at < size; at += 1) {
    let best = at;
    for (let row = at; row < size; row += 1)
      if (Math.abs(rows[row]?.[at] ?? 0) > Math.abs(rows[best]?.[at] ?? 0)) best = row;
    [rows[at], rows[best]] = [rows[best] as Float64Array, rows[at] as Float64Array];
    const pivot = rows[at] as Float64Array;
    for (const [row, other] of rows.entries()) {
      const by = (other[at] as number) / (pivot[at] as number);
      if (row === at || by === 0) continue;
      for (let column = at; column <= size; column += 1)
        other[column] = (other[column] as number) - by * (pivot[column] as number);
    }
  }
  return rows.map((row, at) => (row[size] as number) / (row[at] as number));
}

const rounded = (value: number) => Math.round(value * 100) / 100 + 0;

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("usage: node --import tsx bench/fit-floor.ts ROOMS");
const samples = samplesOf(roomsOf(file));
const fitted = regress(samples);
const rows = ["start", ...names].map((name, at) => `    ${name}: ${rounded(fitted[at] ?? 0)},`);
const text = `/** Log-odds of each fact, written by bench/fit-floor.ts (docs/quality.md). */
export const floorWeights = {
  version: ${floorWeights.version},
  weights: {
${rows.join("\n")}
  },
};
export type FloorWeights = typeof floorWeights.weights;
`;
const path = new URL("../src/machines/engagement/floor-weights.ts", import.meta.url);
const changes = readFileSync(path, "utf8") !== text;
writeFileSync(path, text);
process.stdout.write(`${samples.length} lines${changes ? "; the weights changed" : ""}\n`);
