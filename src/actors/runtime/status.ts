/**
 * The runtime's state in numbers
 * ==============================
 * For `/readyz`, `earshot status` and the pages: computed on each read.
 */
import type { Ingress } from "../ingress/ingress.ts";
import type { RuntimeStatus } from "../protocol/runtime.ts";
import type { Parts } from "./parts.ts";

export interface StatusReader {
  read(): RuntimeStatus;
  /** Something that only a restart repairs. */
  problem(text: string): void;
}

export function createStatus(
  parts: () => Parts | null,
  ingress: () => Ingress | null,
  isReading: () => boolean,
): StatusReader {
  let lasting: string | null = null;

  function problemOf({ journal, projection, supervisor }: Parts): string | null {
    if (lasting !== null) return lasting;
    const failing = journal.failing() ?? projection.failing();
    if (failing !== null) return failing.message;
    const stalled = supervisor.stalled();
    if (stalled !== null) return stalled;
    const broken = supervisor.status().filter(({ state }) => state === "broken");
    return broken.length === 0
      ? null
      : `host ${broken.map(({ id }) => id).join(", ")} does not stay up`;
  }

  return {
    read() {
      const made = parts();
      if (made === null) return notStarted;
      const {
        journal,
        supervisor,
        slots,
        outbox,
        checkpointer,
        quarantine,
        heartbeats,
        judges,
        failing,
        schedules,
      } = made;
      const hosts = supervisor.status();
      const problem = problemOf(made);
      return {
        ready: problem === null,
        problem,
        hosts,
        conversations: {
          live: hosts.reduce((sum, { live }) => sum + live, 0),
          dirty: checkpointer.dirty(),
        },
        turns: { running: slots.running(), waiting: slots.waiting() },
        unapplied: { events: journal.unapplied(), reading: isReading() },
        lanes: slots.agents(),
        failing: failing.list(),
        outbox: { ...outbox.counts() },
        ingress: {
          pending: ingress()?.pending() ?? 0,
          refused: ingress()?.refused() ?? 0,
          redelivered: ingress()?.redelivered() ?? 0,
        },
        store: {
          lastSeq: journal.lastSeq(),
          failing: journal.failing() !== null,
          lastCommitMs: journal.lastCommitMs(),
          commits: journal.commits(),
        },
        heartbeats: heartbeats.next(),
        judges: judges.days(),
        quarantined: quarantine.list(),
        unsaid: schedules.unsaid(),
      };
    },
    problem(text) {
      lasting = text;
    },
  };
}

const notStarted: RuntimeStatus = {
  ready: false,
  problem: "starting",
  hosts: [],
  conversations: { live: 0, dirty: 0 },
  turns: { running: 0, waiting: 0 },
  unapplied: { events: 0, reading: true },
  outbox: {},
  ingress: { pending: 0, refused: 0, redelivered: 0 },
  store: { lastSeq: 0, failing: false, lastCommitMs: 0, commits: { msP99: null, rows: null } },
  lanes: [],
  failing: [],
  heartbeats: [],
  judges: [],
  quarantined: [],
  unsaid: [],
};
