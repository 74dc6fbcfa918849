/**
 * The rooms of the house, put together
 * ====================================
 * Runtime and connections need each other, and the webchat needs both: the circle is closed here,
 * by late look-ups, and nowhere else.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Connections, createConnections } from "../actors/channels/connections.ts";
import { createExtensionCommands } from "../actors/commands/extension-commands.ts";
import type { Runtime } from "../actors/protocol/runtime.ts";
import { combineTelemetry } from "../actors/protocol/telemetry.ts";
import { createRuntime } from "../actors/runtime/runtime.ts";
import { createSessionFiles } from "../adapters/files/session-files.ts";
import { createWorkspaces } from "../adapters/files/workspaces.ts";
import { openMediaDesk } from "../adapters/media/media-service.ts";
import { openUploads } from "../adapters/media/uploads.ts";
import { createIds, createRandom } from "../adapters/system/ids.ts";
import { accountsOf, defaultAgentId, type EarshotConfig } from "../domain/config/index.ts";
import type { Clock, House, Log, Store } from "../domain/ports/index.ts";
import { type ExtraCommand, extrasFor } from "../machines/commands/extension-commands.ts";
import { menuCommands, type OfferedCommand, offeredCommands } from "../machines/commands/help.ts";
import type { Plugged } from "./config/plugins.ts";
import type { Registry } from "./config/registry.ts";
import type { SkillShelf } from "./config/skills.ts";
import { type Bus, createBus } from "./events/event-bus.ts";
import { createInspector, type Inspector } from "./inspector/inspector.ts";
import { logReader } from "./observability/event-log.ts";
import { createHealth, type HealthDesk } from "./observability/health.ts";
import { createMetrics, type Metrics } from "./observability/metrics.ts";
import type { Traces } from "./observability/traces.ts";
import { createRooms, type Rooms } from "./room-list/room-list.ts";
import { createRoomDesk, type RoomDesk } from "./room-view/room-views.ts";
import { hostPorts, version } from "./state/package-files.ts";
import { storePathOf } from "./state/state-dir.ts";
import type { TokenReader } from "./state/token.ts";
import { localOffset, sessionFolderOf } from "./state/transcript-dir.ts";
import { webchatRoute } from "./webchat/route.ts";
import { createSpeaker, type Speaker } from "./webchat/speech.ts";
import { createWebchatUploads } from "./webchat/uploads.ts";
import { createWebchat, type Webchat } from "./webchat/webchat.ts";
import { createWhatIf, type WhatIfDesk } from "./what-if/what-if.ts";

export interface AssemblyPorts {
  readonly registry: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly workers: number;
  /** Fetched files lie in a folder of it. */
  readonly stateDir: string;
  readonly plugged: Plugged;
  readonly readToken: TokenReader;
  /** Where the Stately inspector is. */
  readonly inspectorUrl: string;
  /** The config in force. */
  readonly config: () => EarshotConfig;
  readonly skills: SkillShelf;
  /** What owners may change of it from a room. */
  readonly house: House;
  /** Null: nobody has registered an SDK. */
  readonly traces: Traces | null;
}

export interface Assembly {
  readonly bus: Bus;
  readonly metrics: Metrics;
  readonly runtime: Runtime;
  readonly connections: Connections;
  readonly webchat: Webchat;
  readonly speaker: Speaker;
  readonly room: RoomDesk;
  readonly whatIf: WhatIfDesk;
  readonly rooms: Rooms;
  readonly health: HealthDesk;
  readonly inspector: Inspector;
  readonly skills: SkillShelf;
  /** What may be typed on the page and in the terminal, for help while somebody types. */
  readonly commands: () => readonly OfferedCommand[];
}

/** `auto`: one less than the cores, at least 1, so that the main thread has one to itself. */
export function workersOf(config: EarshotConfig): number {
  const { count } = config.workers;
  return count === "auto" ? Math.max(1, availableParallelism() - 1) : count;
}

/** Further commands of a menu: what plugins bring, and the skills of the default agent. */
function defaultExtras({ plugged, skills, config }: AssemblyPorts): readonly ExtraCommand[] {
  const all = createExtensionCommands({ plugins: plugged.plugins, skills: skills.list }).list();
  return extrasFor(all, new Set([defaultAgentId(config())]));
}

export function assemble(ports: AssemblyPorts): Assembly {
  const { clock, log, registry, store, config } = ports;
  const random = createRandom();
  const ids = createIds(() => clock.now());
  const { traces } = ports;
  const bus = createBus(log);
  const metrics: Metrics = createMetrics({
    clock,
    version,
    status: () => runtime.status(),
    conversations: () => store.conversationCount(),
    connections: () => connections.states(),
  });
  const connections = createConnections({
    definitions: registry.channels,
    config: config(),
    clock,
    random,
    log,
    ingest: (channel, account, events, options) =>
      runtime.ingest(channel, account, events, options),
    commands: config().commands.text ? menuCommands(defaultExtras(ports)) : [],
    loadCursor: (channel, account, identity) => store.cursor(channel, account, identity),
    publish: bus.publish,
    onChange: (channel, account) => runtime.connectionChanged(channel, account),
  });
  const media = openMediaDesk({
    folder: join(ports.stateDir, "media"),
    log,
    unique: () => ids.next(),
    download: (...file) => connections.download(...file),
  });
  const { layers } = ports.house;
  const whatIf = createWhatIf({ store, clock, ids, config, layers });
  const titleOf = (key: string) => rooms.remember().then(() => rooms.titleOf(key));
  const room = createRoomDesk({ store, clock, log, config, titleOf });
  bus.subscribe(room.line);
  const rooms = createRooms({
    clock,
    log,
    store,
    glances: (convs) => runtime.summaries(convs),
    tally: () => runtime.count(),
  });
  bus.subscribe(rooms.line);
  const inspector = createInspector({
    clock,
    log,
    metrics,
    readToken: ports.readToken,
    page: ports.inspectorUrl,
    inspect: (order) => runtime.inspect(order),
    uninspect: (reader) => runtime.uninspect(reader),
  });
  const { session, store: kept } = config();
  const folderOf = (agentId: string) => sessionFolderOf({ session }, ports.stateDir, agentId);
  const runtime: Runtime = createRuntime({
    clock,
    ids,
    random,
    log,
    store,
    config: config(),
    drivers: registry.drivers,
    directory: connections.directory,
    media,
    plugins: ports.plugged.plugins,
    control: ports.house,
    skills: ports.skills.list,
    workspaces: createWorkspaces(ports.plugged.baseDir),
    // What nothing is kept of leaves no files either.
    ...(kept.driver === "memory" ? {} : { sessionFiles: createSessionFiles(folderOf) }),
    zoneOffset: localOffset,
    version,
    publish: bus.publish,
    conversations: { ...rooms.tap, applied: room.touched },
    telemetry: combineTelemetry([metrics.walk, ...(traces === null ? [] : [traces.tap])]),
    workers: ports.workers,
    hostModule: hostPorts.href,
    onInspect: inspector.told,
  });
  const route = () => webchatRoute(config());
  const folder = join(ports.stateDir, "uploads");
  const uploads = openUploads({ folder, now: () => clock.now(), unique: () => ids.next() });
  const webchat = createWebchat({
    uploads: createWebchatUploads({ clock, log, config, uploads, route }),
    clock,
    log,
    bus,
    store,
    runtime,
    readToken: ports.readToken,
    agent: () => route().agent,
    keys: () => route().keys,
    isOn: () => {
      const { webchat: section } = config().channels;
      return section !== undefined && accountsOf(section).some(([id]) => id === "default");
    },
  });
  const health = createHealth({
    clock,
    log,
    store,
    version,
    config,
    channels: registry.channels,
    status: () => runtime.status(),
    connections: () => connections.states(),
    heardAt: (...account) => rooms.heardAt(...account),
    doubles: () => rooms.doubles,
    titleOf: (key) => rooms.titleOf(key),
    readTitles: () => rooms.remember(),
    storePath: () => (kept.driver === "memory" ? null : storePathOf(config(), ports.stateDir)),
  });
  registry.show(webchat);
  const { directory } = connections;
  const speaker = createSpeaker({
    clock,
    log,
    config,
    media,
    directory,
    session: (key) => runtime.session(key),
  });
  bus.subscribe(speaker.line);
  bus.subscribe(metrics.line);
  if (traces !== null) bus.subscribe(traces.line);
  bus.subscribe(logReader(log, () => config().log.showText, traces));
  const { skills } = ports;
  const commands = () => (config().commands.text ? offeredCommands(defaultExtras(ports)) : []);
  return {
    bus,
    metrics,
    runtime,
    connections,
    webchat,
    speaker,
    room,
    rooms,
    health,
    inspector,
    whatIf,
    skills,
    commands,
  };
}
