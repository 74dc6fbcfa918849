/**
 * Commands that do not come from a room: each is journalled like any other event, or acts on the
 * outbox and the hosts directly.
 */

import type { ConversationEvent } from "../../machines/events/events.ts";
import { setLabel } from "../journal/labels.ts";
import { conversationOf, newEvent } from "../protocol/event-codec.ts";
import type { Runtime, RuntimePorts } from "../protocol/runtime.ts";
import type { Parts } from "./parts.ts";

type Operator = Pick<
  Runtime,
  | "abortTurn"
  | "disengage"
  | "judged"
  | "label"
  | "passivateAll"
  | "crashHost"
  | "resend"
  | "drop"
  | "retryEvent"
  | "dropEvent"
  | "reload"
  | "summaries"
  | "count"
  | "inspect"
  | "uninspect"
>;

export function createOperator(
  { clock, ids, events, live, log }: RuntimePorts,
  opened: () => Parts,
): Operator {
  const { emit } = events;
  async function inject(key: string, event: ConversationEvent): Promise<void> {
    const { journal, configs } = opened();
    const identity = `operator|${ids.next()}`;
    await journal.append([newEvent(conversationOf(key), configs.version(), event, { identity })]);
  }

  return {
    async abortTurn(key, by) {
      const runs = await opened().store.runs();
      if (!runs.some((run) => run.key === key && run.turnId !== null)) return false;
      await inject(key, { type: "run.aborted", at: clock.now(), by, operator: true });
      return true;
    },
    judged: ({ key, ...answer }) =>
      inject(key, { type: "judge.answered", at: clock.now(), ...answer }),
    disengage: (key, by) => {
      const named = by === undefined ? {} : { by };
      return inject(key, { type: "disengage", at: clock.now(), operator: true, ...named });
    },
    label: (order) => setLabel({ clock, ids, events, ...opened() }, order),
    passivateAll: () => opened().supervisor.passivateAll(),
    summaries: async (convs) => opened().supervisor.summaries(convs),
    count: async () => opened().supervisor.count(),
    inspect: (order) => opened().supervisor.inspections.begin(order),
    uninspect: (reader) => opened().supervisor.inspections.stop(reader),
    crashHost: (id) => opened().supervisor.crash(id),
    async resend(outboxId) {
      const { store, outbox } = opened();
      const row = await store.outboxRow(outboxId);
      return row !== null && outbox.resend(row);
    },
    async drop(outboxId) {
      const { store, outbox } = opened();
      const row = await store.outboxRow(outboxId);
      return row !== null && outbox.drop(row);
    },
    async retryEvent(seq) {
      const outcome = await opened().quarantine.retry(seq);
      if (outcome === "retried") log("warn", "event.retried", { seq });
      return outcome;
    },
    dropEvent: (seq) => opened().quarantine.drop(seq),
    async reload(config) {
      const { configs, journal, supervisor, slots, heartbeats, schedules } = opened();
      const write = configs.next(config);
      // Another config may become current while this one is being stored.
      const version = configs.version();
      if (write !== null) await journal.keep([write]);
      supervisor.addConfig({ version, config });
      if (live !== false) emit.line?.({ t: clock.now(), system: "config", version });
      slots.pump();
      await heartbeats.retune();
      await schedules.retune();
    },
  };
}
