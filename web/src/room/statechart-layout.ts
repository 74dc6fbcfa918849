/**
 * The statechart as drawn
 * =======================
 * Five rows with fixed places, so that only classes change while a room lives. Nodes are named by
 * their path in the machine; `typing` is no region of it but is shown as a row, because people
 * look for it. A test compares the names with the machine's states.
 */
import type { RoomState } from "../../../src/daemon/api-types/room.ts";

export const nodeWidth = 72;
export const nodeHeight = 28;
export const chartWidth = 376;
export const chartHeight = 358;

const column = (n: number): number => 66 + n * 79;

export interface ChartNode {
  /** Path in the machine, without its root; or `typing.…`. */
  readonly id: string;
  readonly label: string;
  readonly x: number;
  readonly y: number;
}
export interface ChartRow {
  readonly name: string;
  readonly y: number;
}

const rowHeights = { attention: 14, turn: 78, lock: 154, guard: 236, typing: 308 } as const;
export const chartRows: readonly ChartRow[] = Object.entries(rowHeights).map(([name, y]) => ({
  name,
  y,
}));

const place = (id: string, row: keyof typeof rowHeights, n: number): ChartNode => ({
  id,
  label: id.slice(id.lastIndexOf(".") + 1),
  x: column(n),
  y: rowHeights[row],
});

export const nodes: readonly ChartNode[] = [
  place("attention.observing", "attention", 0),
  place("attention.engaged", "attention", 1),
  place("attention.engaged.gathering", "turn", 0),
  place("attention.engaged.waiting", "turn", 1),
  place("attention.engaged.running", "turn", 2),
  place("attention.engaged.settling", "turn", 3),
  place("lock.granting", "lock", 0),
  place("lock.withheld", "lock", 1),
  place("lock.silenced", "lock", 2),
  place("lock.closed", "lock", 3),
  place("guard.clear", "guard", 0),
  place("guard.tripped", "guard", 1),
  place("guard.muted", "guard", 2),
  place("typing.off", "typing", 0),
  place("typing.on", "typing", 1),
];

const middle = (n: number): number => column(n) + nodeWidth / 2;
/** Brackets from a state to those inside it; blue while it is entered. */
export const drops = [
  { from: "attention.engaged", path: `M${middle(1)} 42V60M${middle(0)} 64v-4H${middle(3)}v4` },
] as const;
/** Dashed rules between what runs side by side. */
export const cuts: readonly number[] = [134, 208, 288];

/** The path of an attention and everything above it: `engaged.running` lights two. */
export function pathsOf(attention: string): readonly string[] {
  const names = attention.split(".");
  return names.map((_, index) => ["attention", ...names.slice(0, index + 1)].join("."));
}

/** The lock lets nothing more of the turn into the room. */
export const isSilenced = ({ lock }: Pick<RoomState, "lock">): boolean =>
  lock === "silenced" || lock === "closed";

/** The nodes that are lit. */
export function litNodes(
  state: Pick<RoomState, "attention" | "lock" | "guard" | "typing">,
): ReadonlySet<string> {
  const { attention, lock, guard } = state;
  const typing = state.typing ? "typing.on" : "typing.off";
  return new Set([...pathsOf(attention), `lock.${lock}`, `guard.${guard.state}`, typing]);
}

/** How long a node shows that it was just left. */
export const leftMs = 1_200;

/**
 * What was left between two looks, with how long ago: states that came and went in between are reported
 * by the trail.
 */
export function leftNodes(before: RoomState | null, now: RoomState): ReadonlyMap<string, number> {
  const lit = litNodes(now);
  const left = new Map<string, number>();
  const leave = (id: string, ago: number) => {
    if (!lit.has(id) && ago < leftMs) left.set(id, Math.max(0, ago));
  };
  for (const { attention, until } of now.trail)
    for (const id of pathsOf(attention)) leave(id, now.now - until);
  if (before !== null) for (const id of litNodes(before)) if (!left.has(id)) leave(id, 0);
  return left;
}
