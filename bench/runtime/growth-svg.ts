/** The picture of `growth`: one small plot for each part, size on a scale of powers of ten. */
export interface Plot {
  readonly title: string;
  readonly unit: string;
  /** Cost by size. */
  readonly points: Readonly<Record<string, number>>;
}

const style = `
.page{fill:#fff;stroke:#d0d7de}.grid{stroke:#d0d7de}.line{fill:none;stroke:#0969da;stroke-width:2}
.dot{fill:#0969da}
.text{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#57606a}
.name{font:600 13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
@media (prefers-color-scheme:dark){.page{fill:#0d1117;stroke:#30363d}.grid{stroke:#21262d}
.line{stroke:#58a6ff}.dot{fill:#58a6ff}.text{fill:#9198a1}.name{fill:#e6edf3}}`;
const width = 380;
const height = 210;
const margin = { left: 56, right: 28, top: 40, bottom: 34 };

/** Two plots a row. Every plot begins at zero, so that flat looks flat. */
export function growthSvg(plots: readonly Plot[]): string {
  const [all, tall] = [width * 2, height * Math.ceil(plots.length / 2)];
  const drawn = plots.map(
    (one, n) =>
      `<g transform="translate(${(n % 2) * width} ${Math.floor(n / 2) * height})">${plot(one)}</g>`,
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${all}" height="${tall}" ` +
    `viewBox="0 0 ${all} ${tall}" role="img" aria-labelledby="about">\n` +
    `<title id="about">Processor time of a line and of a turn, by size</title>\n` +
    `<style>${style}\n</style>\n` +
    `<rect class="page" x="0.5" y="0.5" width="${all - 1}" height="${tall - 1}" rx="6"/>\n` +
    `${drawn.join("\n")}\n</svg>\n`
  );
}

function plot({ title, unit, points }: Plot): string {
  const sizes = Object.keys(points).map(Number);
  const values = Object.values(points);
  const [smallest = 1] = sizes;
  const decades = Math.max(1, Math.log10((sizes.at(-1) ?? 1) / smallest));
  const most = niceAbove(Math.max(...values));
  const x = (size: number) =>
    shown(
      margin.left + (Math.log10(size / smallest) / decades) * (width - margin.left - margin.right),
    );
  const floor = height - margin.bottom;
  const y = (value: number) => shown(floor - (value / most) * (floor - margin.top));
  const rows = [0, most / 2, most].map(
    (value) =>
      `<path class="grid" d="M${margin.left} ${y(value)}H${width - margin.right}"/>` +
      `<text class="text" x="${margin.left - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
  );
  const dots = sizes.map(
    (size) =>
      `<circle class="dot" cx="${x(size)}" cy="${y(points[size] ?? 0)}" r="4"/>` +
      `<text class="text" x="${x(size)}" y="${floor + 18}" text-anchor="middle">${short(size)}</text>`,
  );
  const path = sizes.map((size) => `${x(size)} ${y(points[size] ?? 0)}`).join("L");
  return [
    `<text class="name" x="${margin.left}" y="24">CPU ${unit} of ${title}</text>`,
    ...rows,
    `<path class="line" d="M${path}"/>`,
    ...dots,
  ].join("");
}

const shown = (value: number) => Math.round(value * 10) / 10;
const short = (size: number) =>
  size >= 1_000_000 ? `${size / 1_000_000} M` : size >= 1_000 ? `${size / 1_000}k` : `${size}`;

/** The next of 1, 2, 4, 6, 8, 10 … times a power of ten. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= value) ?? 10;
  return Number((step * power).toPrecision(3));
}
