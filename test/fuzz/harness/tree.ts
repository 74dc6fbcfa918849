/**
 * JSON as text that may be wrong
 * ==============================
 * A tree of a JSON text that can be written with what `JSON.stringify` would never write: a key twice,
 * `__proto__` as a key, a number without end, nesting without end. Fuzzing changes such trees.
 */

/** A node: what is written as it is, a list, or an object whose keys may be there twice. */
export type Node =
  | { readonly kind: "raw"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly Node[] }
  | { readonly kind: "object"; readonly entries: readonly (readonly [string, Node])[] };

export const raw = (text: string): Node => ({ kind: "raw", text });

export function treeOf(value: unknown): Node {
  if (Array.isArray(value)) return { kind: "list", items: value.map(treeOf) };
  if (typeof value === "object" && value !== null)
    return {
      kind: "object",
      entries: Object.entries(value).map(([key, item]) => [key, treeOf(item)] as const),
    };
  return raw(JSON.stringify(value) ?? "null");
}

export function textOf(node: Node): string {
  if (node.kind === "raw") return node.text;
  if (node.kind === "list") return `[${node.items.map(textOf).join(",")}]`;
  const entries = node.entries.map(([key, item]) => `${JSON.stringify(key)}:${textOf(item)}`);
  return `{${entries.join(",")}}`;
}

const childrenOf = (node: Node): readonly Node[] =>
  node.kind === "list"
    ? node.items
    : node.kind === "object"
      ? node.entries.map(([, item]) => item)
      : [];

/** How many nodes a tree has, itself included. */
export const countOf = (node: Node): number =>
  childrenOf(node).reduce((sum, child) => sum + countOf(child), 1);

/** The node at a place, counted in the order of the text; the root is 0. */
export function nodeAt(node: Node, place: number): Node {
  let left = place - 1;
  for (const child of childrenOf(node)) {
    if (place <= 0) break;
    const count = countOf(child);
    if (left < count) return nodeAt(child, left);
    left -= count;
  }
  return node;
}

/** A copy in which the node at a place is another; null: it is left out. */
export function withNodeAt(node: Node, place: number, change: (node: Node) => Node | null): Node {
  if (place <= 0) return change(node) ?? raw("");
  let left = place - 1;
  const replaced = (child: Node): Node | null => {
    const at = left;
    const count = countOf(child);
    left -= count;
    if (at < 0 || at >= count) return child;
    return at === 0 ? change(child) : withNodeAt(child, at, change);
  };
  if (node.kind === "list")
    return { kind: "list", items: node.items.flatMap((item) => replaced(item) ?? []) };
  if (node.kind !== "object") return node;
  const entries = node.entries.flatMap(([key, item]) => {
    const now = replaced(item);
    return now === null ? [] : [[key, now] as const];
  });
  return { kind: "object", entries };
}
