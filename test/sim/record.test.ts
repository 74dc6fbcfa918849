/**
 * Recordings of generated rooms: what was recorded replays to the same history, redacted or not,
 * and a redacted one holds no word of the room.
 */
import { test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { type RecordedLine, recordScenario } from "../../src/actors/record.ts";
import { createMemoryStore } from "../../src/adapters/stores/memory.ts";
import { redacted } from "../../src/daemon/recording.ts";
import { simulateScenario } from "../../src/daemon/simulate.ts";
import { parseScenario, scenarioOf } from "../../src/domain/scenario.read.ts";
import type { StreamLine } from "../../src/domain/stream.ts";
import { decisions, ends, play, sends } from "../replay/support.ts";
import { rooms } from "./generated.ts";

const runs = { numRuns: Number(process.env.EARSHOT_RUNS ?? 12) };
type Line = Record<string, unknown>;

/** Plays a room and records what its journal says. */
async function recorded(
  room: readonly Line[],
): Promise<{ was: StreamLine[]; lines: RecordedLine[] }> {
  const store = createMemoryStore();
  const was: StreamLine[] = [];
  const text = room.map((line) => JSON.stringify(line)).join("\n");
  await simulateScenario(parseScenario(text, "room"), { store, onLine: (line) => was.push(line) });
  const lines: RecordedLine[] = [];
  for await (const line of recordScenario(store, { since: 0 })) lines.push(line);
  return { was, lines };
}

async function inOtherWords(lines: readonly unknown[]): Promise<RecordedLine[]> {
  const { header, lines: rest } = scenarioOf(lines, "room");
  const out: RecordedLine[] = [];
  for await (const line of redacted([header, ...rest], "a key")) out.push(line);
  return out;
}

const again = (lines: readonly RecordedLine[]) => play(lines as readonly unknown[] as Line[]);

/** What was decided and what came of it, without names. */
const history = (lines: readonly StreamLine[]) => ({
  decisions: decisions(lines).map(({ t, decision, rule, credit }) => ({
    t,
    decision,
    rule,
    credit,
  })),
  turns: ends(lines).map(({ t, turn, outcome }) => ({ t, turn, outcome })),
  sends: sends(lines).map(({ t, status, text }) => ({ t, status, units: text.length })),
});

/** The same in ms since the first decision: a recording begins with its first event. */
function sinceFirst(lines: readonly StreamLine[]) {
  const first = decisions(lines)[0]?.t ?? 0;
  const { sends: all, ...rest } = history(lines.map((line) => ({ ...line, t: line.t - first })));
  // Tries that were followed by another leave no trace in the journal.
  const last = all.filter(({ status }) => status !== "in-doubt");
  return { ...rest, sends: last.map(({ status, units }) => ({ status, units })) };
}

describe("a recording", () => {
  test.prop([rooms], runs)("replays to the same history", async (room) => {
    // Of a platform that asks to wait, or does not answer, the journal knows only when it ended.
    const answered = room.filter((line) => !/"send":"(?:hang|429)"/.test(JSON.stringify(line)));
    const { was, lines } = await recorded(answered);
    expect(sinceFirst(await again(lines))).toEqual(sinceFirst(was));
  });
});

describe("a redacted scenario", () => {
  test.prop([rooms], runs)("replays to the same history in other words", async (room) => {
    const other = await inOtherWords(room);
    expect(history(await again(other))).toEqual(history(await play(room)));
  });

  test.prop([rooms], runs)("keeps no word of the room but names of ours", async (room) => {
    const words = (value: unknown) =>
      new Set(
        JSON.stringify(value)
          .match(/(?<=")[^"]*(?=")/g)
          ?.join(" ")
          .toLowerCase()
          .match(/\p{L}{4,}/gu),
      );
    const said = room.slice(1).flatMap((line) => texts(line));
    const left = (await inOtherWords(room)).slice(1).flatMap((line) => texts(line));
    // Beside names of ours: the silent token, and what the simulator calls what it has sent.
    const kept = new Set(["scout", "reply", "sent"]);
    for (const word of words(said)) if (!kept.has(word)) expect(words(left)).not.toContain(word);
  });
});

/** Everything somebody said or is called. */
function texts(value: unknown, field = ""): string[] {
  if (typeof value === "string")
    return ["text", "name", "id", "title"].includes(field) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    texts(one, Array.isArray(value) ? field : name),
  );
}
