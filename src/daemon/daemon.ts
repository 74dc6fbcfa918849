/**
 * The daemon
 * ==========
 * The composition root: the only place that knows every room of the house. It takes the state
 * directory for itself, puts config, store, runtime, channels and server together, and takes them
 * apart again in the reverse order, whichever of them failed. Nothing is decided here.
 */

import type { Tracer } from "@opentelemetry/api";
import type { Runtime } from "../actors/protocol/runtime.ts";
import type { Terminal } from "../adapters/channels/terminal/channel.ts";
import { lockStateDir } from "../adapters/stores/lock.ts";
import { createMemoryStore } from "../adapters/stores/memory.ts";
import { openSqliteStore } from "../adapters/stores/sqlite.ts";
import { createSystemClock } from "../adapters/system/clock.ts";
import { type EarshotConfig, isLoopbackHost, secretValues } from "../domain/config/index.ts";
import { EarshotError } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import type {
  ChannelDefinition,
  Clock,
  House,
  LogLevel,
  Plugin,
  Store,
} from "../domain/ports/index.ts";
import { createApp } from "./api/app.ts";
import { type Assembly, assemble, workersOf } from "./compose.ts";
import { withFoundModels } from "./config/auto-agents.ts";
import { type ConfigSource, openConfig } from "./config/config-source.ts";
import { plugIn } from "./config/plugins.ts";
import { createRegistry, type Registry } from "./config/registry.ts";
import { createSkillShelf } from "./config/skills.ts";
import type { KnownHosts } from "./http/allowed-hosts.ts";
import type { Clients } from "./http/client-address.ts";
import { type Listeners, openListeners } from "./http/listeners.ts";
import { loadPages, statelyInspector } from "./http/static-pages.ts";
import { createLog, type DaemonLog } from "./observability/log.ts";
import { findTracer } from "./observability/tracer.ts";
import type { Traces } from "./observability/traces.ts";
import { simulate } from "./replay/simulate.ts";
import { removeAddress, writeAddress } from "./state/address-file.ts";
import { builtPages, version } from "./state/package-files.ts";
import { prepareStateDir, stateDirOf, storePathOf } from "./state/state-dir.ts";
import type { TokenReader } from "./state/token.ts";
import { ensureToken, readToken } from "./state/token.ts";
import { socketsOf } from "./websocket-routes.ts";

export interface DaemonOptions {
  /** @default EARSHOT_STATE_DIR, else ~/.earshot */
  readonly stateDir?: string;
  /** Config file. @default EARSHOT_CONFIG, else `<state>/earshot.json5` if it is there */
  readonly config?: string;
  /** Over what the config says. 0: any free one. */
  readonly port?: number;
  /** Over what the config says. */
  readonly workers?: number;
  readonly logLevel?: LogLevel;
  /** Log for people instead of NDJSON. @default false */
  readonly logPretty?: boolean;
  /** Takes the log's lines. @default stderr */
  readonly writeLog?: (line: string) => void;
  /** Further channels that the config may name. */
  readonly channels?: readonly ChannelDefinition[];
  /** Folder of the built pages. @default beside the built daemon */
  readonly pagesDir?: string;
  /** The inspector of statecharts that our page opens. @default https://stately.ai/inspect */
  readonly inspectorUrl?: string;
  /** Before those that the config names. */
  readonly plugins?: readonly Plugin[];
  /** An owner asks for a new start, and nothing is known to be in its way. @default not possible */
  readonly onRestart?: () => void;
  /** @default process.env */
  readonly env?: NodeJS.ProcessEnv;
}

export interface Daemon {
  /** For example http://127.0.0.1:4747. */
  readonly base: string;
  /** The address of the page, token included. */
  readonly page: string;
  readonly token: string;
  readonly stateDir: string;
  /** The config file in use; null: embedded defaults. */
  readonly configPath: string | null;
  readonly runtime: Runtime;
  readonly terminal: Terminal;
  /**
   * Takes nothing new, lets turns and sends end for at most `drainMs` (10 s), commits and closes.
   * What did not end is found at the next start.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

/** Things to undo, the last one first. */
type Undo = (() => Promise<void> | void)[];

/**
 * Starts a daemon. Resolves when it listens and takes messages.
 * @throws EarshotError naming what is in the way and how to clear it; nothing is left running then.
 */
export async function startDaemon(options: DaemonOptions = {}): Promise<Daemon> {
  const undo: Undo = [];
  try {
    return await open(options, undo);
  } catch (error) {
    await takeApart(undo).catch(() => undefined);
    throw error;
  }
}

async function takeApart(undo: Undo): Promise<void> {
  let failed: unknown = null;
  for (const step of undo.splice(0).reverse())
    await Promise.resolve()
      .then(step)
      .catch((error: unknown) => {
        failed ??= error;
      });
  if (failed !== null) throw failed;
}

async function open(options: DaemonOptions, undo: Undo): Promise<Daemon> {
  const env = options.env ?? process.env;
  const clock = createSystemClock();
  const journal = await createLog({
    level: options.logLevel ?? "info",
    pretty: options.logPretty ?? false,
    write: options.writeLog ?? ((line) => void process.stderr.write(line)),
  });
  const stateDir = stateDirOf(options.stateDir, env);
  await prepareStateDir(stateDir);
  const lock = await lockStateDir(stateDir);
  undo.push(() => lock.release());
  await ensureToken(stateDir);
  const currentToken = tokenReader(stateDir, journal);
  const token = await currentToken();

  const plugged = await plugIn({ config: options.config, env, stateDir }, options.plugins);
  const registry = createRegistry([...(options.channels ?? []), ...plugged.channels]);
  const source = await openConfig({
    told: options.config,
    env,
    stateDir,
    parse: registry,
    log: journal.log,
  });
  undo.push(() => source.close());
  const current = createCurrent(await ready(source.config(), env, journal, options));
  const store = await openStore(current.config(), stateDir);
  undo.push(() => store.close());
  const skills = createSkillShelf(plugged.baseDir, journal.log);
  await skills.load(current.config());
  const tracer = findTracer(version);
  const traces = tracer === null ? null : await traceBy(tracer, clock);
  undo.push(() => traces?.close());
  const rooms = assemble({
    traces,
    skills,
    registry,
    store,
    clock,
    log: journal.log,
    workers: options.workers ?? workersOf(current.config()),
    stateDir,
    plugged,
    readToken: currentToken,
    inspectorUrl: options.inspectorUrl ?? statelyInspector,
    config: current.config,
    house: houseOf(options, source),
  });
  const state: State = { problem: "starting" };
  const server = await serve({
    options,
    clock,
    journal,
    registry,
    store,
    rooms,
    state,
    stateDir,
    current,
    token: currentToken,
    baseDir: plugged.baseDir,
  });
  undo.push(
    () => server.close(),
    () => rooms.webchat.close(),
    () => rooms.inspector.close(),
    () => rooms.whatIf.close(),
  );
  const { base } = server;
  await writeAddress(stateDir, base);
  undo.push(() => removeAddress(stateDir));

  undo.push(() => rooms.connections.stop());
  undo.push(() => rooms.speaker.stop());
  let drainMs: number = 0;
  undo.push(() => rooms.runtime.stop({ drainMs }));
  await rooms.runtime.start();
  rooms.connections.start();
  rooms.webchat.uploads.start();
  state.problem = null;
  journal.log("info", "daemon.ready", {
    base,
    stateDir,
    config: source.path,
    version,
    ...(server.exposed !== null && { exposed: server.exposed }),
  });
  await source.watch((next) => reload(next, env, journal, options, current, rooms));

  let stopping: Promise<void> | null = null;
  return {
    base,
    page: `${base}/#token=${token}`,
    token,
    stateDir,
    configPath: source.path,
    runtime: rooms.runtime,
    terminal: registry.terminal,
    stop(how = {}) {
      drainMs = how.drainMs ?? limits.drainMsMax;
      state.problem = "stopping";
      stopping ??= takeApart(undo).then(() => journal.log("info", "daemon.stopped", {}));
      return stopping;
    },
  };
}

/** The answer to who asks for a restart has a moment to be on its way. */
const restartMs = 50;

function houseOf({ onRestart }: DaemonOptions, { layers, problem }: ConfigSource): House {
  if (onRestart === undefined) return { layers, restart: null };
  return { layers, restart: { problem, begin: () => void setTimeout(onRestart, restartMs) } };
}

/** The token as it is now. One that was written while the daemon runs is a secret, too. */
function tokenReader(stateDir: string, { keepSecret }: DaemonLog): TokenReader {
  let known: string | null = null;
  return async () => {
    const token = await readToken(stateDir);
    if (token !== known) keepSecret([token]);
    known = token;
    return token;
  };
}

/** Why messages cannot be taken, beyond what the runtime knows. */
interface State {
  problem: string | null;
}

interface Current {
  config(): EarshotConfig;
  set(config: EarshotConfig): void;
}

function createCurrent(first: EarshotConfig): Current {
  let config = first;
  return {
    config: () => config,
    set(next) {
      config = next;
    },
  };
}

/** The parsed config as this process runs it. */
async function ready(
  parsed: EarshotConfig,
  env: NodeJS.ProcessEnv,
  journal: DaemonLog,
  options: DaemonOptions,
): Promise<EarshotConfig> {
  const config = await withFoundModels(parsed, env, journal.log);
  journal.keepSecret(secretValues(config));
  if (options.logLevel === undefined) journal.setLevel(config.log.level);
  const { host, exposed } = config.server;
  if (!exposed && !isLoopbackHost(host))
    throw new EarshotError(
      "EAR_CONFIG_UNSAFE",
      `Cannot listen on ${host} as that is more than this machine: set server.exposed to true if you ` +
        "mean it, or server.host to 127.0.0.1",
    );
  return config;
}

async function reload(
  next: EarshotConfig,
  env: NodeJS.ProcessEnv,
  journal: DaemonLog,
  options: DaemonOptions,
  current: Current,
  { runtime, connections, skills }: Assembly,
): Promise<void> {
  const config = await ready(next, env, journal, options);
  await skills.load(config);
  const before = current.config();
  for (const section of ["server", "store", "workers", "engine", "plugins"] as const)
    if (JSON.stringify(before[section]) !== JSON.stringify(config[section]))
      journal.log("warn", "config.needs-restart", { section });
  if (before.session.store !== config.session.store)
    journal.log("warn", "config.needs-restart", { section: "session.store" });
  await runtime.reload(config);
  current.set(config);
  await connections.reload(config);
}

async function traceBy(tracer: Tracer, clock: Clock): Promise<Traces> {
  const { createTraces } = await import("./observability/traces.ts");
  return createTraces(tracer, () => clock.now());
}

async function openStore(config: EarshotConfig, stateDir: string): Promise<Store> {
  if (config.store.driver === "memory") return createMemoryStore();
  return openSqliteStore({ path: storePathOf(config, stateDir) });
}

interface Serving {
  readonly options: DaemonOptions;
  readonly clock: Clock;
  readonly journal: DaemonLog;
  readonly registry: Registry;
  readonly store: Store;
  readonly rooms: Assembly;
  readonly state: State;
  readonly stateDir: string;
  readonly current: Current;
  readonly token: TokenReader;
  /** What relative files of the config are relative to. */
  readonly baseDir: string;
}

/** What a simulated room takes from the config: the rules and agents, not who may speak where. */
function rulesOf(config: EarshotConfig): unknown {
  const { agents, engagement, context, loopGuard, messages, stream, silent, turn, prompt } = config;
  return { agents, engagement, context, loopGuard, messages, stream, silent, turn, prompt };
}

async function serve(parts: Serving): Promise<Listeners> {
  const { options, clock, journal, registry, store, rooms, state, stateDir, current } = parts;
  const pages = await loadPages(options.pagesDir ?? builtPages, rooms.inspector.page);
  const app = async (known: () => KnownHosts, clients: Clients) =>
    createApp(
      {
        runtime: rooms.runtime,
        store,
        bus: rooms.bus,
        clock,
        log: journal.log,
        metrics: rooms.metrics,
        readToken: parts.token,
        clients,
        version,
        startedAt: clock.now(),
        stateDir,
        channels: registry.channels,
        connections: () => rooms.connections.states(),
        retryConnection: (...account) => rooms.connections.retry(...account),
        hook: (channel, account) => rooms.connections.hook(channel, account),
        room: rooms.room,
        whatIf: rooms.whatIf,
        webchat: rooms.webchat,
        rooms: rooms.rooms,
        health: rooms.health,
        inspector: rooms.inspector,
        webhookSent: (account) => registry.webhook.sent(account),
        commands: rooms.commands,
        simulate: (lines, explain) =>
          simulate(lines, { explain: explain ?? true, config: rulesOf(current.config()) }),
        problem: () => state.problem,
      },
      known,
      pages,
    );
  return openListeners({
    server: current.config().server,
    port: options.port,
    baseDir: parts.baseDir,
    log: journal.log,
    app,
    problem: () => state.problem,
    socketFor: socketsOf(rooms),
  });
}
