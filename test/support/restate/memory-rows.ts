/** The virtual object of shared rows in memory: its real handler, on a state that is JSON as Restate stores it. */
import * as sdk from "@restatedev/restate-sdk";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { IngressCall } from "../../../src/engines/restate/calls/ingress-call.ts";
import { rowsObject } from "../../../src/engines/restate/shared/objects.ts";

type Handler = (ctx: unknown, input: unknown) => Promise<unknown>;

export function memoryRows(name: string) {
  const { object } = rowsObject(sdk, name) as unknown as { object: Record<string, Handler> };
  const state = new Map<string, string>();
  const ctx = {
    get: async (key: string) => JSON.parse(state.get(key) ?? "null") as unknown,
    set: (key: string, value: unknown) => void state.set(key, JSON.stringify(value)),
  };
  /** What becomes of the next calls, in turn; then all are answered. */
  const fates: ("call lost" | "answer lost" | "answered")[] = [];
  let held: Promise<void> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const call: IngressCall = async (path, input) => {
    const fate = fates.shift() ?? "answered";
    const lost = () => new EarshotError("EAR_STORE_FAILED", `Cannot reach ${path}: ${fate}.`);
    if (fate === "call lost") throw lost();
    await held;
    const [, , handler] = path.split("/");
    // One call at a time.
    const turn = last.then(() => (object[handler ?? ""] as Handler)(ctx, input));
    last = turn.catch(() => undefined);
    const answer: unknown = JSON.parse(JSON.stringify(await turn));
    if (fate === "answer lost") throw lost();
    return answer;
  };
  /** Calls that are made from now on wait until they are released. */
  function hold(): () => void {
    let release: () => void = () => undefined;
    held = new Promise((resolve) => {
      release = () => {
        held = null;
        resolve();
      };
    });
    return release;
  }
  return { call, fates, hold };
}
