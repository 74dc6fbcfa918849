/**
 * The statechart, live: lit where the conversation is, dashed where it just was, amber where the
 * guard holds it. One image with one label; the same information is available as text below.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { RoomState } from "../../../src/daemon/api-types/room.ts";
import type { RoomTransition } from "../../../src/daemon/api-types/room-transitions.ts";
import { type ChartEdge, type DrawnEdge, drawn, takenEdges, usualEdges } from "./chart-edges.ts";
import {
  type ChartNode,
  chartHeight,
  chartRows,
  chartWidth,
  cuts,
  drops,
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

interface ChartProps {
  readonly state: RoomState;
  readonly before: RoomState | null;
  /** The transition that led here. */
  readonly taken: RoomTransition | null;
}

const usual = usualEdges.flatMap((edge) => drawn(edge) ?? []);
const placeOf = ({ x, y }: DrawnEdge) => `${x} ${y}`;
const nameOf = ({ from, to }: ChartEdge) => `${from} ${to}`;

export function Chart({ state, before, taken }: ChartProps) {
  const ways = taken === null ? [] : takenEdges(taken.from, taken.to, taken.event);
  const lately = ways.flatMap((edge) => drawn(edge) ?? []);
  const hidden = new Set(lately.map(nameOf));
  // Several ways have their event at one place: the one that was taken is named.
  const named = new Set(lately.map(placeOf));
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
      <Heads />
      {chartRows.map(({ name, y }) => (
        <text key={name} class="row-name" x="0" y={y + nodeHeight / 2} dominant-baseline="central">
          {name}
        </text>
      ))}
      {cuts.map((y) => (
        <path key={y} class="cut-line" d={`M0 ${y}H${chartWidth}`} />
      ))}
      {usual
        .filter((edge) => !hidden.has(nameOf(edge)))
        .map((edge) => (
          <Edge key={nameOf(edge)} edge={edge} taken={false} named={!named.has(placeOf(edge))} />
        ))}
      {lately.map((edge) => (
        <Edge key={nameOf(edge)} edge={edge} taken named />
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

interface EdgeProps {
  readonly edge: DrawnEdge;
  readonly taken: boolean;
  /** Whether its event is written beside it. */
  readonly named: boolean;
}

function Edge({ edge, taken, named }: EdgeProps) {
  const { from, to, event, path, x, y } = edge;
  return (
    <g data-edge={`${from} ${to}`} data-taken={taken ? "" : undefined}>
      <title>{`${event}: ${from} to ${to}${taken ? ", taken last" : ""}`}</title>
      <path
        class={taken ? "way-line taken" : "way-line"}
        d={path}
        marker-end={taken ? "url(#way-taken)" : "url(#way)"}
      />
      {named && (
        <text class={taken ? "way-text taken" : "way-text"} x={x} y={y}>
          {event}
        </text>
      )}
    </g>
  );
}

/** Heads of the arrows. */
function Heads() {
  return (
    <defs>
      {["way", "way-taken"].map((id) => (
        <marker
          key={id}
          id={id}
          viewBox="0 0 6 6"
          refX="5.5"
          refY="3"
          markerWidth="5"
          markerHeight="5"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path class={id === "way" ? "way-head" : "way-head taken"} d="M0 0L6 3L0 6z" />
        </marker>
      ))}
    </defs>
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
