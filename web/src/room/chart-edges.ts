/**
 * The ways between the states of the chart: those that are usual are always drawn, with the event that
 * takes them; one that was just taken is drawn with its event, also if it is a rare one. A test compares
 * them with the machine.
 */
import type { RoomPlace } from "../../../src/daemon/api-types/room-transitions.ts";
import { type ChartNode, nodeHeight, nodes, nodeWidth } from "./statechart-layout.ts";

export interface ChartEdge {
  readonly from: string;
  readonly to: string;
  readonly event: string;
}
export interface DrawnEdge extends ChartEdge {
  readonly path: string;
  readonly x: number;
  readonly y: number;
}

/** Typing is no region of the machine: the way into it is what the agent does. */
export const usualEdges: readonly ChartEdge[] = [
  ["attention.observing", "attention.engaged.gathering", "message.received"],
  ["attention.engaged.gathering", "attention.engaged.waiting", "deadline.due"],
  ["attention.engaged.waiting", "attention.engaged.running", "lane.granted"],
  ["attention.engaged.running", "attention.engaged.settling", "agent.ended"],
  ["attention.engaged.settling", "attention.observing", "delivery.sent"],
  ["lock.granting", "lock.withheld", "disengage"],
  ["lock.granting", "lock.silenced", "skip"],
  ["lock.silenced", "lock.closed", "disengage"],
  ["guard.clear", "guard.tripped", "message.received"],
  ["guard.tripped", "guard.muted", "message.received"],
  ["guard.muted", "guard.clear", "message.received"],
  ["typing.off", "typing.on", "agent.spoke"],
].map(([from = "", to = "", event = ""]) => ({ from, to, event }));

/** The lit leaf of each region. */
function leavesOf({ attention, lock, guard, typing }: RoomPlace): readonly string[] {
  const typed = typing ? "typing.on" : "typing.off";
  return [`attention.${attention}`, `lock.${lock}`, `guard.${guard}`, typed];
}

/** What a step took, a way for each region in which something changed. */
export function takenEdges(from: RoomPlace, to: RoomPlace, event: string): readonly ChartEdge[] {
  const ends = leavesOf(to);
  return leavesOf(from).flatMap((leaf, region) => {
    const end = ends[region] ?? leaf;
    return end === leaf ? [] : [{ from: leaf, to: end, event }];
  });
}

const byId = new Map(nodes.map((node) => [node.id, node]));
const middle = ({ x }: ChartNode) => x + nodeWidth / 2;
/** Left of all states, for ways up into the first row. */
const leftX = 59;

/** Where a way is drawn, and where its event is written. Null: a state is not drawn. */
export function drawn(edge: ChartEdge): DrawnEdge | null {
  const [from, to] = [byId.get(edge.from), byId.get(edge.to)];
  if (from === undefined || to === undefined) return null;
  return { ...edge, ...wayBetween(from, to, edge.event) };
}

/** A longer name beside another one goes above it. */
const shortUnits = 13;

function wayBetween(
  from: ChartNode,
  to: ChartNode,
  event: string,
): Pick<DrawnEdge, "path" | "x" | "y"> {
  const below = from.y + nodeHeight;
  if (from.y < to.y) {
    // Into the row below, left of its bracket where the state is right below.
    const x = from.x === to.x ? from.x + 12 : middle(from);
    const end = from.x === to.x ? x : to.x + 12;
    return { path: `M${x} ${below}C${x} ${to.y} ${end} ${below} ${end} ${to.y}`, x: 125, y: 53 };
  }
  if (from.y > to.y) {
    const y = below + 8;
    const path = `M${middle(from)} ${below}V${y}H${leftX}V${to.y + nodeHeight / 2}H${to.x}`;
    return { path, x: (middle(from) + leftX) / 2, y: y + 10 };
  }
  const y = from.y + nodeHeight / 2;
  const isNext = to.x > from.x && to.x - from.x < nodeWidth * 1.5;
  if (isNext) {
    const x = from.x + nodeWidth;
    const isOdd = Math.round(from.x / nodeWidth) % 2 === 0;
    const above = event.length > shortUnits && isOdd ? 15 : 4;
    return { path: `M${x} ${y}H${to.x}`, x: (x + to.x) / 2, y: from.y - above };
  }
  const depth = below + 8;
  const path = `M${middle(from)} ${below}V${depth}H${middle(to)}V${below}`;
  return { path, x: (middle(from) + middle(to)) / 2, y: depth + 10 };
}
