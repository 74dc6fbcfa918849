/**
 * The HTTP layer on a real socket of a free port, over the small runtime and a memory store, with a
 * state directory of its own. `raw` speaks HTTP by hand, for what no client would send.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nothingLive } from "../../../src/actors/protocol/conversation-summary.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { openUploads } from "../../../src/adapters/media/uploads.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { createIds } from "../../../src/adapters/system/ids.ts";
import { createListener } from "../../../src/daemon/api/listener.ts";
import { createConfigChanges } from "../../../src/daemon/config-edit/changes.ts";
import { knownHosts } from "../../../src/daemon/http/allowed-hosts.ts";
import { createClientAddresses } from "../../../src/daemon/http/client-address.ts";
import { listen } from "../../../src/daemon/http/server.ts";
import { createInspector } from "../../../src/daemon/inspector/inspector.ts";
import { createMetrics } from "../../../src/daemon/observability/metrics.ts";
import { createTuneLabels } from "../../../src/daemon/quality/tune-labels.ts";
import { createRoomList } from "../../../src/daemon/room-list/room-list.ts";
import { createRoomViews } from "../../../src/daemon/room-view/room-views.ts";
import { createSearch } from "../../../src/daemon/search/search.ts";
import { createSettings } from "../../../src/daemon/setup/settings.ts";
import { createSetup } from "../../../src/daemon/setup/setup.ts";
import { ensureToken, readToken } from "../../../src/daemon/state/token.ts";
import { createWebchatUploads } from "../../../src/daemon/webchat/uploads.ts";
import { createWebchat } from "../../../src/daemon/webchat/webchat.ts";
import { websocketRoutes } from "../../../src/daemon/websocket-routes.ts";
import { createWhatIf } from "../../../src/daemon/what-if/what-if.ts";
import { defaultConfig } from "../../../src/domain/config/index.ts";
import type { ChannelHook, InspectRequest } from "../../../src/domain/ports/index.ts";
import { offeredCommands } from "../../../src/machines/commands/help.ts";
import { createTestStore } from "../runtime/test-store.ts";
import { createSmallRuntime } from "./small-runtime.ts";

/** Nobody may change the config of the small server. */
const refused = () => Promise.reject(new Error("the small server has no config of its own"));

export async function startSmallServer() {
  const stateDir = await mkdtemp(join(tmpdir(), "earshot-small-"));
  const token = await ensureToken(stateDir);
  const real = createSystemClock();
  const ids = createIds();
  /** Set: the time stands still. */
  const time: { at: number | null } = { at: null };
  const clock = { ...real, now: () => time.at ?? real.now() };
  const logged: { level: string; event: string }[] = [];
  const log = (level: string, event: string) => void logged.push({ level, event });
  const events = createRuntimeEvents(log);
  const runtime = createSmallRuntime((line) => events.emit.line?.(line));
  const store = createTestStore();
  const metrics = createMetrics({ clock, status: runtime.status, version: "0.0.0-test" });
  events.add(metrics.listener);
  const read = () => readToken(stateDir);
  const changes = createConfigChanges({
    clock,
    env: {},
    stateDir,
    path: join(stateDir, "earshot.json5"),
    applied: () => ({ text: null, times: 0 }),
    parse: {},
  });
  const hooks = new Map<string, ChannelHook>();
  const orders = new Map<number, InspectRequest>();
  const inspector = createInspector({
    clock,
    log,
    events,
    metrics,
    readToken: read,
    page: "https://stately.ai/inspect",
    inspect: (order) => void orders.set(order.id, order),
    uninspect: (reader) => void orders.delete(reader),
  });
  /** Set: why nothing can be taken. */
  const problem: { now: string | null } = { now: null };
  const ports = {
    runtime,
    store,
    events,
    clock,
    log,
    metrics,
    readToken: read,
    clients: createClientAddresses({ proxies: [], onlyProxies: false }),
    version: "0.0.0-test",
    startedAt: clock.now(),
    stateDir,
    channels: new Map(),
    connections: () => [],
    retryConnection: async (channel: string) => channel === "telegram",
    hook: (channel: string, account: string) => hooks.get(`${channel}/${account}`) ?? null,
    engineStatus: () => null,
    noCopy: () => null,
    health: {
      read: async () => {
        throw new Error("this server has no health");
      },
      watch: () => () => undefined,
    },
    roomList: createRoomList({
      clock,
      log,
      store,
      summaries: async () => new Map(),
      counts: async () => nothingLive,
    }),
    search: createSearch({
      store,
      clock,
      log,
      config: () => defaultConfig,
      titleOf: async (key) => key,
      path: null,
    }),
    needs: { read: async () => ({ needs: [], more: 0 }), act: async () => "unknown" as const },
    check: async () => undefined,
    setup: createSetup({
      applied: () => ({ text: null, times: 0 }),
      clock,
      env: {},
      stateDir,
      path: join(stateDir, "earshot.json5"),
      config: () => defaultConfig,
      channels: new Map(),
      drivers: new Map(),
    }),
    settings: createSettings({
      applied: () => ({ text: null, times: 0 }),
      clock,
      env: {},
      stateDir,
      path: join(stateDir, "earshot.json5"),
      config: () => defaultConfig,
      channels: new Map(),
      drivers: new Map(),
      layers: { overrides: () => [] },
      changes,
    }),
    roomViews: createRoomViews({
      store,
      clock,
      log,
      config: () => defaultConfig,
      titleOf: async (key) => key,
    }),
    whatIf: createWhatIf({
      store,
      clock,
      config: () => defaultConfig,
      ids,
      layers: { overrides: () => [], set: refused, unset: async () => [] },
      changes,
    }),
    tuneLabels: createTuneLabels({ store, config: () => defaultConfig }),
    inspector,
    webhookSent: () => [],
    commands: () => offeredCommands(),
    simulate: async (lines: readonly unknown[]) => ({ lines: [], why: {}, given: lines.length }),
    problem: () => problem.now,
  };
  const route = { agent: { id: "main", name: "earshot" }, keys: ["agent:main:main"] };
  const uploads = openUploads({
    folder: join(stateDir, "uploads"),
    now: () => clock.now(),
    unique: () => ids.next(),
  });
  const webchat = createWebchat({
    ...ports,
    agent: () => route.agent,
    keys: () => route.keys,
    isOn: () => true,
    noCopy: () => null,
    isCopy: false,
    others: null,
    uploads: createWebchatUploads({
      clock,
      log,
      uploads,
      config: () => defaultConfig,
      route: () => route,
    }),
  });
  let port = 0;
  const known = () => knownHosts([{ host: "127.0.0.1", port, scheme: "http" }]);
  const server = await listen({
    host: "127.0.0.1",
    port: 0,
    answer: createListener({ ...ports, webchat }, known, {
      folder: stateDir,
      inspector: inspector.page,
    }),
    known,
    clients: ports.clients,
    problem: () => null,
    socketFor: websocketRoutes({ webchat, inspector }),
  });
  port = server.port;
  const base = `http://127.0.0.1:${port}`;
  const authorized = { authorization: `Bearer ${token}` };
  return {
    base,
    port,
    token,
    stateDir,
    runtime,
    store,
    hooks,
    time,
    problem,
    logged,
    events,
    inspector,
    /** What is looked into now. */
    orders,
    authorized,
    get: (path: string, headers: Record<string, string> = authorized) =>
      fetch(`${base}${path}`, { headers }),
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${base}${path}`, {
        method: "POST",
        headers: { ...authorized, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    raw: (text: string) => rawRequest(port, text),
    async stop() {
      await webchat.close();
      inspector.close();
      await server.close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
export type SmallServer = Awaited<ReturnType<typeof startSmallServer>>;

/** Writes the bytes and reads until the server closes. */
function rawRequest(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (data) => {
      answer += String(data);
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
  });
}
