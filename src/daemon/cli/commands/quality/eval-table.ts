/** The result of `earshot eval` for people. */
import pico from "picocolors";
import type { Score } from "../../../../domain/quality/score.ts";
import type { Scores } from "../../../quality/score-labelled.ts";
import type { RoomScore, ScoreDifference } from "../../../quality/worker.ts";
import { counted, table } from "../../lib/command.ts";
import { columnsOf } from "../../output/wrap.ts";

export interface Screen {
  readonly colour: boolean;
  readonly columns: number;
}
type Cells = readonly string[];

/** The numbers, then a table by rule or by room, then what differs. */
export function evalTable(
  { score, against, rooms }: Scores,
  by: "rule" | "room",
  { colour, columns }: Screen,
): string {
  const sides = against === null ? [score] : [score, against];
  const parts = [
    table(rightAligned(overallRows(sides)), columns),
    table(rightAligned(by === "rule" ? ruleRows(sides) : roomRows(rooms)), columns),
  ];
  if (against === null) return parts.join("\n\n");
  const differences = rooms.flatMap((room) => room.differences);
  if (differences.length > 0) parts.push(differenceTable(differences, { colour, columns }));
  const count =
    differences.length === 0
      ? "No decision differs."
      : `${counted(differences.length, "decision")} differ.`;
  return [...parts, count.replace(/^1 decision differ\./u, "1 decision differs.")].join("\n\n");
}

function overallRows(sides: readonly Score[]): readonly Cells[] {
  const row = (name: string, cell: (score: Score) => string) => [name, ...sides.map(cell)];
  return [
    ...(sides.length > 1 ? [["", "config", "against"]] : []),
    row("rooms", ({ rooms }) => whole(rooms)),
    row("agents", ({ agents }) => whole(agents)),
    row("meant", ({ meant }) => whole(meant)),
    row("engaged", ({ engaged }) => whole(engaged)),
    row("right", ({ right }) => whole(right)),
    row("precision", ({ precision }) => percent(precision)),
    row("recall", ({ recall }) => percent(recall)),
    row("F1", ({ f1 }) => percent(f1)),
  ];
}

function ruleRows(sides: readonly Score[]): readonly Cells[] {
  const names = [...new Set(sides.flatMap(({ rules }) => Object.keys(rules)))].sort();
  const columns = ["right", "wrong", "missed"] as const;
  return [
    ["rule", ...sides.flatMap(() => columns)],
    ...names.map((name) => [
      name,
      ...sides.flatMap(({ rules }) => columns.map((column) => whole(rules[name]?.[column] ?? 0))),
    ]),
  ];
}

function roomRows(rooms: readonly RoomScore[]): readonly Cells[] {
  const columns = ["meant", "engaged", "precision", "recall", "F1"];
  const cells = ({ meant, engaged, precision, recall, f1 }: Score) => [
    whole(meant),
    whole(engaged),
    percent(precision),
    percent(recall),
    percent(f1),
  ];
  const sides = rooms.some(({ against }) => against !== undefined)
    ? [...columns, ...columns]
    : columns;
  return [
    ["room", ...sides],
    ...rooms.map(({ room, score, against }) => [
      room,
      ...cells(score),
      ...(against === undefined ? [] : cells(against)),
    ]),
  ];
}

/** Each decision that differs, and whether it is for the better. */
export function differenceTable(differences: readonly ScoreDifference[], screen: Screen): string {
  const paint = pico.createColors(screen.colour);
  const results = differences.map(resultOf);
  const rows = differences.map(({ room, agent, id, before, after }, index) => [
    room,
    id,
    agent,
    `${before.decision} by ${before.rule}`,
    `${after.decision} by ${after.rule}`,
    results[index] ?? "",
  ]);
  const ink = (row: number) => {
    if (results[row - 1] === "now right") return paint.green;
    return results[row - 1] === "now wrong" ? paint.red : (text: string) => text;
  };
  const head = ["room", "line", "agent", "config", "against", ""];
  return table([head, ...rows], screen.columns, ink);
}

/** Whether the change is for the better. */
function resultOf({ before, after, meant }: ScoreDifference): string {
  if (before.decision === after.decision) return "";
  return (after.decision === "engage") === meant ? "now right" : "now wrong";
}

const whole = (count: number) => count.toLocaleString("en-US");
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** Numbers end in one column; the first cell of a row is its name. */
function rightAligned(rows: readonly Cells[]): readonly Cells[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => columnsOf(row[column] ?? ""))),
  );
  return rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell : cell.padStart(widths[column] ?? 0))),
  );
}
