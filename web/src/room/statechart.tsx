/**
 * The statechart, live: lit where the conversation is, dashed where it just was, amber where the
 * guard holds it. One image with one label; the same information is available as text below.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { RoomState } from "../../../src/daemon/api-types/room.ts";
import {
  type ChartNode,
  chartHeight,
  chartRows,
  chartWidth,
  cuts,
  drops,
  edges,
  leftMs,
  leftNodes,
  litNodes,
  nodeHeight,
  nodes,
  nodeWidth,
} from "./statechart-layout.ts";

const hotNodes: readonly string[] = ["guard.tripped", "guard.muted"];

/** Nodes that were just left, until they have faded. */
function useLeft(state: RoomState, before: RoomState | null): ReadonlySet<string> {
  const until = useRef(new Map<string, number>());
  const [, again] = useState(0);
  useEffect(() => {
    const now = performance.now();
    for (const [id, ago] of leftNodes(before, state)) {
      const end = now + leftMs - ago;
      if ((until.current.get(id) ?? 0) < end) until.current.set(id, end);
    }
    for (const id of litNodes(state)) until.current.delete(id);
    again((n) => n + 1);
    const timer = setTimeout(() => {
      for (const [id, end] of until.current) if (end <= performance.now()) until.current.delete(id);
      again((n) => n + 1);
    }, leftMs + 20);
    return () => clearTimeout(timer);
  }, [state.attention, state.lock, state.guard.state, state.typing, state.trail.at(-1)?.until]);
  return new Set(until.current.keys());
}

export function Chart({ state, before }: { state: RoomState; before: RoomState | null }) {
  const lit = litNodes(state);
  const left = useLeft(state, before);
  const active = nodes.filter(({ id }) => lit.has(id)).map(({ id }) => id);
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${chartWidth} ${chartHeight}`}
      role="img"
      aria-label={`Active: ${active.join(", ")}`}
    >
      {chartRows.map(({ name, y }) => (
        <text key={name} class="row-name" x="0" y={y + nodeHeight / 2} dominant-baseline="central">
          {name}
        </text>
      ))}
      {cuts.map((y) => (
        <path key={y} class="cut-line" d={`M0 ${y}H${chartWidth}`} />
      ))}
      {edges.map((path) => (
        <path key={path} class="edge" d={path} />
      ))}
      {nodes.map((node) => (
        <Node key={node.id} node={node} look={lookOf(node.id, lit, left)} />
      ))}
      {drops.map(({ from, path }) => (
        <path key={from} class={lit.has(from) ? "drop live" : "drop"} d={path} />
      ))}
    </svg>
  );
}

type Look = "" | "lit" | "hot" | "left";

function lookOf(id: string, lit: ReadonlySet<string>, left: ReadonlySet<string>): Look {
  if (lit.has(id)) return hotNodes.includes(id) ? "hot" : "lit";
  return left.has(id) ? "left" : "";
}

const words = { "": "", lit: ", active", hot: ", active", left: ", just left" } as const;

function Node({ node: { id, label, x, y }, look }: { node: ChartNode; look: Look }) {
  return (
    <g class={`node ${look}`} data-node={id}>
      <title>{label + words[look]}</title>
      <rect x={x} y={y} width={nodeWidth} height={nodeHeight} rx="6" />
      <text x={x + nodeWidth / 2} y={y + nodeHeight / 2 + 0.5}>
        {label}
      </text>
      <circle cx={x + nodeWidth - 2} cy={y + 2} r="4.5" />
    </g>
  );
}
