/**
 * The runtime's parts for commands
 * ================================
 * The desk that carries commands out, and the permissions that wait for one of them, put together
 * from the other parts.
 */
import type { OutboxRow } from "../domain/ports.ts";
import { type CommandDesk, createCommandDesk } from "./commands.ts";
import type { Configs } from "./configs.ts";
import { createExtras } from "./extras.ts";
import { conversationOf, newEvent } from "./journal.codec.ts";
import { createPermits, type Permits } from "./permits.ts";
import type { Parts } from "./runtime.parts.ts";
import type { RuntimePorts } from "./runtime.types.ts";
import { whyMessage } from "./why.ts";

/** Stores a line of the runtime's own and sends it. */
const sayer = (parts: () => Parts) => async (row: OutboxRow) => {
  const { journal, outbox } = parts();
  await journal.keep([{ kind: "outbox", row }]);
  outbox.enqueue([row]);
};

export function createPermitDesk({ clock, ids, log }: RuntimePorts, parts: () => Parts): Permits {
  return createPermits({ clock, ids, log, say: sayer(parts) });
}

export function createDesk(
  ports: RuntimePorts,
  configs: Configs,
  agentOf: (key: string) => string,
  parts: () => Parts,
): CommandDesk {
  const { clock, ids, log, store, directory, version = null, house = null } = ports;
  const { isLocal } = directory;
  const { sessions, compaction, permits, access } = parts();
  return createCommandDesk({
    ...{
      clock,
      log,
      store,
      configs,
      sessions,
      compaction,
      permits,
      access,
      version,
      house,
      agentOf,
    },
    extras: createExtras(ports),
    say: sayer(parts),
    keep: (writes) => parts().journal.keep([...writes]),
    why: (messageId) => whyMessage({ store, configs, isLocal }, messageId),
    async stop(key, by) {
      const event = { type: "run.aborted", at: clock.now(), by } as const;
      const identity = `command|${ids.next()}`;
      const { journal } = parts();
      await journal.append([newEvent(conversationOf(key), configs.version(), event, { identity })]);
    },
  });
}
