/** The samples of a soak as one SVG: a small chart for each quantity, with the same time axis. */
import { quantities, type Sample } from "./samples.ts";

const style = `
.page{fill:#fff;stroke:#d0d7de}.grid{fill:none;stroke:#d0d7de}.warm{fill:#eaeef2}
.text{font:11px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#57606a}
.name{font:600 12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.line{fill:none;stroke:#0969da;stroke-width:1.5}
@media (prefers-color-scheme:dark){
.page{fill:#0d1117;stroke:#30363d}.grid{stroke:#30363d}.warm{fill:#161b22}
.text{fill:#9198a1}.name{fill:#e6edf3}.line{stroke:#58a6ff}}
`;
const columns = 3;
const cell = { width: 270, height: 140 };
const plot = { left: 44, top: 30, width: 212, height: 76 };
const title = 34;

const round = (value: number) => String(Math.round(value * 10) / 10);

/** The least round number from `value` on: 1, 2 or 5 with zeros. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return (
    [1, 2, 5, 10].map((factor) => factor * unit).find((one) => one >= value * 0.999) ?? 10 * unit
  );
}

function chart(
  samples: readonly Sample[],
  warm: number,
  { name, unit }: (typeof quantities)[number],
): string[] {
  const scale = unit === "MB" ? 1e6 : 1;
  const values = samples.map((one) => one.values[name] / scale);
  const most = roundUp(Math.max(...values, unit === "MB" ? 0.1 : 1));
  const end = samples.at(-1)?.at ?? 1;
  const x = (at: number) => plot.left + (at / end) * plot.width;
  const y = (value: number) => plot.top + (1 - value / most) * plot.height;
  const bottom = plot.top + plot.height;
  const points = samples.map(({ at }, n) => `${round(x(at))} ${round(y(values[n] ?? 0))}`);
  const axis = (text: string, at: string) => `<text class="text" ${at}>${text}</text>`;
  return [
    `<rect class="warm" x="${plot.left}" y="${plot.top}" width="${round(x(warm) - plot.left)}" height="${plot.height}"/>`,
    `<path class="grid" d="M${plot.left} ${plot.top}V${bottom}H${plot.left + plot.width}"/>`,
    axis(`${most}`, `x="${plot.left - 6}" y="${plot.top + 4}" text-anchor="end"`),
    axis("0", `x="${plot.left - 6}" y="${bottom + 4}" text-anchor="end"`),
    axis("0", `x="${plot.left}" y="${bottom + 16}" text-anchor="middle"`),
    axis(
      `${round(end / 60)} min`,
      `x="${plot.left + plot.width}" y="${bottom + 16}" text-anchor="end"`,
    ),
    `<text class="name" x="${plot.left}" y="${plot.top - 10}">${name}${unit === "" ? "" : `, ${unit}`}</text>`,
    `<path class="line" d="M${points.join("L")}"/>`,
  ];
}

/** @param warm seconds at the start that are not judged; shaded. */
export function picture(samples: readonly Sample[], warm: number): string {
  const rows = Math.ceil(quantities.length / columns);
  const [width, height] = [columns * cell.width + 16, rows * cell.height + title];
  const last = samples.at(-1);
  const said =
    last === undefined
      ? ""
      : `${last.messages.toLocaleString("en")} messages and ${last.answers.toLocaleString("en")} answers in ${Math.round(last.at / 60)} minutes`;
  const charts = quantities.map((quantity, n) => {
    const [left, top] = [(n % columns) * cell.width, title + Math.floor(n / columns) * cell.height];
    return `<g transform="translate(${left} ${top})">\n${chart(samples, warm, quantity).join("\n")}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="about">
<title id="about">What a daemon holds during a soak: ${said}</title>
<style>${style}</style>
<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>
<text class="name" x="${plot.left}" y="24">${said}</text>
${charts.join("\n")}
</svg>
`;
}
