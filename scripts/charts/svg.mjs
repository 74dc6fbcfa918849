// A laid out graph as an SVG file that reads on a light and on a dark page: it carries its own
// background and follows the reader's colour scheme. Nothing in it runs and nothing is loaded.
import { sizes } from "./text.mjs";

const style = `
.page{fill:#fff;stroke:#d0d7de}.nest{fill:#fff;stroke:#afb8c1}
.nest.alt{fill:#f6f8fa}.leaf{fill:#ddf4ff;stroke:#54aeff}.end{fill:#eaeef2;stroke:#8c959f}
.halo{paint-order:stroke;stroke:#fff;stroke-width:5px;stroke-linejoin:round}.halo.alt{stroke:#f6f8fa}
.region{stroke-dasharray:5 4}
.name{font:600 13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.about{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#57606a}
.guard{font:italic 11px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#57606a}
.event{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#0550ae}
.line{fill:none;stroke:#6e7781;stroke-width:1.25}.head,.dot{fill:#6e7781}.note{fill:#fff;stroke:#d0d7de}
@media (prefers-color-scheme:dark){
.page{fill:#0d1117;stroke:#30363d}.nest{fill:#0d1117;stroke:#484f58}
.nest.alt{fill:#161b22}.halo{stroke:#0d1117}.halo.alt{stroke:#161b22}.leaf{fill:#121d2f;stroke:#388bfd}.end{fill:#21262d;stroke:#6e7681}
.name{fill:#e6edf3}.about,.guard{fill:#9198a1}.event{fill:#79c0ff}
.line{stroke:#8b949e}.head,.dot{fill:#8b949e}.note{fill:#0d1117;stroke:#30363d}}
`;

const round = (value) => String(Math.round(value * 2) / 2);
const plain = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const middle = ' text-anchor="middle"';
const rect = (kind, { x, y, width, height }, radius) =>
  `<rect class="${kind}" x="${round(x)}" y="${round(y)}" width="${round(width)}" ` +
  `height="${round(height)}" rx="${radius}"/>`;
const written = (kind, x, y, text, anchor = "") =>
  `<text class="${kind}" x="${round(x)}" y="${round(y)}"${anchor}>${plain(text)}</text>`;

/** Rows of a box's head, from the top left. */
function head({ head: { rows }, x, y }, halo = "") {
  let at = y + sizes.pad;
  return rows.flatMap(({ kind, text }) => {
    at += sizes.rowHeight[kind];
    return text === "" ? [] : [written(kind + halo, x + sizes.pad, at - 4, text)];
  });
}

function mark({ kind, x, y, width, height }) {
  if (kind === "start")
    return [
      `<circle class="dot" cx="${round(x + width / 2)}" cy="${round(y + height / 2)}" r="5"/>`,
    ];
  return [
    rect("note", { x, y, width, height }, 12),
    written("about", x + width / 2, y + height / 2 + 4, "from any state", middle),
  ];
}

const shade = ({ depth }) => (depth % 2 === 0 ? "" : " alt");

/** The heads of boxes that hold others go over the arrows that pass through them. */
function heads(node) {
  const { children = [] } = node;
  if (children.length === 0) return [];
  return [...head(node, ` halo${shade(node)}`), ...children.flatMap(heads)];
}

function boxes(node) {
  if (node.head === undefined) return mark(node);
  const children = node.children ?? [];
  const leaf = node.kind === "final" ? "end" : "leaf";
  const nest = `nest${shade(node)}${node.region ? " region" : ""}`;
  return [
    rect(children.length === 0 ? leaf : nest, node, 8),
    ...(node.kind === "final"
      ? [
          rect(
            "end",
            { x: node.x + 3, y: node.y + 3, width: node.width - 6, height: node.height - 6 },
            6,
          ),
        ]
      : []),
    ...(children.length === 0 ? head(node) : []),
    ...children.flatMap(boxes),
  ];
}

/** The point at most 6 px from `corner` on the way to `other`. */
function beside(corner, other) {
  const length = Math.hypot(other.x - corner.x, other.y - corner.y);
  const part = length === 0 ? 0 : Math.min(6, length / 2) / length;
  const at = (axis) => round(corner[axis] + (other[axis] - corner[axis]) * part);
  return `${at("x")} ${at("y")}`;
}

/** A line through the points, its corners rounded. */
function path(points) {
  const parts = points.map((point, index) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    const here = `${round(point.x)} ${round(point.y)}`;
    if (before === undefined) return `M${here}`;
    if (after === undefined) return `L${here}`;
    return `L${beside(point, before)}Q${here} ${beside(point, after)}`;
  });
  return parts.join("");
}

const line = ({ sections }) =>
  sections.map(({ startPoint, endPoint, bendPoints = [] }) => {
    const points = [startPoint, ...bendPoints, endPoint];
    return `<path class="line" marker-end="url(#to)" d="${path(points)}"/>`;
  });

function note({ rows, x, y, width, height }) {
  return [
    rect("note", { x, y, width, height }, 5),
    ...rows.map(({ kind, text }, index) =>
      written(kind, x + width / 2, y + (index + 1) * sizes.lineHeight - 1, text, middle),
    ),
  ];
}

/** The picture, as the text of an SVG file. Screen readers read `about` instead. */
export function svgOf(graph, about) {
  const { width, height, children, edges } = graph;
  const size = `width="${Math.ceil(width)}" height="${Math.ceil(height)}"`;
  const rows = [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" role="img" aria-labelledby="about">`,
    `<title id="about">${plain(about)}</title>`,
    `<style>${style}</style>`,
    '<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>',
    rect("page", { x: 0.5, y: 0.5, width: width - 1, height: height - 1 }, 10),
    ...children.flatMap(boxes),
    ...edges.flatMap(line),
    ...children.flatMap(heads),
    ...edges.flatMap(({ labels = [] }) => labels.flatMap(note)),
    "</svg>",
  ];
  return `${rows.join("\n")}\n`;
}
