/**
 * The steps of deliveries, for inspectors
 * =======================================
 * `deliveryMachine` is asked which steps lead from a row to what it is next: on the node that makes the sends, and on
 * others from what is stored of them.
 */
import type { DeliveryRow, SideStep } from "../../domain/ports/index.ts";
import { type DeliveryState, deliverySteps } from "../../machines/delivery.machine.ts";

/** A row that was just stored. */
const unsent: DeliveryState = { state: "pending", attempts: 0, doubts: 0 };
const over: ReadonlySet<string> = new Set(["sent", "expired", "dead"]);

/** @param before null: there was none */
export function stepsBetween(before: DeliveryState | null, after: DeliveryRow): SideStep[] {
  const { id, conv, error } = after;
  // No steps lead back: such a row is shown as it is, as one that begins.
  const steps = deliverySteps(before ?? unsent, after) ?? [{ ...after, event: "xstate.init" }];
  return steps.map(({ event, state: value, attempts, doubts }, place) => ({
    machine: "delivery",
    id,
    conv,
    event,
    value,
    context: { attempts, doubts },
    detail: place === steps.length - 1 ? error : null,
    ended: over.has(value),
  }));
}
