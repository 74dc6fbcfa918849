/** What an attempt of a turn gets from its runner, and reports to it. */
import type { AgentPort, Clock } from "../../domain/ports/index.ts";
import type { Scheduler } from "../../domain/ports/system.ts";
import type { AgentReport } from "../../machines/events/events.ts";
import type { ContextAnswer } from "../protocol/host-protocol.ts";
import type { Fallback, FallbackChange } from "./side-output.ts";

export interface TurnAttemptPorts {
  readonly clock: Clock;
  readonly port: Promise<AgentPort>;
  /** Receives each report of this attempt, in order. */
  readonly report: (event: AgentReport) => void;
  /** The visible text grew. */
  readonly onText: (visible: string) => void;
  /** Reports the current text of a growing message. */
  readonly onDraft: (index: number, text: string) => void;
  /** Asks the main thread. */
  readonly ask: (tool: string, input: unknown) => Promise<ContextAnswer>;
  /** A file or choices that an event asked for in vain. */
  readonly onRefused: (why: string) => void;
  /** The model that answered: a fallback, or null for the one that was asked for. Null: as before. */
  readonly onModel: (fallback: Fallback | null) => FallbackChange | null;
  /** Called for any activity, reported or not. */
  readonly onActivity: () => void;
  readonly scheduler: Scheduler;
}
