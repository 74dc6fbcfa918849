/**
 * Differences between two texts
 * =============================
 * Line by line, by the longest common subsequence: removed and added lines with a few lines of
 * context. Configs have hundreds of lines, so the plain table is small; common lines at both ends
 * are left out of it.
 */

export interface DiffLine {
  readonly kind: "same" | "del" | "add";
  readonly text: string;
  /** Number in the text it is in: the old one for what went. */
  readonly number: number;
}
export interface DiffGap {
  readonly kind: "gap";
  readonly count: number;
  readonly number: number;
}

/** Beyond this the middle is shown as replaced whole. */
const cellsMax = 4_000_000;
const contextLines = 2;

/** All lines of both, in order. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  const room = Math.min(a.length, b.length) - head;
  while (tail < room && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const lines: DiffLine[] = [];
  for (let n = 0; n < head; n += 1) lines.push({ kind: "same", text: b[n] ?? "", number: n + 1 });
  middle(a, b, head, a.length - tail, b.length - tail, lines);
  for (let n = b.length - tail; n < b.length; n += 1)
    lines.push({ kind: "same", text: b[n] ?? "", number: n + 1 });
  return lines;
}

function middle(
  a: readonly string[],
  b: readonly string[],
  from: number,
  aEnd: number,
  bEnd: number,
  into: DiffLine[],
): void {
  const rows = aEnd - from;
  const columns = bEnd - from;
  const went = (i: number) => into.push({ kind: "del", text: a[i] ?? "", number: i + 1 });
  const came = (j: number) => into.push({ kind: "add", text: b[j] ?? "", number: j + 1 });
  const table = rows * columns > cellsMax ? null : tableOf(a, b, from, rows, columns);
  let i = from;
  let j = from;
  while (i < aEnd && j < bEnd && table !== null) {
    const at = (di: number, dj: number) => table[(di - from) * (columns + 1) + (dj - from)] ?? 0;
    if (a[i] === b[j]) {
      into.push({ kind: "same", text: b[j] ?? "", number: j + 1 });
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      went(i);
      i += 1;
    } else {
      came(j);
      j += 1;
    }
  }
  for (; i < aEnd; i += 1) went(i);
  for (; j < bEnd; j += 1) came(j);
}

/** Lengths of the longest common parts of what is left of both. */
function tableOf(
  a: readonly string[],
  b: readonly string[],
  from: number,
  rows: number,
  columns: number,
): Uint16Array {
  const width = columns + 1;
  const table = new Uint16Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i -= 1)
    for (let j = columns - 1; j >= 0; j -= 1)
      table[i * width + j] =
        a[from + i] === b[from + j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
  return table;
}

/** The same with long stretches of equal lines left out. */
export function folded(lines: readonly DiffLine[]): readonly (DiffLine | DiffGap)[] {
  const near = lines.map(() => false);
  for (const [index, { kind }] of lines.entries())
    if (kind !== "same")
      for (let n = index - contextLines; n <= index + contextLines; n += 1)
        if (n >= 0 && n < lines.length) near[n] = true;
  const out: (DiffLine | DiffGap)[] = [];
  for (let index = 0; index < lines.length; ) {
    let end = index;
    while (end < lines.length && near[end] !== true) end += 1;
    // A gap of one line is longer than the line.
    if (end - index > 1) out.push({ kind: "gap", count: end - index, number: index + 1 });
    else out.push(...lines.slice(index, end));
    index = end;
    while (index < lines.length && near[index] === true) out.push(lines[index++] as DiffLine);
  }
  return out;
}

/** Numbers of lines of the new text that are not in the old one. */
export function addedLines(before: string, after: string): ReadonlySet<number> {
  const added = diffLines(before, after).filter(({ kind }) => kind === "add");
  return new Set(added.map(({ number }) => number));
}
