/** The result of `earshot tune` for people. */
import pico from "picocolors";
import { pathText } from "../../../../domain/config/index.ts";
import {
  isBetter,
  type Measured,
  type Share,
  type Target,
} from "../../../../domain/quality/folds.ts";
import type { Edit } from "../../../../domain/quality/tuning-space.ts";
import type { Tried, Tuned } from "../../../quality/tune.ts";
import type { ScoreDifference } from "../../../quality/worker.ts";
import { counted, table } from "../../lib/command.ts";
import { columnsOf } from "../../output/wrap.ts";
import { differenceTable, type Screen } from "./eval-table.ts";

/** The rest is in `--json`. */
const differencesShown = 40;

/** A judge is never asked here. */
const judgeText = {
  tried: "The judge was tried on and off, by its recorded answers.",
  "no answers": "The judge was not tried: the rooms have no recorded answers of one.",
  "no judge": "The judge was not tried: the rooms have answers of one, but the config has none.",
} as const;

/** The best few, what to change, and the decisions that differ. */
export function tuneTable(
  tuned: Tuned,
  differences: readonly ScoreDifference[],
  screen: Screen,
): string {
  const parts = [choiceTable(tuned, screen), diffOf(tuned.best[0], screen)];
  const [chosen, ...rest] = tuned.best;
  if (rest.some(({ measured }) => isBetter(tuned.target, measured, chosen.measured)))
    parts.push(
      "Rows with higher numbers are better by less than the standard error over the folds: it may be chance.",
    );
  parts.push(judgeText[tuned.judge]);
  if (differences.length === 0) return [...parts, "No decision differs."].join("\n\n");
  const shown = differences.slice(0, differencesShown);
  const others = differences.length - shown.length;
  return [
    ...parts,
    `${counted(differences.length, "decision")} ${differences.length === 1 ? "differs" : "differ"}:`,
    differenceTable(shown, screen),
    ...(others > 0 ? [`${others.toLocaleString("en-US")} more are in --json.`] : []),
  ].join("\n\n");
}

function choiceTable({ given, best, heldOut, folds }: Tuned, { columns }: Screen): string {
  const row = (name: string, { precision, recall, f1 }: Measured, change: string) => [
    name,
    ...[precision, recall, f1].map(shareText),
    change,
  ];
  const rows = [
    ["", "precision", "recall", "F1", ""],
    row("config", given.measured, ""),
    ...best.map(({ measured, edits }, index) => row(String(index + 1), measured, editsText(edits))),
    row("held out", heldOut, "each fold under what the other four would choose"),
  ];
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...rows.map((cells) => columnsOf(cells[column] ?? ""))),
  );
  const aligned = rows.map((cells) =>
    cells.map((cell, column) =>
      column === 0 || column === 4 ? cell : cell.padStart(widths[column] ?? 0),
    ),
  );
  return `Mean and spread over five folds, by ${folds}:\n\n${table(aligned, columns)}`;
}

/** What the best one changes, as a diff of keys. */
function diffOf({ edits }: Tried, { colour }: Screen): string {
  const paint = pico.createColors(colour);
  if (edits.length === 0) return "Nothing that was tried is clearly better than the config.";
  return edits
    .flatMap(({ path, before, after }) => [
      paint.red(`- ${pathText(path)}: ${JSON.stringify(before)}`),
      paint.green(`+ ${pathText(path)}: ${JSON.stringify(after)}`),
    ])
    .join("\n");
}

/** "stickiness.mode "sliding", stickiness.windowMs 60000": short, for one row. */
function editsText(edits: readonly Edit[]): string {
  if (edits.length === 0) return "as it is";
  return edits.map(({ path, after }) => `${path.at(-1)} ${JSON.stringify(after)}`).join(", ");
}

const shareText = ({ mean, spread }: Share) =>
  `${(mean * 100).toFixed(1)} % ± ${(spread * 100).toFixed(1).padStart(4)}`;

/** Why the target is not reached, with what comes nearest. */
export function notReached({ measure, atLeast }: Target, { measured, edits }: Tried): string {
  const name = (key: string) => (key === "f1" ? "F1" : key);
  const others = (["precision", "recall", "f1"] as const)
    .filter((key) => key !== measure)
    .map((key) => `${name(key)} ${measured[key].mean.toFixed(3)}`);
  return (
    `Cannot reach ${name(measure)} ${atLeast}: the nearest is ${measured[measure].mean.toFixed(3)} ` +
    `(${others.join(", ")}; ${editsText(edits)}). Ask for less, or label more lines`
  );
}
