/** Items in order, as many together as one call may carry; an item that is longer alone goes alone. */
export function batchesOf<Item>(
  items: readonly Item[],
  unitsOf: (item: Item) => number,
  unitsMax: number,
): readonly (readonly Item[])[] {
  const batches: Item[][] = [];
  let units = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const more = unitsOf(item);
    if (units + more > unitsMax) {
      batches.push([]);
      units = 0;
    }
    batches.at(-1)?.push(item);
    units += more;
  }
  return batches;
}
