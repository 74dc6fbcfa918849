/**
 * What operators order about rows: one order for a row at a time. Two who click at once order one send; the
 * second learns that nothing was done, as it would a moment later.
 */
import type { OutboxRow } from "../../domain/ports/index.ts";

/** Carries out an order; false: it cannot be carried out. */
export type RowOrder = (row: OutboxRow) => Promise<boolean>;

/** Makes orders of which none begins on a row while another one is under way there. */
export function createRowOrders(): (order: RowOrder) => RowOrder {
  const underWay = new Set<string>();
  return (order) => async (row) => {
    if (underWay.has(row.id)) return false;
    underWay.add(row.id);
    try {
      return await order(row);
    } finally {
      underWay.delete(row.id);
    }
  };
}
