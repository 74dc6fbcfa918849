/**
 * What commands may use
 * =====================
 * The parts of the runtime that carrying out and answering commands needs, and what each answer is
 * made from.
 */
import type { ConfiguredAgent } from "../domain/config/agent.ts";
import type { Log, SessionRow, Store } from "../domain/ports.ts";
import type { SessionSettings } from "../domain/session.ts";
import type { Standing } from "../machines/effects.ts";
import type { CommandAsked } from "../machines/events.ts";
import type { Compaction } from "./compaction.ts";
import type { Configs } from "./configs.ts";
import type { HostStep } from "./protocol.ts";
import type { Why } from "./runtime.types.ts";
import type { Sessions } from "./sessions.ts";

export interface CommandPorts {
  readonly log: Log;
  readonly store: Store;
  readonly configs: Configs;
  readonly sessions: Pick<Sessions, "opening">;
  readonly compaction: Pick<Compaction, "compact">;
  readonly agentOf: (key: string) => string;
  readonly why: (messageId: string) => Promise<readonly Why[]>;
  /** Null: none is told. */
  readonly version: string | null;
}

/** What an answer is about. */
export interface CommandAbout {
  readonly asked: CommandAsked;
  readonly step: HostStep;
  readonly standing: Standing;
  readonly agent: ConfiguredAgent;
  /** As it was before; null: nothing was said yet. */
  readonly session: SessionRow | null;
  /** With what the command changed. */
  readonly settings: SessionSettings;
}
