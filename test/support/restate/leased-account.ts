/** An account on one of several nodes, whose lease is given and taken by the test. */
import { onTestFinished } from "vitest";
import { z } from "zod";
import { createConnections } from "../../../src/actors/channels/connections.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import {
  type ChannelContext,
  type ConnectionLeases,
  defineChannel,
  type LeaseListener,
  type Outlets,
  type SendRequest,
} from "../../../src/domain/ports/index.ts";
import { plainCapabilities } from "../plain-capabilities.ts";

export const room = { chat: { id: "tea", kind: "group" }, thread: null } as const;

/** `carries`: calls of an account that another node is connected with are made there. */
export function rig(carries = false) {
  const clock = new SimulatedClock(1_000_000);
  const happened: string[] = [];
  const ingested: unknown[] = [];
  const said: (string | null)[] = [];
  const contexts: ChannelContext<unknown>[] = [];
  let endNow: (() => void)[] = [];
  let endsLate = false;
  const channel = (id: string, connectsOnce?: () => boolean) =>
    defineChannel({
      id,
      meta: { name: id, description: id },
      capabilities: {
        ...plainCapabilities,
        membership: false,
        mentions: "unknown",
        replyAuthor: false,
        botFlag: false,
      },
      textLimit: 500,
      typingIntervalMs: 5_000,
      accountSchema: z.looseObject({}),
      local: false,
      ...(connectsOnce !== undefined && { connectsOnce }),
      open(context) {
        contexts.push(context);
        const place = contexts.length;
        return {
          async start(signal) {
            happened.push(`${id} starts as ${place}`);
            context.reportState("live");
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
            if (endsLate) await new Promise<void>((resolve) => endNow.push(resolve));
            happened.push(`${id} ends`);
          },
          outbound: {
            sendText: async () => {
              happened.push("sent");
              return { messageIds: ["1"] };
            },
            replyText: async () => ({ messageIds: ["1"] }),
          },
          downloadMedia: async (file) => new Blob([`the file ${file}`]).stream(),
        };
      },
    });
  const listeners = new Map<string, LeaseListener>();
  const leases: ConnectionLeases = {
    want(channelId, account, listener) {
      listeners.set(`${channelId}:${account}`, listener);
      return {
        live: (author) => void said.push(author),
        giveBack: async () => void happened.push("given back"),
      };
    },
  };
  const outlets: Outlets = {
    outbound: (_channel, account, like) => ({
      ...like,
      newAttempt: () => "attempt",
      sendText: async () => {
        happened.push(`carried for ${account}`);
        return { messageIds: ["2"] };
      },
    }),
    refreshMembers: ({ chat }) => void happened.push(`members of ${chat.id} there`),
    serve({ lease, refreshMembers }) {
      const { epoch } = lease.holder;
      happened.push(`serves ${epoch}`);
      refreshMembers({ channel: "socket", account: "default", ...room });
      return {
        stop: async () => {
          happened.push(`stops to serve ${epoch}`);
          await calls;
        },
      };
    },
  };
  let calls: Promise<void> | null = null;
  const definitions = [channel("socket"), channel("posted", () => false)];
  const connections = createConnections({
    definitions: new Map(definitions.map((one) => [one.id, one])),
    config: parseConfig({
      channels: { socket: { accounts: { default: {} } }, posted: { accounts: { default: {} } } },
    }),
    clock,
    random: { next: () => 0.5 },
    log: () => undefined,
    ingest: async (...args) => void ingested.push(args),
    loadCursor: async () => null,
    leases,
    outlets: carries ? outlets : undefined,
    events: createRuntimeEvents(() => undefined, {}),
    onChange: () => undefined,
  });
  onTestFinished(() => connections.stop());
  void connections.start();
  const lease = { isValid: true };
  return {
    clock,
    connections,
    happened,
    ingested,
    contexts,
    listener: () => listeners.get("socket:default") as LeaseListener,
    wanted: () => [...listeners.keys()],
    said,
    /** Calls of others that a node serves have not ended until this does. */
    busy: (until: Promise<void> | null) => {
      calls = until;
    },
    lease,
    hold: (epoch: number) =>
      (listeners.get("socket:default") as LeaseListener).onHeld({
        holder: { node: "here", epoch, since: 5 },
        isValid: () => lease.isValid,
      }),
    status: () => connections.states().find((one) => one.channel === "socket"),
    endsLate: (is: boolean) => {
      endsLate = is;
      for (const end of endNow.splice(0)) end();
      endNow = [];
    },
    send: async () =>
      connections.directory.outbound("socket", "default")?.sendText({} as SendRequest),
  };
}
