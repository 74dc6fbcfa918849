/**
 * The fault script of the test servers: what goes wrong on which of the next requests. A server
 * asks it once a request; without a script nothing goes wrong.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

export type Fault =
  /** An error in the platform's own form. */
  | { readonly kind: "refuse"; readonly status: number; readonly retryAfter?: number }
  /** Taken and never answered. `done`: what was asked is done all the same. */
  | { readonly kind: "hang"; readonly done?: boolean }
  /** The socket is cut. `done`: what was asked is done all the same. */
  | { readonly kind: "reset"; readonly done?: boolean }
  /** A proxy's page in place of an answer. */
  | { readonly kind: "html"; readonly status: number }
  | { readonly kind: "slow"; readonly ms: number }
  /** Updates come twice, or backwards, in one answer. */
  | { readonly kind: "duplicate" }
  | { readonly kind: "reorder" };

export interface FaultScript {
  /** The next `count` requests of a method fail like this, after those scripted before. */
  add(method: string, fault: Fault, count?: number): void;
  next(method: string): Fault | null;
  clear(): void;
}

export function createFaultScript(): FaultScript {
  const scripted = new Map<string, Fault[]>();
  return {
    add(method, fault, count = 1) {
      const list = scripted.get(method) ?? [];
      for (let n = 0; n < count; n += 1) list.push(fault);
      scripted.set(method, list);
    },
    next: (method) => scripted.get(method)?.shift() ?? null,
    clear: () => scripted.clear(),
  };
}

/** Ends a request the way `fault` says, if it is one that has no answer of the platform in it. */
export function breakAnswer(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  switch (fault.kind) {
    case "hang":
      return true;
    case "reset":
      request.socket.resetAndDestroy();
      return true;
    case "html":
      response.writeHead(fault.status, { "content-type": "text/html" });
      response.end(`<html><body><h1>${fault.status} Bad Gateway</h1></body></html>`);
      return true;
    default:
      return false;
  }
}
