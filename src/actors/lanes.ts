/**
 * Lanes
 * =====
 * Turn slots. A conversation has at most one turn, an agent at most `maxConcurrent`, the daemon
 * `maxConcurrentTurns` for each host. Requests are served in the order they came; a conversation has one
 * request at a time, so a busy room cannot push the others back. One whose agent is full is passed over,
 * not waited for.
 *
 * Requests and grants are rows (`run`), written by whoever commits the events; this file only orders.
 */

export interface LaneRequest {
  readonly conv: number;
  readonly key: string;
  readonly agentId: string;
}

export interface Lanes {
  /** Asks for a slot. A conversation that waits or runs already changes nothing. */
  request(request: LaneRequest): void;
  /** Takes a slot that was granted before a restart, whether one is free or not. */
  occupy(request: LaneRequest): void;
  /** Gives the slot (or the place in the queue) back. */
  release(conv: number): void;
  /** Serves the queue again, after the bounds changed. */
  pump(): void;
  waiting(): number;
  running(): number;
}

export interface LanePorts {
  /** Turns at the same time in all. */
  readonly slots: () => number;
  readonly agentSlots: (agentId: string) => number;
  /** The request's turn has come. */
  readonly grant: (request: LaneRequest) => void;
}

export function createLanes({ slots, agentSlots, grant }: LanePorts): Lanes {
  /** In the order of arrival: a Map keeps it and lets the middle go. */
  const queue = new Map<number, LaneRequest>();
  const running = new Map<number, string>();
  const runningOfAgent = new Map<string, number>();
  let pumping = false;

  function take({ conv, agentId }: LaneRequest): void {
    running.set(conv, agentId);
    runningOfAgent.set(agentId, (runningOfAgent.get(agentId) ?? 0) + 1);
  }

  function next(): LaneRequest | undefined {
    if (running.size >= slots()) return undefined;
    for (const request of queue.values()) {
      const taken = runningOfAgent.get(request.agentId) ?? 0;
      if (taken < agentSlots(request.agentId)) return request;
    }
    return undefined;
  }

  function pump(): void {
    // A grant may ask again before this loop goes on; the loop sees it anyway.
    if (pumping) return;
    pumping = true;
    for (let request = next(); request !== undefined; request = next()) {
      queue.delete(request.conv);
      take(request);
      grant(request);
    }
    pumping = false;
  }

  return {
    request(request) {
      if (running.has(request.conv) || queue.has(request.conv)) return;
      queue.set(request.conv, request);
      pump();
    },
    occupy(request) {
      queue.delete(request.conv);
      if (!running.has(request.conv)) take(request);
    },
    release(conv) {
      queue.delete(conv);
      const agentId = running.get(conv);
      if (agentId === undefined) return;
      running.delete(conv);
      const left = (runningOfAgent.get(agentId) ?? 1) - 1;
      if (left === 0) runningOfAgent.delete(agentId);
      else runningOfAgent.set(agentId, left);
      pump();
    },
    pump,
    waiting: () => queue.size,
    running: () => running.size,
  };
}
