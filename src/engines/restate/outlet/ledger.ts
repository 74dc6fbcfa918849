/**
 * The calls that wait at an account's outlet, without Restate
 * ===========================================================
 * Pure: the calls and what is done to them in, the next calls and the results that are known by it out.
 *
 * A call is taken by the holder of the account's lease, by its epoch. What one epoch has taken and a later one finds
 * not settled is in doubt: nobody can say whether it was made. What was not taken waits for the next.
 */
import type { Result } from "./wire.ts";

/** Oldest first. */
export type Ledger = readonly WaitingCall[];

interface WaitingCall {
  readonly attempt: string;
  /** Wakes its caller. */
  readonly awakeable: string;
  /** The holder that has taken it; null: none. */
  readonly epoch: number | null;
}

/** A result and its caller. */
export interface Known {
  readonly attempt: string;
  readonly awakeable: string;
  readonly result: Result;
}

const failed = (code: string, message: string): Result => ({
  kind: "failed",
  code,
  message,
  retryAfterMs: null,
});
const full = failed(
  "EAR_CHANNEL_UNAVAILABLE",
  "Cannot send: too many calls wait for the node that has the connection",
);
const untaken = failed(
  "EAR_CHANNEL_UNAVAILABLE",
  "Cannot send: no node with the connection has taken it in time",
);
const doubtful = failed(
  "EAR_SEND_IN_DOUBT",
  "Cannot confirm the send: the node that had the connection has lost it",
);

const knownAs =
  (result: Result) =>
  ({ attempt, awakeable }: WaitingCall): Known => ({ attempt, awakeable, result });

/** A call comes. One that is there already goes on as it is. */
export function put(
  ledger: Ledger,
  call: Omit<WaitingCall, "epoch">,
  max: number,
): { readonly ledger: Ledger; readonly known: readonly Known[] } {
  if (ledger.some(({ attempt }) => attempt === call.attempt)) return { ledger, known: [] };
  const waiting = { ...call, epoch: null };
  if (ledger.length >= max) return { ledger, known: [knownAs(full)(waiting)] };
  return { ledger: [...ledger, waiting], known: [] };
}

/**
 * A holder takes up to `room` calls. `has`: those that it has taken before and not settled; others of its own never
 * came to it, and are taken again.
 */
export function take(
  ledger: Ledger,
  { epoch, has, room }: { epoch: number; has: readonly string[]; room: number },
): {
  readonly ledger: Ledger;
  readonly given: readonly string[];
  readonly known: readonly Known[];
} {
  const kept = new Set(has);
  const isDoubtful = (call: WaitingCall) => call.epoch !== null && call.epoch < epoch;
  const known = ledger.filter(isDoubtful).map(knownAs(doubtful));
  const given: string[] = [];
  const next = ledger.flatMap((call): WaitingCall[] => {
    if (isDoubtful(call)) return [];
    if (call.epoch !== null && kept.has(call.attempt)) return [call];
    if (given.length >= room) return [{ ...call, epoch: null }];
    given.push(call.attempt);
    return [{ ...call, epoch }];
  });
  return { ledger: next, given, known };
}

/** A holder says what became of calls that it has taken; null: it has not begun. What is not its own stays. */
export function settle(
  ledger: Ledger,
  epoch: number,
  results: ReadonlyMap<string, Result | null>,
): { readonly ledger: Ledger; readonly known: readonly Known[] } {
  const known: Known[] = [];
  const next = ledger.flatMap((call): WaitingCall[] => {
    const result = call.epoch === epoch ? results.get(call.attempt) : undefined;
    if (result === undefined) return [call];
    if (result === null) return [{ ...call, epoch: null }];
    known.push(knownAs(result)(call));
    return [];
  });
  return { ledger: next, known };
}

/** A caller does not want to wait longer; what was taken goes on. */
export function withdraw(
  ledger: Ledger,
  attempt: string,
): { readonly ledger: Ledger; readonly known: readonly Known[] } {
  const isMeant = (call: WaitingCall) => call.attempt === attempt && call.epoch === null;
  return {
    ledger: ledger.filter((call) => !isMeant(call)),
    known: ledger.filter(isMeant).map(knownAs(untaken)),
  };
}
