/**
 * A runtime of thirty lines for tests of the HTTP layer: it remembers what it was given, refuses
 * copies, decides by the chat's kind, and can be ordered to fail as a full disk or a full intake
 * would.
 */

import { nothingLive } from "../../../src/actors/protocol/conversation-summary.ts";
import type {
  IngestOutcome,
  Runtime,
  RuntimeStatus,
} from "../../../src/actors/protocol/runtime.ts";
import type { Verdict } from "../../../src/domain/decision.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { Inbound } from "../../../src/domain/message.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";

export interface SmallRuntime extends Runtime {
  readonly heard: Inbound[];
  failWith: "EAR_STORE_FULL" | "EAR_INGRESS_FULL" | null;
  problem: string | null;
}

export function createSmallRuntime(publish: (line: StreamLine) => void): SmallRuntime {
  const heard: Inbound[] = [];
  const verdictOf = (message: Inbound): Verdict =>
    heard.some(({ id }) => id === message.id)
      ? { decision: "duplicate", rule: "duplicate", credit: "none" }
      : message.chat.kind === "direct"
        ? { decision: "engage", rule: "dm", credit: "none" }
        : { decision: "observe", rule: "default", credit: "none" };
  const runtime: SmallRuntime = {
    heard,
    failWith: null,
    problem: null,
    start: async () => undefined,
    async ingest(channel, account, events, options = {}) {
      if (runtime.failWith !== null)
        throw new EarshotError(runtime.failWith, "Cannot take messages as this test says so");
      const outcomes: IngestOutcome[] = [];
      for (const event of events) {
        if (event.type !== "message") continue;
        const { message } = event;
        const verdict = verdictOf(message);
        const key = `agent:main:${channel}:${message.chat.kind}:${message.chat.id}`;
        if (verdict.decision !== "duplicate") heard.push({ ...message, account });
        publish({ t: 0, id: message.id, key, channel, chat: message.chat.id, ...verdict });
        outcomes.push({
          id: message.id,
          receivers: [{ key, verdict: options.wait ? verdict : null }],
        });
      }
      return outcomes;
    },
    abortTurn: async () => false,
    disengage: async () => undefined,
    act: async () => ({ refused: "unknown" }),
    deliver: async () => undefined,
    carryOut: async () => ({ answer: null }),
    judged: async () => undefined,
    label: async () => "unknown",
    prompts: () => [],
    passivateAll: async () => undefined,
    summaries: async () => new Map(),
    count: async () => nothingLive,
    inspect: () => undefined,
    uninspect: () => undefined,
    crashHost: async () => undefined,
    say: async () => "conflict",
    schedules() {
      throw new Error("nothing is said at set times here");
    },
    resend: async (id) => id === "T1:0",
    drop: async (id) => id === "T1:0",
    retryEvent: async (seq) => (seq === 7 ? "retried" : "unknown"),
    dropEvent: async (seq) => seq === 7,
    access() {
      throw new EarshotError("EAR_USAGE", "Cannot change that as this runtime keeps no book");
    },
    session: async () => null,
    sessions: async () => [],
    usage: async () => [],
    updateSession: async () => {
      throw new EarshotError("EAR_USAGE", "Cannot change a session as this runtime keeps none");
    },
    resetSession: async () => null,
    compactSession: async () => "empty",
    reload: async () => undefined,
    connectionChanged: () => undefined,
    why: async () => [],
    status: () => statusOf(runtime.problem, heard.length),
    settled: async () => undefined,
    isSettled: async () => true,
    stop: async () => undefined,
  };
  return runtime;
}

function statusOf(problem: string | null, lastSeq: number): RuntimeStatus {
  return {
    ready: problem === null,
    problem,
    hosts: [],
    conversations: { live: 0, dirty: 0 },
    turns: { running: 0, waiting: 0 },
    unapplied: { events: 0, reading: false },
    outbox: {},
    ingress: { pending: 0, refused: 0, redelivered: 0 },
    store: { lastSeq, failing: false, lastCommitMs: 0, commits: { msP99: null, rows: null } },
    lanes: [],
    failing: [],
    heartbeats: [],
    judges: [],
    quarantined: [],
    unsaid: [],
  };
}
