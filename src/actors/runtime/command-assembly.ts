/**
 * The runtime's parts for commands
 * ================================
 * The executor of commands, and the approvals that wait for one, put together from the other parts.
 */
import type { OutboxRow } from "../../domain/ports/index.ts";
import { type Approvals, createApprovals } from "../commands/approvals.ts";
import { type CommandExecutor, createCommandExecutor } from "../commands/command-executor.ts";
import { createExtensionCommands } from "../commands/extension-commands.ts";
import { canShow } from "../effects/effect-planner.ts";
import type { Configs } from "../journal/config-versions.ts";
import { setLabel } from "../journal/labels.ts";
import { conversationOf, newEvent } from "../protocol/event-codec.ts";
import type { RuntimePorts } from "../protocol/runtime.ts";
import { whyMessage } from "../recording/explain-message.ts";
import type { Parts } from "./parts.ts";

/** Stores a message of the runtime itself and sends it. */
const sayer = (parts: () => Parts) => async (row: OutboxRow) => {
  const { journal, outbox } = parts();
  await journal.keep([{ kind: "outbox", row }]);
  outbox.enqueue([row]);
};

export function createApprovalService(
  { clock, ids, log }: RuntimePorts,
  parts: () => Parts,
): Approvals {
  return createApprovals({ clock, ids, log, say: sayer(parts) });
}

export function createExecutor(
  ports: RuntimePorts,
  configs: Configs,
  agentOf: (key: string) => string,
  parts: () => Parts,
): CommandExecutor {
  const { clock, ids, log, store, events, directory, version = null, control = null } = ports;
  const { isLocal } = directory;
  const { sessions, compaction, sideQuestions, approvals: permits, access } = parts();
  return createCommandExecutor({
    clock,
    log,
    store,
    configs,
    sessions,
    compaction,
    sideQuestions,
    approvals: permits,
    access,
    version,
    control,
    agentOf,
    canReact: (route) => canShow(directory, route, "addReaction"),
    extensions: createExtensionCommands(ports),
    say: sayer(parts),
    keep: (writes) => parts().journal.keep([...writes]),
    why: (messageId) => whyMessage({ store, configs, isLocal }, messageId),
    label: (order) => setLabel({ clock, ids, events, ...parts() }, order),
    async stop(key, by) {
      const event = { type: "run.aborted", at: clock.now(), by } as const;
      const identity = `command|${ids.next()}`;
      const { journal } = parts();
      await journal.append([newEvent(conversationOf(key), configs.version(), event, { identity })]);
    },
  });
}
