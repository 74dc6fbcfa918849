/**
 * What starting a turn needs
 * ==========================
 * The turn starter with the parts of the runtime that build a turn's prompt and notify its
 * conversation.
 */
import type { ConversationEvent } from "../../machines/events/events.ts";
import { createExtensionCommands } from "../commands/extension-commands.ts";
import type { Configs } from "../journal/config-versions.ts";
import { type NewEvent, newEvent } from "../protocol/event-codec.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { RuntimePorts } from "../protocol/runtime.ts";
import type { ComposerPorts } from "../turns/turn-composer.ts";
import { createTurnStarter, type TurnStarter } from "../turns/turn-starter.ts";
import type { Parts, SessionParts } from "./parts.ts";

export interface TurnParts {
  readonly configs: Configs;
  readonly sessions: SessionParts;
  /** The other parts, available after assembly. */
  readonly parts: () => Parts;
  readonly agentOf: (key: string) => string;
  /** Journals events of the runtime itself. */
  readonly append: (events: readonly NewEvent[]) => void;
}

export function assembleTurns(ports: RuntimePorts, own: TurnParts): TurnStarter {
  const { clock, log, events } = ports;
  const { configs, parts } = own;
  const extensions = createExtensionCommands(ports);
  return createTurnStarter({
    log,
    events,
    now: () => clock.now(),
    supervisor: () => parts().supervisor,
    composer: () => composing(ports, own, extensions),
    approvals: () => parts().approvals,
    journal: {
      synced: () => parts().journal.synced(),
      syncAhead: () => parts().journal.syncAhead(),
    },
    sent: () => parts().sent,
    prompts: ports.prompts === true,
    waiting: () => parts().media.waiting() + parts().compaction.waiting(),
    report: ({ conv, key }: HostStep, event: ConversationEvent, part: string) => {
      const turnId = "turnId" in event ? event.turnId : "";
      const identity = `turn|${turnId}|${part}`;
      own.append([newEvent({ conv, key }, configs.version(), event, { identity })]);
    },
  });
}

/** The parts that build a prompt. */
function composing(
  { store, ids, directory, live, outgoing }: RuntimePorts,
  { configs, sessions, parts, agentOf }: TurnParts,
  extensions: ComposerPorts["extensions"],
): ComposerPorts {
  const { hooks, media, contextTools: asks, heartbeats } = parts();
  return {
    store,
    configs,
    extensions,
    ids,
    agentOf,
    media,
    contextTools: asks,
    heartbeats,
    sessions: sessions.turnSessions,
    textLimit: directory.textLimit,
    // Plugins are asked about whole texts, before anything is shown.
    canEdit: ({ channel, account }) =>
      !hooks.hears("message.sending") &&
      directory.outbound(channel, account)?.editText !== undefined,
    canReact: ({ channel, account }) => {
      const outbound = directory.outbound(channel, account);
      return outbound === null || outbound.addReaction !== undefined;
    },
    canSendFiles: ({ channel, account }) =>
      outgoing !== undefined && directory.outbound(channel, account)?.sendMedia !== undefined,
    watched: live !== false,
  };
}
