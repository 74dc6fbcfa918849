// Precision against recall of each mode, drawn from the table "What the modes reach" of docs/quality.md.
const style = `
.page{fill:#fff;stroke:#d0d7de}.grid{stroke:#d0d7de}.iso{fill:none;stroke:#afb8c1;stroke-dasharray:4 4}
.text{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#57606a}
.name{font:600 13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.dot{fill:#0969da}.floor{fill:none;stroke:#0969da;stroke-width:2}.other{fill:#8c959f}
@media (prefers-color-scheme:dark){
.page{fill:#0d1117;stroke:#30363d}.grid{stroke:#21262d}.iso{stroke:#484f58}.text{fill:#9198a1}
.name{fill:#e6edf3}.dot{fill:#58a6ff}.floor{stroke:#58a6ff}.other{fill:#6e7681}}
`;
const width = 640;
const height = 400;
const left = 56;
const right = 24;
const top = 24;
const bottom = 48;
/** Percent at the corners. */
const recalls = [55, 95];
const precisions = [40, 100];
const x = (recall) =>
  left + ((recall - recalls[0]) / (recalls[1] - recalls[0])) * (width - left - right);
const y = (precision) =>
  height -
  bottom -
  ((precision - precisions[0]) / (precisions[1] - precisions[0])) * (height - top - bottom);
const round = (value) => String(Math.round(value * 10) / 10);
const at = ({ precision, recall }) => [round(x(recall)), round(y(precision))];

/** Rows of the table: mode, threshold, precision, recall. */
export function rowsOf(page) {
  const rows = page.matchAll(
    /^\| `([a-z-]+)`(?: ([\d.]+))? \| ([\d.]+) \| ([\d.]+) \| [\d.]+ \|/gm,
  );
  return [...rows].map(([, mode, threshold, precision, recall]) => ({
    mode,
    threshold,
    precision: Number(precision),
    recall: Number(recall),
  }));
}

const ticks = (from, to, step) =>
  Array.from({ length: (to - from) / step + 1 }, (_, n) => from + n * step);

function grid() {
  const lines = [];
  for (const recall of ticks(60, 90, 10)) {
    lines.push(`<path class="grid" d="M${round(x(recall))} ${top}V${height - bottom}"/>`);
    lines.push(
      `<text class="text" x="${round(x(recall))}" y="${height - bottom + 18}" text-anchor="middle">${recall}</text>`,
    );
  }
  for (const precision of ticks(40, 100, 10)) {
    lines.push(`<path class="grid" d="M${left} ${round(y(precision))}H${width - right}"/>`);
    lines.push(
      `<text class="text" x="${left - 8}" y="${round(y(precision) + 4)}" text-anchor="end">${precision}</text>`,
    );
  }
  return lines;
}

/** All points of one F1. */
function iso(f1) {
  const points = ticks(recalls[0], recalls[1], 1)
    .map((recall) => ({ recall, precision: (f1 * recall) / (2 * recall - f1) }))
    .filter(({ precision }) => precision >= precisions[0] && precision <= precisions[1]);
  const last = points.at(-1);
  return [
    `<path class="iso" d="M${points.map((point) => at(point).join(" ")).join("L")}"/>`,
    `<text class="text" x="${round(x(last.recall) - 4)}" y="${round(y(last.precision) - 6)}" text-anchor="end">F1 ${f1}</text>`,
  ];
}

function point(row, kind, text) {
  const [cx, cy] = at(row);
  const dot = `<circle class="${kind}" cx="${cx}" cy="${cy}" r="5"/>`;
  const where = `x="${Number(cx) - 8}" y="${Number(cy) + 20}" text-anchor="end"`;
  return text === "" ? [dot] : [dot, `<text class="name" ${where}>${text}</text>`];
}

/** @param page the text of docs/quality.md */
export function qualitySvg(page) {
  const rows = rowsOf(page);
  const floor = rows.filter(({ mode }) => mode === "floor");
  const path = floor.map((row) => at(row).join(" ")).join("L");
  const shapes = [
    ...grid(),
    ...[70, 80, 87].flatMap(iso),
    `<path class="floor" d="M${path}"/>`,
    ...rows.flatMap((row) =>
      row.mode === "floor"
        ? point(row, "dot", row.threshold === "0.4" ? "floor 0.4" : "")
        : point(row, "other", row.mode),
    ),
    `<text class="text" x="${round((left + width - right) / 2)}" y="${height - 10}" text-anchor="middle">recall, %</text>`,
    `<text class="text" transform="translate(16 ${round((top + height - bottom) / 2)}) rotate(-90)" text-anchor="middle">precision, %</text>`,
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="about">
<title id="about">Precision against recall of each mode of stickiness</title>
<style>${style}</style>
<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>
${shapes.join("\n")}
</svg>
`;
}
