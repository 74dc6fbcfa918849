/**
 * The process that is killed: a real runtime on a real SQLite file. Platform and agent live in the
 * parent and are reached over the IPC channel, so what they saw survives the crash. With
 * EARSHOT_CRASH_AT the process kills itself at the n-th passing of a named point, with
 * EARSHOT_CRASH_WORKERS its conversations live in worker threads, with EARSHOT_CRASH_RELAY
 * several agents share each room and answer one after the other, and with EARSHOT_CRASH_ENGINE (a
 * config section) it is a node of an engine. The text in EARSHOT_CRASH_POISON kills it when a conversation
 * steps it, EARSHOT_CRASH_DEATHS is the limit of such ends, and EARSHOT_CRASH_TURNS how many turns it may run at a time.
 */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BroadcastChannel } from "node:worker_threads";
import type { Runtime, RuntimePorts } from "../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../src/actors/runtime/runtime.ts";
import { createSessionFiles } from "../../src/adapters/files/session-files.ts";
import { openMirrorStore } from "../../src/adapters/stores/mirror-store.ts";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import { lockStateDir } from "../../src/adapters/stores/state-lock.ts";
import { createSystemClock } from "../../src/adapters/system/clock.ts";
import { sha256 } from "../../src/adapters/system/digest.ts";
import { createIds, createRandom } from "../../src/adapters/system/ids.ts";
import { createEngine, type EnginePorts } from "../../src/daemon/engine/engine.ts";
import { withEngine } from "../../src/daemon/engine/front.ts";
import { scenarioConfig } from "../../src/domain/config/index.ts";
import { limits } from "../../src/domain/limits.ts";
import { inboundSchema } from "../../src/domain/message.ts";
import { readyDirectory } from "../support/runtime/ready-directory.ts";
import { type AskParent, parentDriver } from "./agents.ts";
import { agentCalls, crashConfig, type FromChild, relayConfig, type ToChild } from "./protocol.ts";

const folder = process.argv[2] as string;
const [crashPoint, crashCount] = (process.env.EARSHOT_CRASH_AT ?? ":0").split(":");
let left = Number(crashCount);
const onPoint = (point: string) => {
  if (point !== crashPoint) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
};

const notify = (message: FromChild) => process.send?.(message);
let calls = 0;
const open = new Map<number, (answer: string) => void>();
const ask = (what: "send" | "agent", id: string, text: string, chat: string) =>
  new Promise<string>((resolve) => {
    calls += 1;
    open.set(calls, resolve);
    notify({ type: "ask", call: calls, what, id, text, chat });
  });

const askAgent: AskParent = (turn) => ask("agent", turn.id, turn.text, turn.chat);

// Turns in worker threads ask through this one.
const relay = new BroadcastChannel(agentCalls);
relay.onmessage = async ({ data }) => {
  const { asked } = data as { asked?: Parameters<AskParent>[0] & { call: string } };
  if (asked === undefined) return;
  relay.postMessage({ call: asked.call, answer: await askAgent(asked) });
};

const lock = await lockStateDir(folder);
const store = await openSqliteStore({ path: join(folder, "earshot.db"), onPoint });
const clock = createSystemClock();
const send = async ({
  id,
  text,
  route,
}: {
  id: string;
  text: string;
  route: { chat: { id: string } };
}) => ({
  messageIds: [await ask("send", id, text, route.chat.id)],
});
const config = scenarioConfig({
  ...crashConfig,
  ...(process.env.EARSHOT_CRASH_RELAY === "1" ? relayConfig : {}),
  ...(process.env.EARSHOT_CRASH_TURNS === undefined
    ? {}
    : { turn: { maxConcurrentTurns: Number(process.env.EARSHOT_CRASH_TURNS) } }),
  ...(process.env.EARSHOT_CRASH_ENGINE === undefined
    ? {}
    : { engine: JSON.parse(process.env.EARSHOT_CRASH_ENGINE) }),
});
const ports: RuntimePorts = {
  clock,
  ids: createIds(),
  random: createRandom(),
  digest: sha256,
  log: (level, event, fields) => {
    if (level === "error" || level === "fatal")
      notify({ type: "log", event, fields: { ...fields } });
  },
  store,
  sessionFiles: createSessionFiles((agentId) => join(folder, "agents", agentId)),
  config,
  drivers: new Map([["parent", parentDriver(askAgent)]]),
  directory: readyDirectory(send),
  events: createRuntimeEvents(() => undefined),
  workers: Number(process.env.EARSHOT_CRASH_WORKERS ?? 0),
  hostModule: pathToFileURL(join(import.meta.dirname, "crash-agents.js")).href,
  onPoint,
};
const { log, events, ids } = ports;
const isNode = config.engine.kind !== "pool";
const mirror = isNode ? openMirrorStore(join(folder, "mirror.db")) : null;
const { EARSHOT_CRASH_POISON: poison, EARSHOT_CRASH_DEATHS: deaths } = process.env;
if (deaths !== undefined) Object.assign(limits, { poisonDeathsMax: Number(deaths) });
if (poison !== undefined)
  events.add({
    decided(_conv, _key, { message }) {
      if (message.text === poison) process.kill(process.pid, "SIGKILL");
    },
  });
const enginePorts: EnginePorts = {
  clock,
  log,
  ids,
  config: () => config,
  channels: new Map(),
  events,
  shown: createRuntimeEvents(() => undefined),
  mirror,
  boot: ports.ids.next(),
  version: "0.0.0",
  address: () => null,
  runtime: () => ports,
  front: () => runtime,
  watched: () => [],
};
const engine = isNode ? createEngine(enginePorts) : null;
const runtime: Runtime = engine === null ? createRuntime(ports) : withEngine(ports, engine);

process.on("message", (message: ToChild) => {
  if (message.type === "answer") {
    open.get(message.call)?.(message.answer);
    open.delete(message.call);
  } else if (message.type === "busy") {
    void reportBusy();
  } else if (message.type === "stop") {
    void stop();
  } else {
    const inbound = inboundSchema.parse(message.inbound);
    runtime
      .ingest("telegram", "default", [{ type: "message", message: inbound }])
      .then(() => notify({ type: "acked", id: inbound.id }))
      .catch((error: Error) =>
        notify({ type: "log", event: "refused", fields: { error: error.message } }),
      );
  }
});
process.on("disconnect", () => process.exit(0));

async function reportBusy(): Promise<void> {
  // What a host is still working on stands in no table yet.
  const isSettled = await runtime.isSettled();
  const [runs, rows] = await Promise.all([store.runs(), store.outboxOpen()]);
  const open = rows.filter(({ state }) => state !== "in-doubt");
  const active = engine?.active() ?? 0;
  notify({ type: "busy", count: runs.length + open.length + active + (isSettled ? 0 : 1) });
}

async function stop(): Promise<void> {
  await runtime.stop({ drainMs: 10_000 });
  await engine?.leave();
  await store.close();
  await mirror?.close();
  await lock.release();
  relay.close();
  process.disconnect();
}

await runtime.start();
notify({ type: "ready" });
