/**
 * Turn slots of a node
 * ====================
 * One set of slots for all runtimes of a node: its limits count over all conversations that are active there.
 * Each runtime sees its own requests only. A conversation that this node has again, while what it was here before
 * still ends, has a place of its own: what the one gives back is not the other's.
 */
import type { NodeSlots, SlotRequest, TurnSlots } from "../protocol/conversation-summary.ts";
import { createTurnSlots, type SlotPorts } from "./turn-slots.ts";

interface Place {
  readonly number: number;
  readonly agentId: string;
  isRunning: boolean;
}

export function createNodeSlots(limits: Omit<SlotPorts, "grant">): NodeSlots {
  let numbers = 0;
  const grants = new Map<number, () => void>();
  const all = createTurnSlots({ ...limits, grant: ({ conv }) => grants.get(conv)?.() });

  function join(grant: SlotPorts["grant"]): TurnSlots {
    /** By conversation. */
    const places = new Map<number, Place>();
    let isParked = false;

    function placeFor({ conv, agentId }: SlotRequest): Place {
      numbers += 1;
      const place = { number: numbers, agentId, isRunning: false };
      places.set(conv, place);
      return place;
    }
    const request = (asked: SlotRequest) => {
      if (places.has(asked.conv)) return;
      const place = placeFor(asked);
      grants.set(place.number, () => {
        place.isRunning = true;
        grant(asked);
      });
      if (!isParked) all.request({ ...asked, conv: place.number });
    };
    const release = (conv: number) => {
      const place = places.get(conv);
      if (place === undefined) return;
      places.delete(conv);
      grants.delete(place.number);
      all.release(place.number);
    };
    const counted = (isRunning: boolean, agentId?: string) =>
      [...places.values()].filter(
        (place) => place.isRunning === isRunning && (agentId ?? place.agentId) === place.agentId,
      ).length;

    return {
      request,
      takeFree(asked) {
        if (isParked || places.has(asked.conv)) return false;
        const place = placeFor(asked);
        place.isRunning = all.takeFree({ ...asked, conv: place.number });
        if (!place.isRunning) places.delete(asked.conv);
        return place.isRunning;
      },
      occupy(asked) {
        const place = places.get(asked.conv) ?? placeFor(asked);
        place.isRunning = true;
        all.occupy({ ...asked, conv: place.number });
      },
      release,
      pump: () => all.pump(),
      park() {
        isParked = true;
        for (const { number, isRunning } of places.values()) if (!isRunning) all.release(number);
      },
      leave() {
        for (const conv of [...places.keys()]) release(conv);
      },
      waiting: () => counted(false),
      running: () => counted(true),
      agents: () =>
        [...new Set([...places.values()].map(({ agentId }) => agentId))].map((agentId) => ({
          agentId,
          running: counted(true, agentId),
          waiting: counted(false, agentId),
        })),
    };
  }

  return { join, running: () => all.running() };
}
