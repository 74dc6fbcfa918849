/**
 * What starting a turn needs
 * ==========================
 * The turn starter with the parts of the runtime that a turn's prompt is made from, and the ways by
 * which its conversation hears of it.
 */
import type { ConversationEvent } from "../../machines/events/events.ts";
import { composeSteered } from "../../machines/prompt/prompt.ts";
import { createExtensionCommands } from "../commands/extension-commands.ts";
import type { Configs } from "../journal/config-versions.ts";
import { type NewEvent, newEvent } from "../protocol/event-codec.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { RuntimePorts } from "../protocol/runtime.ts";
import { type ComposerPorts, composeTurn, readMessages } from "../turns/turn-composer.ts";
import { createTurnStarter, type TurnStarter } from "../turns/turn-starter.ts";
import type { Parts, SessionParts } from "./parts.ts";

export interface TurnParts {
  readonly configs: Configs;
  readonly sessions: SessionParts;
  /** The rest, once it is made. */
  readonly parts: () => Parts;
  readonly agentOf: (key: string) => string;
  /** Journals what the runtime itself has to say. */
  readonly append: (events: readonly NewEvent[]) => void;
}

export function assembleTurns(ports: RuntimePorts, own: TurnParts): TurnStarter {
  const { store, clock, log } = ports;
  const { configs, parts } = own;
  const extras = createExtensionCommands(ports);
  return createTurnStarter({
    log,
    now: () => clock.now(),
    supervisor: {
      run: (order) => {
        ports.events.emit.agentCalled?.(order.turnId, order.attempt);
        parts().supervisor.run(order);
      },
      abort: (turnId, reason) => parts().supervisor.abort(turnId, reason),
      steer: (turnId, text) => parts().supervisor.steer(turnId, text),
    },
    waiting: () => parts().media.waiting() + parts().compaction.waiting(),
    compose: async (effect, step, signal) => {
      const order = await composeTurn(
        { ...composing(ports, own), extensions: extras },
        effect,
        step,
        signal,
      );
      if (order === null) return null;
      const { key, turn, prompt } = order;
      const { turnId, route } = effect;
      const { replyAgeMsMax: ageMsMax } = configs.settings(key).turn;
      parts().approvals.opened({ turnId, conv: step.conv, key, route, ageMsMax });
      if (ports.prompts === true)
        ports.events.emit.line?.({ t: clock.now(), key, event: "prompt", turn, text: prompt });
      return order;
    },
    words: async (batch) => {
      const messages = await readMessages({ store, media: parts().media }, batch);
      return composeSteered(messages, ports.ids.next());
    },
    report: ({ conv, key }: HostStep, event: ConversationEvent, part: string) => {
      const turnId = "turnId" in event ? event.turnId : "";
      const identity = `turn|${turnId}|${part}`;
      own.append([newEvent({ conv, key }, configs.version(), event, { identity })]);
    },
  });
}

/** What a prompt is made from. */
function composing(
  { store, ids, directory, live }: RuntimePorts,
  { configs, sessions, parts, agentOf }: TurnParts,
): Omit<ComposerPorts, "extensions"> {
  const { hooks, media, contextTools: asks, heartbeats } = parts();
  return {
    store,
    configs,
    ids,
    agentOf,
    media,
    contextTools: asks,
    heartbeats,
    sessions: sessions.turnSessions,
    textLimit: directory.textLimit,
    // What plugins are asked about is whole before it is shown.
    canEdit: ({ channel, account }) =>
      !hooks.hears("message.sending") &&
      directory.outbound(channel, account)?.editText !== undefined,
    canReact: ({ channel, account }) => {
      const outbound = directory.outbound(channel, account);
      return outbound === null || outbound.addReaction !== undefined;
    },
    watched: live !== false,
  };
}
