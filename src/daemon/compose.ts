/**
 * The daemon's services
 * =====================
 * Creates each service and wires it to the others. The runtime and the connections need each other,
 * and the webchat needs both; this file resolves that cycle with callbacks, and no other file does.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Connections, createConnections } from "../actors/channels/connections.ts";
import { createExtensionCommands } from "../actors/commands/extension-commands.ts";
import type { Runtime, RuntimePorts } from "../actors/protocol/runtime.ts";
import {
  createRuntimeEvents,
  type RuntimeEvents,
  relayTo,
} from "../actors/protocol/runtime-events.ts";
import { createRuntime } from "../actors/runtime/runtime.ts";
import { createSessionFiles } from "../adapters/files/session-files.ts";
import { createWorkspaces } from "../adapters/files/workspaces.ts";
import { openMediaService } from "../adapters/media/media-service.ts";
import type { Uploads } from "../adapters/media/uploads.ts";
import { wallTime } from "../adapters/system/clock.ts";
import { sha256 } from "../adapters/system/digest.ts";
import { createIds, createRandom } from "../adapters/system/ids.ts";
import { accountsOf, defaultAgentId, type EarshotConfig } from "../domain/config/index.ts";
import type { Clock, DaemonControl, Log, MirrorStore, Store } from "../domain/ports/index.ts";
import { oneLine } from "../domain/sanitize.ts";
import { type ExtraCommand, extrasFor } from "../machines/commands/extension-commands.ts";
import { menuCommands, type OfferedCommand, offeredCommands } from "../machines/commands/help.ts";
import { isWholeCommand } from "../machines/commands/parse-command.ts";
import type { EngineStatus } from "./api-types/engine.ts";
import type { ConfigState } from "./config/config-source.ts";
import type { LoadedPlugins } from "./config/plugins.ts";
import type { Registry } from "./config/registry.ts";
import type { SkillRegistry } from "./config/skills.ts";
import type { ConfigChanges } from "./config-edit/changes.ts";
import type { Engine, EnginePorts } from "./engine/engine.ts";
import type { EngineModules } from "./engine/load.ts";
import { createInspector, type Inspector } from "./inspector/inspector.ts";
import { createNeeds, type Needs } from "./needs/needs.ts";
import { logReader } from "./observability/event-log.ts";
import { createHealth, type HealthService } from "./observability/health.ts";
import { createMetrics, type Metrics } from "./observability/metrics.ts";
import type { Traces } from "./observability/traces.ts";
import { createTuneLabels, type TuneLabels } from "./quality/tune-labels.ts";
import { createRoomList, type RoomList } from "./room-list/room-list.ts";
import { createRoomViews, type RoomViews } from "./room-view/room-views.ts";
import { createSearch, type Search } from "./search/search.ts";
import { createSettings, type Settings } from "./setup/settings.ts";
import { createSetup, type Setup } from "./setup/setup.ts";
import { accountFolder } from "./state/account-folder.ts";
import { version } from "./state/package-files.ts";
import { searchFileOf, storePathOf } from "./state/state-dir.ts";
import type { TokenReader } from "./state/token.ts";
import { localOffset, sessionFolderOf } from "./state/transcript-dir.ts";
import { openStoredFiles } from "./stored-files.ts";
import { webchatRoute } from "./webchat/route.ts";
import { createSpeech, type Speech } from "./webchat/speech.ts";
import { createWebchatUploads } from "./webchat/uploads.ts";
import { createWebchat, type Webchat } from "./webchat/webchat.ts";
import { createWhatIf, type WhatIfService } from "./what-if/what-if.ts";

export interface ServicePorts {
  readonly registry: Registry;
  readonly store: Store;
  /** The copy of the conversations of all nodes, where an engine has them. */
  readonly mirror: MirrorStore | null;
  /** Null: the daemon's own hosts step its conversations. */
  readonly engine: EngineModules | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly workers: number;
  /** Contains the folders of fetched files and of uploads. */
  readonly stateDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly plugins: LoadedPlugins;
  readonly readToken: TokenReader;
  /** Address of the Stately inspector. */
  readonly inspectorUrl: string;
  /** The current config. */
  readonly config: () => EarshotConfig;
  readonly configState: ConfigState;
  readonly skills: SkillRegistry;
  /** Settings that owners may change from a chat. */
  readonly control: DaemonControl;
  readonly changes: ConfigChanges;
  /** Null: no OpenTelemetry SDK is registered. */
  readonly traces: Traces | null;
}

export interface Services {
  readonly events: RuntimeEvents;
  readonly metrics: Metrics;
  readonly runtime: Runtime;
  readonly connections: Connections;
  readonly webchat: Webchat;
  readonly speech: Speech;
  readonly roomViews: RoomViews;
  readonly whatIf: WhatIfService;
  readonly setup: Setup;
  readonly settings: Settings;
  readonly tuneLabels: TuneLabels;
  readonly roomList: RoomList;
  readonly search: Search;
  readonly health: HealthService;
  readonly needs: Needs;
  /** The engine that keeps conversations outside of the daemon; null: there is none. */
  readonly engineStatus: () => EngineStatus | null;
  /** Why conversations cannot be read here; null: they can. */
  readonly noCopy: () => string | null;
  /** Other nodes show this address of the pages. */
  readonly listensAt: (address: string) => void;
  readonly inspector: Inspector;
  readonly skills: SkillRegistry;
  /** Commands of the page and the terminal, for completion. */
  readonly commands: () => readonly OfferedCommand[];
}

/** `auto`: one less than the cores, at least 1, which leaves a core to the main thread. */
export function workersOf(config: EarshotConfig): number {
  const { count } = config.workers;
  return count === "auto" ? Math.max(1, availableParallelism() - 1) : count;
}

/** Commands added by plugins and by the skills of the default agent. */
function extensionCommands({ plugins, skills, config }: ServicePorts): readonly ExtraCommand[] {
  const all = createExtensionCommands({ plugins: plugins.plugins, skills: skills.list }).list();
  return extrasFor(all, new Set([defaultAgentId(config())]));
}

/** Creates all services. None of them has started when it returns. */
export function composeServices(ports: ServicePorts): Services {
  const { clock, log, registry, mirror, config, skills } = ports;
  const ids = createIds(() => clock.now());
  const events = createRuntimeEvents(log);
  /** What is shown, which is more than happens here where other nodes have conversations, too. */
  const store = mirror ?? ports.store;
  const shown = mirror === null ? events : createRuntimeEvents(log);
  if (shown !== events) events.add(relayTo(shown));
  const metrics: Metrics = createMetrics({
    clock,
    version,
    status: () => runtime.status(),
    conversations: () => store.conversationCount(),
    connections: () => connections.states(),
    needs: () => views.needs.count(),
    engine: () => engineStatus(),
  });
  let address: string | null = null;
  const engines = ports.engine;
  const enginePorts: EnginePorts = {
    clock,
    log,
    ids,
    config,
    channels: registry.channels,
    events,
    shown,
    mirror,
    boot: ids.next(),
    version,
    address: () => address,
    runtime: () => own,
    front: () => runtime,
    watched: () => [...webchat.watched(), ...views.roomViews.watched()],
  };
  const engine = engines?.createEngine(enginePorts) ?? null;
  const engineStatus = () => engine?.status() ?? null;
  const noCopy = () =>
    engine === null || mirror !== null ? null : (engines?.noCopyOf(engine.status()) ?? null);
  const listensAt = (at: string) => {
    address = at;
  };
  const connections = connectionsOf(ports, events, () => runtime, engine);
  const media = openMediaService({
    folder: join(ports.stateDir, "media"),
    log,
    unique: () => ids.next(),
    download: (...file) => connections.download(...file),
  });
  const inspector = createInspector({
    clock,
    log,
    events: shown,
    metrics,
    readToken: ports.readToken,
    page: ports.inspectorUrl,
    inspect: (order) => runtime.inspect(order),
    uninspect: (reader) => runtime.uninspect(reader),
  });
  const files = openStoredFiles({ ...ports, baseDir: ports.plugins.baseDir, ids });
  const own: RuntimePorts = {
    ...runtimePorts(ports),
    reads: mirror ?? undefined,
    ids,
    media,
    outgoing: files.outgoing,
    directory: connections.directory,
    events,
    onInspect: inspector.report,
  };
  const runtime: Runtime =
    engine === null || engines === null ? createRuntime(own) : engines.withEngine(own, engine);
  const webchat = webchatOf(ports, files.uploads, shown, runtime, noCopy, engine);
  registry.show(webchat);
  const { terminal } = registry;
  engines?.shareTerminal({ clock, log, config, mirror, events: shown, terminal, noCopy });
  const speech = createSpeech({
    clock,
    log,
    config,
    media,
    directory: connections.directory,
    session: (key) => runtime.session(key),
  });
  const { env, stateDir, configState } = ports;
  const { channels, drivers } = registry;
  const { file: path, applied } = configState;
  const setUp = { clock, env, stateDir, path, config, applied, channels, drivers };
  const setup = createSetup(setUp);
  const { changes, control } = ports;
  const { layers } = control;
  const settings = createSettings({ ...setUp, layers, changes });
  const whatIf = createWhatIf({ store, clock, ids, config, layers, changes });
  const tuneLabels = createTuneLabels({ store, config });
  const commands = () => (config().commands.text ? offeredCommands(extensionCommands(ports)) : []);
  const main = { events: shown, metrics, runtime, connections, webchat, speech, inspector };
  const views: Views = viewsOf(ports, runtime, connections, engineStatus);
  listen(ports, { ...main, events }, shown, views);
  return {
    ...main,
    ...views,
    engineStatus,
    noCopy,
    listensAt,
    whatIf,
    setup,
    settings,
    tuneLabels,
    skills,
    commands,
  };
}

type Views = Pick<Services, "roomViews" | "roomList" | "health" | "needs" | "search">;

/** The read models of the pages. */
function viewsOf(
  ports: ServicePorts,
  runtime: Runtime,
  connections: Connections,
  engine: Services["engineStatus"],
): Views {
  const { clock, log, config } = ports;
  const store = ports.mirror ?? ports.store;
  const roomList = createRoomList({
    clock,
    log,
    store,
    summaries: (convs) => runtime.summaries(convs),
    counts: () => runtime.count(),
  });
  const titleOf = (key: string) => roomList.load().then(() => roomList.titleOf(key));
  const { channels, drivers } = ports.registry;
  const needs = createNeeds({
    clock,
    store,
    config,
    runtime,
    configState: ports.configState,
    layers: ports.control.layers,
    drivers,
    connections: () => connections.states(),
    retryConnection: (channel, account) => connections.retry(channel, account),
    forgetGap: (id) => connections.forgetGap(id),
    nameOf: (channel) => channels.get(channel)?.meta.name ?? oneLine(channel),
    rooms: roomList,
    engine,
  });
  const health = createHealth({
    clock,
    log,
    version,
    config,
    roomList,
    channels,
    needs: needs.read,
    status: () => runtime.status(),
    connections: () => connections.states(),
    storePath: storeFileOf(ports),
    engine,
  });
  const common = { store, clock, log, config, titleOf };
  const path = searchFileOf(config(), ports.stateDir);
  const search = createSearch({ ...common, path, arrivals: ports.mirror ?? undefined });
  return { roomList, health, needs, search, roomViews: createRoomViews(common) };
}

/** Adds the listeners, in this order: the log names the trace of a line, so traces come before it. */
function listen(
  { log, config, traces }: ServicePorts,
  { events, metrics, speech }: Pick<Services, "events" | "metrics" | "speech">,
  shown: RuntimeEvents,
  { roomViews, roomList, needs, search }: Views,
): void {
  const { applied, line } = roomViews;
  shown.add({ applied, labelled: applied, line });
  shown.add(roomList.listener);
  shown.add(search.listener);
  shown.add(needs.listener);
  events.add({ line: speech.line });
  events.add(metrics.listener);
  if (traces !== null) events.add(traces.listener);
  events.add({ line: logReader(log, () => config().log.showText, traces) });
}

/** The platform accounts. The runtime needs them, too: here it is a function. */
function connectionsOf(
  ports: ServicePorts,
  events: RuntimeEvents,
  runtime: () => Runtime,
  engine: Engine | null,
): Connections {
  const { clock, log, registry, store, config, stateDir } = ports;
  const connections = createConnections({
    definitions: registry.channels,
    config: config(),
    clock,
    random: createRandom(),
    log,
    ingest: (channel, account, events, options) =>
      runtime().ingest(channel, account, events, options),
    commands: config().commands.text ? menuCommands(extensionCommands(ports)) : [],
    folderOf: (channel, account) => accountFolder(stateDir, channel, account),
    isCommand: (line) => config().commands.text && isWholeCommand(line),
    loadCursor: (...account) => (engine ?? store).cursor(...account),
    events,
    onChange: (channel, account) => runtime().connectionChanged(channel, account),
    leases: engine?.connections?.leases,
    outlets: engine?.connections?.outlets,
    gaps: engine?.gaps,
  });
  return {
    ...connections,
    async handOver() {
      if ((engine?.nodes().length ?? 0) > 1) await connections.handOver();
    },
    async stop() {
      await connections.stop();
      await engine?.leave();
    },
  };
}

/** The runtime's ports that come from the daemon's own ports. */
function runtimePorts(
  ports: ServicePorts,
): Omit<RuntimePorts, "ids" | "media" | "outgoing" | "directory" | "events"> {
  const { clock, log, registry, store, config, plugins, skills, stateDir } = ports;
  const { session, store: storeConfig } = config();
  const folderOf = (agentId: string) => sessionFolderOf({ session }, stateDir, agentId);
  return {
    clock,
    random: createRandom(),
    digest: sha256,
    log,
    store,
    config: config(),
    drivers: registry.drivers,
    plugins: plugins.plugins,
    control: ports.control,
    skills: skills.list,
    workspaces: createWorkspaces(plugins.baseDir, stateDir),
    // With a store in memory nothing is written to disk.
    sessionFiles: storeConfig.driver === "memory" ? undefined : createSessionFiles(folderOf),
    zoneOffset: localOffset,
    wall: wallTime,
    version,
    workers: ports.workers,
  };
}

function webchatOf(
  { clock, log, mirror, store, config, readToken }: ServicePorts,
  uploads: Uploads,
  events: RuntimeEvents,
  runtime: Runtime,
  noCopy: () => string | null,
  engine: Engine | null,
): Webchat {
  const route = () => webchatRoute(config());
  return createWebchat({
    uploads: createWebchatUploads({ clock, log, config, uploads, route }),
    clock,
    log,
    events,
    store: mirror ?? store,
    noCopy,
    isCopy: mirror !== null,
    others: engine?.frames ?? null,
    runtime,
    readToken,
    agent: () => route().agent,
    keys: () => route().keys,
    isOn: () => {
      const { webchat: section } = config().channels;
      return section !== undefined && accountsOf(section).some(([id]) => id === "default");
    },
  });
}

/** The store's file; null: nothing is stored on disk. The driver is fixed at the start. */
function storeFileOf({ config, stateDir }: ServicePorts): () => string | null {
  const { driver } = config().store;
  return () => (driver === "memory" ? null : storePathOf(config(), stateDir));
}
