/**
 * Changes that break what is read
 * ===============================
 * An input is a list of frames: one for a file or a request, one for each line of a stream. A change
 * is a name and three numbers, so fast-check draws it, shrinks it and prints it, and the same seed
 * makes the same input. Changes of the first kind know JSON, the others only bytes and frames.
 */
import fc from "fast-check";
import { countOf, type Node, nodeAt, raw, textOf, treeOf, withNodeAt } from "./tree.ts";

export type Frames = readonly Buffer[];
/** `frame` and `place` choose where, `what` which of the nasty ones; each is taken modulo. */
interface Change {
  readonly name: string;
  readonly frame: number;
  readonly place: number;
  readonly what: number;
}

const long = (units: number, letter = "a") => JSON.stringify(letter.repeat(units));
const nested = (depth: number, open: string, close: string) =>
  `${open.repeat(depth)}${open === "[" ? "" : "1"}${close.repeat(depth)}`;

/** Values of every kind that a field does not expect, as JSON text. */
const nasty: readonly string[] = [
  ...["null", "true", "false", "0", "-0", "-1", "1.5", '""', "[]", "{}", "[null]", '"x"'],
  ...["1e308", "1e999", "-1e999", "9007199254740993", "123456789012345678901234567890", "1e-400"],
  ...['"__proto__"', '"constructor"', '"toString"', '"hasOwnProperty"', '"NaN"', '"undefined"'],
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"length":4294967296}',
  '{"toString":1,"valueOf":1,"toJSON":1}',
  '{"then":1}',
  ...['"\\ud800"', '"\\udc00\\ud800x"', '"\\u0000"', '"a\\u0000b"', '"\\r\\n"', '"\\u001b[2J"'],
  ...['"\\u001b]52;c;eA==\\u0007"', '"\\u009b2J"', '"\\u202eabc\\u2066"', '"\\u2028\\u2029"'],
  ...[
    '"../../etc/passwd"',
    '"C:\\\\x"',
    '"a%2fb"',
    '"%00"',
    '"%ff"',
    '"%"',
    '"file:///etc/passwd"',
  ],
  ...['"http://127.0.0.1:1/"', '"http://user:pass@[::1]/"', '"javascript:1"', '"//x"', '"http://"'],
  ...['"1970-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"', '"0000"', '"12:99"', '"-1"', '"0x10"'],
  ...[
    long(70),
    long(5_000),
    long(70_000),
    long(3_000, "`"),
    long(3_000, "("),
    long(2_000, "\u{1f468}\u200d"),
  ],
  ...[
    long(5_000, "e\u0301"),
    long(3_000, "<"),
    long(3_000, "@"),
    long(3_000, ">"),
    long(3_000, "\\"),
  ],
  nested(60, "[", "]"),
  nested(60, '{"a":', "}"),
  nested(5_000, "[", "]"),
  nested(5_000, '{"a":', "}"),
  `[${Array.from({ length: 3_000 }, (_, index) => index).join(",")}]`,
  `{${Array.from({ length: 3_000 }, (_, index) => `"k${index}":${index}`).join(",")}}`,
];

const nastyKeys: readonly string[] = [
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then", "toJSON", ""],
  ...[
    "length",
    "0",
    "-1",
    "a\u0000b",
    "\u001b[2J",
    "\u202ex",
    "\ud800",
    "a.b",
    "a[0]",
    "a\nb",
    "%",
  ],
  ...["k".repeat(70), "k".repeat(5_000), `\${HOME}`, "$ref", "kind", "type", "id"],
];

/** Bytes that a text does not expect. */
const nastyBytes: readonly Buffer[] = [
  ...[[0], [0xff], [0xfe, 0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]],
  ...[[0xe2, 0x82], [0xef, 0xbb, 0xbf], [0x0a], [0x0d], [0x0d, 0x0a, 0x0d, 0x0a], [0x1b, 0x5b]],
  ...[[0x22], [0x5c], [0x7b], [0x5b], [0x7d], [0x5d], [0x2c], [0x3a], [0x09], [0x20]],
].map((bytes) => Buffer.from(bytes));

const pick = <Item>(items: readonly Item[], what: number): Item =>
  items[what % items.length] as Item;

type OfTree = (tree: Node, place: number, what: number) => Node;
const ofTrees: Readonly<Record<string, OfTree>> = {
  value: (tree, place, what) => withNodeAt(tree, place, () => raw(pick(nasty, what))),
  leaf: (tree, place, what) => {
    const { kind } = nodeAt(tree, place);
    return kind === "raw" ? withNodeAt(tree, place, () => raw(pick(nasty, what))) : tree;
  },
  drop: (tree, place) => withNodeAt(tree, Math.max(1, place), () => null),
  wrap: (tree, place, what) =>
    withNodeAt(tree, place, (node) =>
      what % 2 === 0
        ? { kind: "list", items: [node] }
        : { kind: "object", entries: [[pick(nastyKeys, what), node]] },
    ),
  copy: (tree, place, what) => withNodeAt(tree, place, () => nodeAt(tree, what % countOf(tree))),
  twice: (tree, place) =>
    withNodeAt(tree, place, (node) =>
      node.kind === "list"
        ? { kind: "list", items: node.items.flatMap((item) => [item, item]) }
        : node.kind === "object"
          ? { kind: "object", entries: node.entries.flatMap((entry) => [entry, entry]) }
          : node,
    ),
  turned: (tree, place) =>
    withNodeAt(tree, place, (node) =>
      node.kind === "list"
        ? { kind: "list", items: node.items.toReversed() }
        : node.kind === "object"
          ? { kind: "object", entries: node.entries.toReversed() }
          : node,
    ),
  key: (tree, place, what) =>
    withNodeAt(tree, place, (node) => {
      if (node.kind !== "object" || node.entries.length === 0) return node;
      const at = what % node.entries.length;
      const entries = node.entries.map(([key, item], index) =>
        index === at ? ([pick(nastyKeys, what), item] as const) : ([key, item] as const),
      );
      return { kind: "object", entries };
    }),
  added: (tree, place, what) =>
    withNodeAt(tree, place, (node) => {
      const value = raw(pick(nasty, what));
      if (node.kind === "list") return { kind: "list", items: [...node.items, value] };
      if (node.kind !== "object") return node;
      return { kind: "object", entries: [...node.entries, [pick(nastyKeys, what), value]] };
    }),
};

type OfBytes = (bytes: Buffer, place: number, what: number) => Buffer;
const ofBytes: Readonly<Record<string, OfBytes>> = {
  flip: (bytes, place, what) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0)
      copy[place % copy.length] = (copy[place % copy.length] as number) ^ (1 << (what % 8));
    return copy;
  },
  cut: (bytes, place) => bytes.subarray(0, place % (bytes.length + 1)),
  insert: (bytes, place, what) => {
    const at = place % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), pick(nastyBytes, what), bytes.subarray(at)]);
  },
  remove: (bytes, place, what) => {
    const at = place % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + (what % 32))]);
  },
  repeat: (bytes, place, what) => {
    const at = place % (bytes.length + 1);
    const part = bytes.subarray(at, at + 1 + (what % 64));
    return Buffer.concat([
      bytes.subarray(0, at),
      ...Array(1 + (what % 200)).fill(part),
      bytes.subarray(at),
    ]);
  },
  emptied: () => Buffer.alloc(0),
};

type OfFrames = (frames: Frames, place: number, what: number) => Frames;
const ofFrames: Readonly<Record<string, OfFrames>> = {
  again: (frames, place) => frames.toSpliced(place, 0, frames[place] as Buffer),
  gone: (frames, place) => frames.toSpliced(place, 1),
  later: (frames, place, what) => {
    const frame = frames[place] as Buffer;
    return frames.toSpliced(place, 1).toSpliced(what % frames.length, 0, frame);
  },
  glued: (frames, place) =>
    frames.toSpliced(place, 2, Buffer.concat(frames.slice(place, place + 2))),
  many: (frames, place, what) =>
    frames.toSpliced(place, 0, ...Array<Buffer>(1 + (what % 300)).fill(frames[place] as Buffer)),
};

/** Frames that are not JSON are changed as bytes. */
function changedFrame(frame: Buffer, name: string, place: number, what: number): Buffer {
  const change = ofTrees[name];
  if (change === undefined) return (ofBytes[name] as OfBytes)(frame, place, what);
  try {
    const tree = treeOf(JSON.parse(frame.toString("utf8")));
    return Buffer.from(textOf(change(tree, place % countOf(tree), what)));
  } catch (error) {
    // It is not JSON, or nested so deep that only its bytes can be changed.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return (ofBytes.flip as OfBytes)(frame, place, what);
  }
}

/** The frames with the changes made in order; of at most 2 MB in all. */
export function changed(frames: Frames, changes: readonly Change[]): Frames {
  return changes.reduce((now: Frames, { name, frame, place, what }) => {
    if (now.length === 0) return now;
    const at = frame % now.length;
    const change = ofFrames[name];
    const next =
      change === undefined
        ? now.toSpliced(at, 1, changedFrame(now[at] as Buffer, name, place, what))
        : change(now, at, what);
    return next.reduce((sum, { length }) => sum + length, 0) > 2_097_152 ? now : next;
  }, frames);
}

const names = [...Object.keys(ofTrees), ...Object.keys(ofBytes), ...Object.keys(ofFrames)];
/** What a field gets is what finds most, so it is drawn more often. */
const often = ["value", "leaf", "leaf", "value", "key", "added", "drop"];

const anyChanges: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({
    name: fc.constantFrom(...names, ...often),
    frame: fc.nat({ max: 10_000 }),
    place: fc.nat({ max: 1_000_000 }),
    what: fc.nat({ max: 100_000 }),
  }),
  { minLength: 1, maxLength: 5 },
);

/** A seed by its number, taken modulo, and what is changed in it. */
export interface Draw {
  readonly seed: number;
  readonly changes: readonly Change[];
}

export const anyDraw: fc.Arbitrary<Draw> = fc.record({
  seed: fc.nat({ max: 10_000 }),
  changes: anyChanges,
});
