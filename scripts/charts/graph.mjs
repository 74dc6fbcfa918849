// From a machine's definition to a graph that can be laid out: a box a state, the children inside it,
// one arrow for each pair of states, whatever number of events leads from one to the other. What a
// state hears without leaving it is in its box.
import { linesOf, sizes, widthOf } from "./text.mjs";

/** Transitions in the order of the definition, as one list; those of a transient state hear no event. */
const transitionsOf = (node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])];

/** A guard in words; that it is about the state the arrow leads to need not be said. */
function guardText(guard, target) {
  if (guard === undefined) return "";
  if (typeof guard === "string") return guard;
  const values = Object.values(guard.params ?? {}).filter((value) => value !== target.key);
  return values.length === 0 ? guard.type : `${guard.type}: ${values.join(", ")}`;
}

const leaves = (node, { target, reenter }) =>
  target !== undefined && !(target.length === 1 && target[0] === node && !reenter);
const stays = (node, transition) =>
  !leaves(node, transition) || (transition.target.length === 1 && transition.target[0] === node);

/** Events a state hears and stays in, each once. */
function heardBy(node) {
  const heard = transitionsOf(node).filter((transition) => stays(node, transition));
  return [...new Set(heard.map(({ eventType }) => eventType))];
}

/** Arrows from a state: target to guard to events. Events of the same guard share a line. */
function arrowsOf(node) {
  const arrows = new Map();
  for (const transition of transitionsOf(node).filter((one) => !stays(node, one))) {
    const target = transition.target[0];
    const guards = arrows.get(target) ?? new Map();
    const guard = guardText(transition.guard, target);
    guards.set(guard, [...new Set([...(guards.get(guard) ?? []), transition.eventType])]);
    arrows.set(target, guards);
  }
  return arrows;
}

function label(id, guards) {
  const rows = [...guards].flatMap(([guard, events]) => {
    const heard = events.filter((text) => text !== "");
    const otherwise = heard.length === 0 ? [{ kind: "guard", text: "otherwise" }] : [];
    return [
      ...heard.map((text) => ({ kind: "event", text })),
      ...(guard === "" ? otherwise : [{ kind: "guard", text: `if ${guard}` }]),
    ];
  });
  const width = Math.max(...rows.map(({ kind, text }) => widthOf(kind, text)));
  return {
    id,
    text: rows[0].text,
    rows,
    width: width + 2 * sizes.labelPad,
    height: rows.length * sizes.lineHeight + sizes.labelPad,
  };
}

const holds = (node, other) =>
  node === other || Object.values(node.states).some((one) => holds(one, other));

/** What is written at the top of a state's box. */
function headOf(node, width) {
  const name = node.parent === undefined ? node.id : node.key;
  const described = linesOf("about", node.description ?? "", width);
  const heard = heardBy(node);
  const events = heard.length === 0 ? [] : linesOf("event", heard.join(" · "), width);
  const rows = [
    { kind: "name", text: name },
    ...described.map((text) => ({ kind: "about", text })),
    ...(events.length === 0 ? [] : [{ kind: "gap", text: "" }]),
    ...events.map((text) => ({ kind: "event", text })),
  ];
  const widest = Math.max(...rows.map(({ kind, text }) => widthOf(kind, text)));
  const tall = rows.reduce((sum, { kind }) => sum + sizes.rowHeight[kind], 0);
  return { rows, width: widest + 2 * sizes.pad, height: tall + 2 * sizes.pad };
}

/** Between the boxes and the edge of the picture, px. */
const margin = 12;

const startId = (node) => `${node.id}#start`;
const anyId = (node) => `${node.id}#any`;

function boxOf(node, look) {
  const children = Object.values(node.states);
  const compound = children.length > 0;
  const head = headOf(node, compound ? look.headWidth(node) : look.boxWidth);
  const box = {
    id: node.id,
    head,
    kind: node.type,
    depth: node.path.length,
    region: node.parent?.type === "parallel",
  };
  if (!compound) return { ...box, width: head.width, height: head.height };
  const marks = [];
  if (node.type !== "parallel")
    marks.push({ id: startId(node), kind: "start", width: sizes.dot, height: sizes.dot });
  if ([...arrowsOf(node).keys()].some((target) => target !== node && holds(node, target))) {
    const width = widthOf("about", "from any state") + 2 * sizes.pad;
    marks.push({ id: anyId(node), kind: "any", width, height: 24 });
  }
  const top = head.height + (node.type === "parallel" ? 4 : 10);
  return {
    ...box,
    children: [...marks, ...children.map((child) => boxOf(child, look))],
    layoutOptions: {
      "elk.padding": `[top=${top},left=16,bottom=16,right=16]`,
      "elk.nodeSize.constraints": "MINIMUM_SIZE",
      "elk.nodeSize.minimum": `(${head.width},${head.height})`,
      ...look.options(node),
    },
  };
}

function edgesOf(node) {
  const own = [...arrowsOf(node)].map(([target, guards]) => {
    const id = `${node.id}>${target.id}`;
    const inside = target !== node && holds(node, target);
    const from = inside ? anyId(node) : node.id;
    // Arrows run down where the definition reads downwards, so a picture begins where a life begins.
    const priority = inside || node.order < target.order ? "10" : "0";
    return {
      id,
      sources: [from],
      targets: [target.id],
      labels: [label(`${id}#label`, guards)],
      layoutOptions: { "elk.layered.priority.direction": priority },
    };
  });
  const first = node.type === "compound" ? node.initial.target[0] : undefined;
  const start =
    first === undefined
      ? []
      : [
          {
            id: startId(node).concat(">"),
            start: true,
            sources: [startId(node)],
            targets: [first.id],
            layoutOptions: { "elk.layered.priority.direction": "20" },
          },
        ];
  return [...start, ...own, ...Object.values(node.states).flatMap(edgesOf)];
}

const run = {
  "elk.algorithm": "layered",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.json.shapeCoords": "ROOT",
  "elk.json.edgeCoords": "ROOT",
  "elk.randomSeed": "1",
};

const shifted = (by) => (point) => ({ ...point, x: point.x + by.x, y: point.y + by.y });

/** A laid out graph, moved. */
function moved({ children, edges, ...graph }, by) {
  const move = shifted(by);
  const box = (node) => ({
    ...move(node),
    ...(node.children ? { children: node.children.map(box) } : {}),
  });
  const section = ({ startPoint, endPoint, bendPoints = [] }) => ({
    startPoint: move(startPoint),
    endPoint: move(endPoint),
    bendPoints: bendPoints.map(move),
  });
  const edge = ({ sections, labels = [], ...rest }) => ({
    ...rest,
    sections: sections.map(section),
    labels: labels.map(move),
  });
  return { ...graph, children: children.map(box), edges: edges.map(edge) };
}

const layOut = (elk, node, look) =>
  elk.layout({
    id: "chart",
    children: [boxOf(node, look)],
    edges: edgesOf(node),
    layoutOptions: {
      ...run,
      "elk.padding": "[top=0,left=0,bottom=0,right=0]",
      ...look.options(node),
    },
  });

/** Regions know nothing of each other: each is laid out by itself, one below the other. */
async function regionsOf(elk, node, look) {
  const head = headOf(node, look.headWidth(node));
  const children = [];
  const edges = [];
  let bottom = head.height;
  let width = head.width;
  for (const region of Object.values(node.states)) {
    const laid = moved(await layOut(elk, region, look), { x: 16, y: bottom });
    children.push(...laid.children);
    edges.push(...laid.edges);
    bottom += laid.height + 16;
    width = Math.max(width, laid.width + 32);
  }
  for (const child of children) child.width = width - 32;
  const box = {
    id: node.id,
    head,
    kind: node.type,
    depth: 0,
    x: 0,
    y: 0,
    width,
    height: bottom,
    children,
  };
  return { width, height: bottom, children: [box], edges };
}

/**
 * The machine's states and arrows with their places. `look` says how much room words have and how
 * arrows run.
 */
export async function chartOf(elk, machine, look) {
  const { root } = machine;
  const laid =
    root.type === "parallel" ? await regionsOf(elk, root, look) : await layOut(elk, root, look);
  return {
    ...moved(laid, { x: margin, y: margin }),
    width: laid.width + 2 * margin,
    height: laid.height + 2 * margin,
  };
}
