/**
 * What holds for every parser
 * ===========================
 * Whatever the bytes: it is read, or refused with the declared error; the refusal is short and holds
 * neither control characters nor secrets; nothing is printed beside the log; prototypes stay as they are; what comes of it is no larger
 * than its input allows; the processor time has a limit; and the next good input is read as before.
 */
import { inspect, isDeepStrictEqual } from "node:util";
import { changed, type Draw, type Frames } from "./mutate.ts";
import { canary, type Log, type Seed, type Target } from "./target.ts";
import { watched } from "./watchdog.ts";

/** UTF-16 units of a refusal. */
const messageUnitsMax = 8_000;
/** Processor time of one reading, in µs: for its start, and for each byte. */
const [startMicros, byteMicros] = [1_500_000, 5];

const shared = [Object, Array, String, Number, Function, Map, Promise, Error, RegExp, Buffer];
const prototypeNames = () =>
  shared.map(({ prototype }) => Reflect.ownKeys(prototype).length).join(",");
const clean = prototypeNames();

/** Controls but newline and tab, direction marks, and halves of pairs. */
const unprintable =
  /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]|\p{Cs}/u;

/** Why a text may not be shown, or null. */
function unfit(text: string, secrets: readonly string[] = [canary]): string | null {
  if (text.length > messageUnitsMax) return `is ${text.length} units long`;
  if (secrets.some((secret) => text.includes(secret))) return "holds a secret";
  const found = unprintable.exec(text);
  return found === null
    ? null
    : `holds ${JSON.stringify(found[0])} in ${JSON.stringify(text.slice(0, 200))}`;
}

/** How many units a value has, as far as `max`; a circle has no end. */
function unitsOf(value: unknown, max: number): number {
  let units = 0;
  const left: unknown[] = [value];
  while (left.length > 0 && units <= max) {
    const next = left.pop();
    units += typeof next === "string" ? next.length : 1;
    if (next instanceof Uint8Array) units += next.byteLength;
    else if (next instanceof Map || next instanceof Set) left.push(...next.values());
    else if (typeof next === "object" && next !== null)
      for (const [key, item] of Object.entries(next)) {
        units += key.length;
        left.push(item);
      }
  }
  return units;
}

export interface Problem {
  /** What did not hold, in few words: equal for equal causes. */
  readonly why: string;
  readonly detail: string;
}

interface Reading {
  readonly result: unknown;
  /** What was logged, a line each. */
  readonly lines: readonly string[];
  /** What was printed, and is in no log. */
  readonly printed: readonly string[];
  readonly error: unknown;
  readonly micros: number;
}

const prints = ["debug", "error", "info", "log", "trace", "warn"] as const;

/** Listens to the console in place of the terminal; returns what ends that. */
function listenToConsole(printed: string[]): () => void {
  const before = prints.map((name) => [name, console[name]] as const);
  for (const name of prints)
    console[name] = (...values: unknown[]) => {
      printed.push(inspect(values));
    };
  return () => {
    for (const [name, print] of before) console[name] = print;
  };
}

async function readingOf(target: Target, frames: Frames): Promise<Reading> {
  const before = process.cpuUsage();
  const lines: string[] = [];
  const printed: string[] = [];
  const log: Log = (level, event, fields = {}) => {
    lines.push([level, event, ...Object.values(fields).map(String)].join(" "));
  };
  let [result, error]: [unknown, unknown] = [undefined, undefined];
  const endListening = listenToConsole(printed);
  try {
    result = await watched(`${target.name} ${described(frames)}`, () => target.read(frames, log));
  } catch (caught) {
    error = caught ?? new Error("nothing was thrown");
  } finally {
    endListening();
  }
  const { user, system } = process.cpuUsage(before);
  return { result, lines, printed, error, micros: user + system };
}

const described = (frames: Frames) =>
  frames
    .map((frame) => JSON.stringify(frame.toString("utf8").slice(0, 2_000)))
    .join(" ")
    .slice(0, 8_000);

const bytesOf = (frames: Frames) => frames.reduce((sum, { length }) => sum + length, 0);

function refusalProblem(target: Target, frames: Frames, error: unknown): Problem | null {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (!target.refuses(error)) {
    const stack = error instanceof Error ? String(error.stack) : text;
    return { why: `throws ${text.slice(0, 60)}`, detail: stack.slice(0, 2_000) };
  }
  const wrong = unfit(error instanceof Error ? error.message : text, target.secretsOf?.(frames));
  return wrong === null ? null : { why: `its refusal ${wrong.slice(0, 20)}`, detail: wrong };
}

/** What does not hold for one input, or null. */
export async function problemOf(target: Target, frames: Frames): Promise<Problem | null> {
  const bytes = bytesOf(frames);
  const { result, lines, printed, error, micros } = await readingOf(target, frames);
  if (prototypeNames() !== clean || Reflect.get({}, "polluted") !== undefined)
    return { why: "changes a prototype", detail: prototypeNames() };
  if (error !== undefined) {
    const problem = refusalProblem(target, frames, error);
    if (problem !== null) return problem;
  }
  if (printed.length > 0)
    return { why: "prints beside the log", detail: printed.join("\n").slice(0, 2_000) };
  if (lines.length > frames.length + 64)
    return { why: "logs the same again and again", detail: `${lines.length} lines` };
  for (const line of lines) {
    const wrong = unfit(line, target.secretsOf?.(frames));
    if (wrong !== null) return { why: `its log ${wrong.slice(0, 20)}`, detail: wrong };
  }
  const unitsMax = (target.unitsMax ?? 65_536) + bytes * 32;
  if (unitsOf(result, unitsMax) > unitsMax)
    return { why: "makes much of little", detail: `over ${unitsMax} units of ${bytes} bytes` };
  const budget = startMicros + bytes * byteMicros;
  // What was compiled or collected meanwhile is not its work: the second reading has less of it.
  if (micros > budget) {
    const again = await readingOf(target, frames);
    if (again.micros > budget)
      return { why: "takes too long", detail: `${again.micros} µs for ${bytes} bytes` };
  }
  return null;
}

/** What comes of each seed before anything else was read. */
const firsts = new WeakMap<Seed, unknown>();

/** Reads a seed that must be good, twice alike whatever was read between. */
export async function goodProblem(target: Target, seed: Seed): Promise<Problem | null> {
  const { result, printed, error } = await readingOf(target, seed.frames);
  if (printed.length > 0) return { why: "prints beside the log", detail: printed.join("\n") };
  if (error !== undefined)
    return { why: "a good input is refused", detail: `${seed.name}: ${String(error)}` };
  if (!firsts.has(seed)) firsts.set(seed, structuredClone(result));
  if (isDeepStrictEqual(structuredClone(result), firsts.get(seed))) return null;
  return { why: "a good input is read in another way than before", detail: seed.name };
}

const seedOf = (target: Target, { seed }: Draw): Seed =>
  target.seeds[seed % target.seeds.length] as Seed;

export const inputOf = (target: Target, draw: Draw): Frames =>
  changed(seedOf(target, draw).frames, draw.changes);

/** What does not hold for one draw: of what it reads, and of the good input after it. */
export async function drawProblem(target: Target, draw: Draw): Promise<Problem | null> {
  return (
    (await problemOf(target, inputOf(target, draw))) ?? goodProblem(target, seedOf(target, draw))
  );
}
