/** What the crash tests' parent and child say to each other. */
import type { ChildProcess } from "node:child_process";
import type { InboundInput } from "../../src/domain/message.ts";

export type ToChild =
  | { readonly type: "say"; readonly inbound: InboundInput }
  | { readonly type: "answer"; readonly call: number; readonly answer: string }
  | { readonly type: "busy" }
  | { readonly type: "stop" };

export type FromChild =
  | { readonly type: "ready" }
  | { readonly type: "acked"; readonly id: string }
  /** How many runs and deliveries are not over, and one more if hosts are at work. */
  | { readonly type: "busy"; readonly count: number }
  | {
      readonly type: "ask";
      readonly call: number;
      readonly what: "send" | "agent";
      readonly id: string;
      readonly text: string;
      readonly chat: string;
    }
  | { readonly type: "log"; readonly event: string; readonly fields: Record<string, unknown> };

/** How much the process knows of that is not over. Rejects when it ends instead of answering. */
export function askBusy(child: ChildProcess): Promise<number> {
  return new Promise((done, failed) => {
    const gone = (code: number | null, signal: string | null) =>
      failed(new Error(`it ended by itself (${code ?? signal})`));
    child.once("exit", gone);
    const hear = (message: FromChild) => {
      if (message.type !== "busy") return;
      child.off("message", hear);
      child.off("exit", gone);
      done(message.count);
    };
    child.on("message", hear);
    child.send({ type: "busy" } satisfies ToChild);
  });
}

/** The broadcast channel between a worker thread's agent and the main thread. */
export const agentCalls = "earshot-crash-agent";

/** Agents of one room that answer one after the other. */
export const relayAgents = ["scout", "rover", "medic"] as const;
export const relayRooms = ["peer0", "peer1", "peer2"] as const;

/** What a config of several agents says besides. */
export const relayConfig = {
  agents: {
    defaults: { driver: { kind: "parent" }, maxConcurrent: 50 },
    list: relayAgents.map((id) => ({ id })),
  },
  broadcast: {
    strategy: "sequential",
    ...Object.fromEntries(relayRooms.map((room) => [`telegram:${room}`, [...relayAgents]])),
  },
};

/** Every message engages and becomes a turn of its own, as soon as it may. */
export const crashConfig = {
  agents: { defaults: { driver: { kind: "parent" }, maxConcurrent: 50 } },
  session: { dmScope: "per-peer" },
  messages: {
    ackReaction: "👀",
    inbound: { debounceMs: 5, debounceMaxMs: 20 },
    queue: { mode: "queue", debounceMs: 0, cap: 1_000 },
  },
  // A turn that was killed three times fails, which is reported to the room; that is no answer.
  errors: { notifyRoom: "never" },
  typing: { mode: "never" },
  turn: { maxConcurrentTurns: 50 },
};
