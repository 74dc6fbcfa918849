/**
 * A conversation has at most one turn, an agent at most `maxConcurrent`, the daemon
 * `maxConcurrentTurns` per host. Requests are served in order of arrival; a conversation has one
 * request at a time, so a busy room cannot starve the others. A request of an agent at its limit is
 * skipped, not waited for.
 *
 * Requests and grants are rows (`run`), written with the events' commits; this file only orders
 * them.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { SlotRequest, TurnSlots } from "../protocol/conversation-summary.ts";

export interface SlotPorts {
  /** Concurrent turns in total. */
  readonly slots: () => number;
  readonly agentSlots: (agentId: string) => number;
  readonly grant: (request: SlotRequest) => void;
}

/** The limits of a config. @param workers hosts, of which each has its own number; 0 counts as one */
export function slotLimits(config: () => EarshotConfig, workers: number): Omit<SlotPorts, "grant"> {
  return {
    slots: () => config().turn.maxConcurrentTurns * Math.max(1, workers),
    agentSlots(agentId) {
      const { list, defaults } = config().agents;
      return list.find(({ id }) => id === agentId)?.maxConcurrent ?? defaults.maxConcurrent;
    },
  };
}

interface Waiting {
  readonly request: SlotRequest;
  readonly order: number;
}

export function createTurnSlots({ slots, agentSlots, grant }: SlotPorts): TurnSlots {
  /** By agent, in order of arrival; a Map preserves the order and allows removal anywhere. */
  const queues = new Map<string, Map<number, Waiting>>();
  const agentOfWaiting = new Map<number, string>();
  let arrivals = 0;
  const running = new Map<number, string>();
  const runningOfAgent = new Map<string, number>();
  let pumping = false;
  let isParked = false;

  function take({ conv, agentId }: SlotRequest): void {
    running.set(conv, agentId);
    runningOfAgent.set(agentId, (runningOfAgent.get(agentId) ?? 0) + 1);
  }

  function join(request: SlotRequest): void {
    arrivals += 1;
    const queue = queues.get(request.agentId) ?? new Map<number, Waiting>();
    queue.set(request.conv, { request, order: arrivals });
    queues.set(request.agentId, queue);
    agentOfWaiting.set(request.conv, request.agentId);
  }

  function leave(conv: number): void {
    const agentId = agentOfWaiting.get(conv);
    if (agentId === undefined) return;
    agentOfWaiting.delete(conv);
    const queue = queues.get(agentId);
    queue?.delete(conv);
    if (queue?.size === 0) queues.delete(agentId);
  }

  /** The earliest request whose agent is below its limit; compares only the first of each agent. */
  function next(): SlotRequest | undefined {
    if (isParked || running.size >= slots()) return undefined;
    let earliest: Waiting | undefined;
    for (const [agentId, queue] of queues) {
      if ((runningOfAgent.get(agentId) ?? 0) >= agentSlots(agentId)) continue;
      const [first] = queue.values();
      if (first === undefined || (earliest?.order ?? first.order) < first.order) continue;
      earliest = first;
    }
    return earliest?.request;
  }

  function pump(): void {
    // A grant may call pump again; this loop handles it.
    if (pumping) return;
    pumping = true;
    for (let request = next(); request !== undefined; request = next()) {
      leave(request.conv);
      take(request);
      grant(request);
    }
    pumping = false;
  }

  return {
    request(request) {
      if (running.has(request.conv) || agentOfWaiting.has(request.conv)) return;
      join(request);
      pump();
    },
    takeFree(request) {
      if (running.has(request.conv) || agentOfWaiting.has(request.conv)) return false;
      join(request);
      const isServed = next()?.conv === request.conv;
      leave(request.conv);
      if (isServed) take(request);
      return isServed;
    },
    occupy(request) {
      leave(request.conv);
      if (!running.has(request.conv)) take(request);
    },
    release(conv) {
      leave(conv);
      const agentId = running.get(conv);
      if (agentId === undefined) return;
      running.delete(conv);
      const left = (runningOfAgent.get(agentId) ?? 1) - 1;
      if (left === 0) runningOfAgent.delete(agentId);
      else runningOfAgent.set(agentId, left);
      pump();
    },
    pump,
    park() {
      isParked = true;
    },
    leave() {
      isParked = true;
      queues.clear();
      agentOfWaiting.clear();
      running.clear();
      runningOfAgent.clear();
    },
    waiting: () => agentOfWaiting.size,
    running: () => running.size,
    agents: () =>
      [...new Set([...runningOfAgent.keys(), ...queues.keys()])].map((agentId) => ({
        agentId,
        running: runningOfAgent.get(agentId) ?? 0,
        waiting: queues.get(agentId)?.size ?? 0,
      })),
  };
}
