/**
 * What assembly.ts creates, once for each runtime, and the other files here use.
 */

import type { Typing } from "../channels/typing-indicators.ts";
import type { Approvals } from "../commands/approvals.ts";
import type { DecisionWaiters } from "../effects/decision-waiters.ts";
import type { Checkpointer } from "../journal/checkpointer.ts";
import type { Configs } from "../journal/config-versions.ts";
import type { Deadlines } from "../journal/deadlines.ts";
import type { Journal } from "../journal/journal.ts";
import type { Quarantine } from "../journal/quarantine.ts";
import type { StartGate } from "../journal/start-gate.ts";
import type { Judges } from "../judge/judge.ts";
import type { HookRunner } from "../outbox/plugin-hooks.ts";
import type { Outbox } from "../outbox/types.ts";
import type { AccessStore } from "../protocol/access-store.ts";
import type { TurnSlots } from "../protocol/conversation-summary.ts";
import type { Runtime, RuntimePorts } from "../protocol/runtime.ts";
import type { Schedules } from "../protocol/schedules.ts";
import type { SpeakerChecks } from "../protocol/speech.ts";
import type { Supervisor } from "../protocol/supervisor.ts";
import type { Compaction } from "../sessions/compaction.ts";
import type { SessionIndex } from "../sessions/session-index.ts";
import type { Sessions } from "../sessions/session-registry.ts";
import type { SideQuestions } from "../sessions/side-questions.ts";
import type { Summaries } from "../sessions/summarizer.ts";
import type { TranscriptFiles } from "../sessions/transcript-files.ts";
import type { TurnSessions } from "../sessions/turn-session.ts";
import type { ContextTools } from "../turns/context-tools.ts";
import type { FailingAgents } from "../turns/failing-agents.ts";
import type { Heartbeats } from "../turns/heartbeats.ts";
import type { Media } from "../turns/media.ts";
import type { Outgoing } from "../turns/outgoing.ts";
import type { SentPrompts } from "../turns/sent-prompts.ts";
import type { TurnStarter } from "../turns/turn-starter.ts";

export interface Parts extends SessionParts {
  readonly store: RuntimePorts["store"];
  readonly boot: number;
  readonly configs: Configs;
  readonly journal: Journal;
  readonly startGate: StartGate;
  readonly supervisor: Supervisor;
  readonly slots: TurnSlots;
  readonly timers: Deadlines;
  readonly outbox: Outbox;
  readonly typing: Typing;
  readonly turns: TurnStarter;
  readonly waiters: DecisionWaiters;
  readonly checkpointer: Checkpointer;
  readonly access: AccessStore;
  readonly media: Media;
  readonly contextTools: ContextTools;
  readonly outgoing: Outgoing;
  readonly approvals: Approvals;
  readonly heartbeats: Heartbeats;
  readonly judges: Judges;
  readonly failing: FailingAgents;
  readonly sent: SentPrompts;
  readonly schedules: Schedules;
  readonly speaker: Pick<Runtime, "say"> & SpeakerChecks;
  readonly hooks: HookRunner;
  readonly quarantine: Quarantine;

  /** Starts no further turn: the next start finds those that wait. */
  park(): void;
}

export interface SessionParts {
  readonly sessions: Sessions;
  readonly projection: TranscriptFiles;
  readonly sessionIndex: SessionIndex;
  readonly summaries: Summaries;
  readonly compaction: Compaction;
  readonly sideQuestions: SideQuestions;
  readonly turnSessions: TurnSessions;
}
