/**
 * The daemon's runtime, where conversations are not stepped by its own hosts: it admits and routes, and asks the engine,
 * the copy or the other nodes for the rest.
 */
import type { IngestOutcome, Runtime, RuntimePorts } from "../../actors/protocol/runtime.ts";
import { createRuntime } from "../../actors/runtime/runtime.ts";
import type { Engine } from "./engine.ts";
import { createOperated } from "./orders.ts";

/** The daemon's runtime in front of an engine. */
export function withEngine(ports: RuntimePorts, engine: Engine): Runtime {
  const front = createRuntime({
    ...ports,
    workers: 0,
    forward: engine.forward,
    // They come where the conversation is active.
    heartbeats: () => false,
  });
  const { store, reads = store, ids } = ports;
  const { all } = engine;
  engine.questions.serve((messageId) => front.why(messageId));
  return {
    ...front,
    ...createOperated({ orders: engine.orders, ids, store: reads }),
    ...(all !== null && {
      summaries: all.summaries,
      count: all.count,
      status: () => all.status(front.status()),
    }),
    async why(messageId, seq) {
      const found = await front.why(messageId, seq);
      return found.length > 0 || seq !== undefined ? found : engine.questions.why(messageId);
    },
    inspect: engine.inspections.inspect,
    uninspect: engine.inspections.uninspect,
    start: () => engine.start(ports.store, () => front.start()),
    async ingest(channel, account, events, { wait, ...options } = {}) {
      const outcomes = await front.ingest(channel, account, events, options);
      if (wait === undefined) return outcomes;
      const decided = async (id: string, receiver: IngestOutcome["receivers"][number]) => {
        const { key, verdict } = receiver;
        if (key === null || verdict !== null) return receiver;
        return { key, verdict: await engine.verdict(key, id) };
      };
      return Promise.all(
        outcomes.map(async ({ id, receivers }) => ({
          id,
          receivers: await Promise.all(receivers.map((one) => decided(id, one))),
        })),
      );
    },
    connectionChanged(channel, account) {
      front.connectionChanged(channel, account);
      engine.connectionChanged(channel, account);
    },
    async reload(config) {
      await engine.reload(config);
      await front.reload(config);
    },
    async stop(options = {}) {
      await engine.stop(options.drainMs ?? 0);
      await front.stop(options);
    },
  };
}
