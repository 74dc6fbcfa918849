import {
  createJournal,
  type Journal,
  type JournalPorts,
} from "../../../src/actors/journal/journal.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { eventLoop } from "../../../src/actors/util/scheduling.ts";

/** An empty journal on the real event loop; what it passes on and reports goes nowhere unless named. */
export const createTestJournal = (
  ports: Pick<JournalPorts, "clock" | "store"> & Partial<JournalPorts>,
): Journal =>
  createJournal({
    lastSeq: 0,
    scheduler: eventLoop,
    log: () => undefined,
    events: createRuntimeEvents(() => undefined),
    startGate: { pass: () => undefined },
    onHealth: () => undefined,
    ...ports,
  });
