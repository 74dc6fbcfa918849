/**
 * The parts of the runtime that commands need, and what each answer is made from.
 */
import type { ConfiguredAgent } from "../../domain/config/resolve/agent.ts";
import { holdsSeveralChats } from "../../domain/key.ts";
import { type ChatPlace, inOneChat, type Route } from "../../domain/message.ts";
import type {
  Clock,
  DaemonControl,
  Log,
  OutboxRow,
  SessionRow,
  Store,
  StoreWrite,
} from "../../domain/ports/index.ts";
import type { SessionSettings } from "../../domain/session.ts";
import type { ConversationStatus } from "../../machines/events/effects.ts";
import type { CommandAsked } from "../../machines/events/events.ts";
import type { Configs } from "../journal/config-versions.ts";
import type { AccessStore } from "../protocol/access-store.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { Runtime } from "../protocol/runtime.ts";
import type { Why } from "../protocol/why.ts";
import type { Compaction } from "../sessions/compaction.ts";
import type { Sessions } from "../sessions/session-registry.ts";
import type { SideQuestions } from "../sessions/side-questions.ts";
import type { Approvals } from "./approvals.ts";
import type { ExtensionCommands } from "./extension-commands.ts";

export interface CommandPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly configs: Configs;
  readonly sessions: Pick<Sessions, "opening">;
  readonly compaction: Pick<Compaction, "compact">;
  readonly sideQuestions: SideQuestions;
  readonly agentOf: (key: string) => string;
  readonly canReact: (route: Route) => boolean;
  readonly why: (messageId: string) => Promise<readonly Why[]>;
  readonly label: Runtime["label"];
  /** Null: not shown. */
  readonly version: string | null;
  readonly access: Pick<AccessStore, "allow" | "revoke" | "list">;
  readonly extensions: ExtensionCommands;
  readonly approvals: Pick<Approvals, "pending" | "find" | "answer">;
  /** Null: the daemon cannot be changed from a room. */
  readonly control: DaemonControl | null;
  readonly keep: (writes: readonly StoreWrite[]) => Promise<void>;
  /** Stores a notice of the runtime and sends it. */
  readonly say: (row: OutboxRow) => Promise<void>;
  /** Stops the turn of a conversation. */
  readonly stop: (key: string, by: string) => Promise<void>;
}

/** Whether a message is of the chat where a command was given: its session may hold several. */
export const isOfChat = ({ asked, step }: CommandAbout, message: ChatPlace): boolean =>
  !holdsSeveralChats(step.key) || inOneChat(message, asked.route);

/** The context of an answer. */
export interface CommandAbout {
  readonly asked: CommandAsked;
  readonly step: HostStep;
  readonly status: ConversationStatus;
  readonly agent: ConfiguredAgent;
  /** Before the command; null: no session yet. */
  readonly session: SessionRow | null;
  /** Settings after the command. */
  readonly settings: SessionSettings;
}
