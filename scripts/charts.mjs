// `node scripts/charts.mjs`: draws docs/pictures/machines/ from the machines' definitions, so that no
// picture shows a state or an event that is not there, and docs/pictures/quality.svg from the table in
// docs/quality.md. `--check`: only compares, and fails with the
// command to run when a picture is stale. `--into DIR` takes another folder.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import ELK from "elkjs";
import { tsImport } from "tsx/esm/api";
import { chartOf } from "./charts/graph.mjs";
import { qualitySvg } from "./charts/quality.mjs";
import { svgOf } from "./charts/svg.mjs";
import { root } from "./prepare.mjs";

const down = {
  "elk.direction": "DOWN",
  "elk.spacing.nodeNode": "20",
  "elk.layered.spacing.nodeNodeBetweenLayers": "22",
  "elk.spacing.edgeNode": "10",
  "elk.spacing.edgeEdge": "10",
  "elk.layered.spacing.edgeEdgeBetweenLayers": "10",
  "elk.layered.spacing.edgeNodeBetweenLayers": "12",
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
  "elk.layered.thoroughness": "60",
};
/** Room for the words at the top of a box, by its depth, px. */
const headWidths = [860, 520, 400, 300];
const look = (options = {}) => ({
  boxWidth: 190,
  headWidth: ({ path }) => headWidths[path.length],
  options: ({ key }) => ({ ...down, ...options[key] }),
});
const pictures = [
  {
    name: "conversation",
    about:
      "The conversation machine: whether a turn is pending, with the lock and the guard beside it",
    look: look({ lock: { "elk.direction": "RIGHT" }, guard: { "elk.direction": "RIGHT" } }),
  },
  { name: "delivery", about: "The life of one outbox row", look: look() },
  { name: "connection", about: "The connection of one account", look: look() },
  { name: "host", about: "The life of one worker host", look: look() },
];

async function draw({ name, about, look: how }) {
  const path = `../src/machines/${name}.machine.ts`;
  const { [`${name}Machine`]: machine } = await tsImport(path, import.meta.url);
  return svgOf(await chartOf(new ELK(), machine, how), about);
}

const { values } = parseArgs({
  options: { check: { type: "boolean", default: false }, into: { type: "string" } },
});
const folder = values.into ?? join(root, "docs", "pictures", "machines");
if (!values.check) mkdirSync(folder, { recursive: true });
const drawings = pictures.map((picture) => ({
  path: join(folder, `${picture.name}.svg`),
  drawn: () => draw(picture),
}));
if (values.into === undefined)
  drawings.push({
    path: join(root, "docs", "pictures", "quality.svg"),
    drawn: async () => qualitySvg(readFileSync(join(root, "docs", "quality.md"), "utf8")),
  });
for (const { path, drawn: drawing } of drawings) {
  const drawn = await drawing();
  if (!values.check) writeFileSync(path, drawn);
  else {
    let now = "";
    try {
      now = readFileSync(path, "utf8");
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    if (now !== drawn) {
      process.stderr.write(`${relative(root, path)} is stale: run node scripts/charts.mjs\n`);
      process.exitCode = 1;
    }
  }
}
