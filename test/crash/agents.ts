/**
 * The agent of the crash tests lives in the parent process. On the main thread it is asked over
 * IPC, in a worker thread over a channel that the main thread relays. This file is also the ports
 * module of the worker hosts.
 */
import { BroadcastChannel } from "node:worker_threads";
import { z } from "zod";
import type { AgentDriver } from "../../src/domain/ports/index.ts";
import { agentCalls } from "./protocol.ts";

export { createSystemClock } from "../../src/adapters/system/clock.ts";

export type AskParent = (turn: { id: string; text: string; chat: string }) => Promise<string>;

export const parentDriver = (ask: AskParent): AgentDriver => ({
  kind: "parent",
  configSchema: z.unknown(),
  open: () => ({
    capabilities: { steer: false, tools: false, images: false },
    async *run({ turnId, said, sessionKey }) {
      yield { type: "text", text: await ask({ id: turnId, text: said, chat: sessionKey }) };
    },
  }),
});

/** One channel a call: it is closed with the answer, so no thread is kept alive by it. */
const askMainThread: AskParent = (turn) =>
  new Promise((resolve) => {
    const call = crypto.randomUUID();
    const channel = new BroadcastChannel(agentCalls);
    channel.onmessage = ({ data }) => {
      const reported = data as { call?: string; answer?: string };
      if (reported.call !== call) return;
      channel.close();
      resolve(reported.answer ?? "");
    };
    channel.postMessage({ asked: { ...turn, call } });
  });

export const drivers: ReadonlyMap<string, AgentDriver> = new Map([
  ["parent", parentDriver(askMainThread)],
]);
