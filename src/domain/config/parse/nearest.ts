/**
 * The nearest known word
 * ======================
 * For "did you mean": edit distance in which swapping two neighbours, the most common typo, counts
 * as one edit.
 */

/** Edit distance between two words (insert, delete, replace, swap), ignoring case. */
export function editDistance(left: string, right: string): number {
  const a = left.toLowerCase();
  const b = right.toLowerCase();
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min(
        (previous[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (previous[column - 1] as number) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2];
      if (swapped && a[row - 2] === b[column - 1])
        least = Math.min(least, (before[column - 2] as number) + 1);
      current.push(least);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length] as number;
}

/** The known word most likely meant, or null when none is close. */
export function nearest(word: string, known: readonly string[]): string | null {
  const tried = word.slice(0, 64);
  let best: string | null = null;
  let least = Math.max(2, Math.floor(tried.length / 3)) + 1;
  for (const candidate of known) {
    if (candidate === word) continue;
    const distance = editDistance(tried, candidate);
    if (distance < least) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}
