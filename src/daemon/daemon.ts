/**
 * The composition root. It locks the state directory, opens config, store, services and HTTP server
 * in this order, and closes them in the reverse order, also when one of them fails to open. It makes
 * no decisions of its own.
 */

import { existsSync } from "node:fs";
import type { Tracer } from "@opentelemetry/api";
import type { Runtime } from "../actors/protocol/runtime.ts";
import { runShell } from "../adapters/agents/command/shell.ts";
import type { Terminal } from "../adapters/channels/terminal/channel.ts";
import { watchRejections } from "../adapters/files/plugin-scope.ts";
import { createWorkspaces } from "../adapters/files/workspaces.ts";
import { lockStateDir } from "../adapters/stores/state-lock.ts";
import { createSystemClock } from "../adapters/system/clock.ts";
import { type EarshotConfig, isLoopbackHost, secretValues } from "../domain/config/index.ts";
import { EarshotError } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import type {
  ChannelDefinition,
  Clock,
  DaemonControl,
  LogLevel,
  Plugin,
  Store,
  Workspaces,
} from "../domain/ports/index.ts";
import { oneLine } from "../domain/sanitize.ts";
import { createListener } from "./api/listener.ts";
import { composeServices, type Services, workersOf } from "./compose.ts";
import { withFoundModels } from "./config/auto-agents.ts";
import { type ConfigSource, openConfig } from "./config/config-source.ts";
import { loadConfiguredPlugins } from "./config/plugins.ts";
import { createRegistry, type Registry } from "./config/registry.ts";
import { createSkillRegistry } from "./config/skills.ts";
import { type ConfigChanges, createConfigChanges } from "./config-edit/changes.ts";
import { createRoomEdits } from "./config-edit/room-edits.ts";
import { loadEngine } from "./engine/load.ts";
import type { KnownHosts } from "./http/allowed-hosts.ts";
import type { ClientAddresses } from "./http/client-address.ts";
import { type Listeners, openListeners } from "./http/listeners.ts";
import { statelyInspector } from "./http/page-headers.ts";
import { createLog, type DaemonLog } from "./observability/log.ts";
import { writeToStderr } from "./observability/stderr-lines.ts";
import { findTracer } from "./observability/tracer.ts";
import type { Traces } from "./observability/traces.ts";
import { removeAddress, writeAddress } from "./state/address-file.ts";
import { openMirror, openStore } from "./state/open-store.ts";
import { builtPages, version } from "./state/package-files.ts";
import { prepareStateDir, stateDirOf } from "./state/state-dir.ts";
import { createTokenReader, ensureToken, type TokenReader } from "./state/token.ts";
import { websocketRoutes } from "./websocket-routes.ts";

export interface DaemonOptions {
  /** @default EARSHOT_STATE_DIR, else ~/.earshot */
  readonly stateDir?: string;
  /** Config file. @default EARSHOT_CONFIG, else `<state>/earshot.json5` if it exists */
  readonly config?: string;
  /** Overrides the config. 0: any free port. */
  readonly port?: number;
  /** Overrides the config. */
  readonly workers?: number;
  readonly logLevel?: LogLevel;
  /** Log for people instead of NDJSON. @default false */
  readonly logPretty?: boolean;
  /** Receives each line of the log. @default stderr */
  readonly writeLog?: (line: string) => void;
  /** Additional channels for the config. */
  readonly channels?: readonly ChannelDefinition[];
  /** Folder of the built pages. @default beside the built daemon */
  readonly pagesDir?: string;
  /** The inspector of statecharts that our page opens. @default https://stately.ai/inspect */
  readonly inspectorUrl?: string;
  /** Plugins that run before those of the config. */
  readonly plugins?: readonly Plugin[];
  /** An owner asked for a restart that can succeed, as far as is known. @default not possible */
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
  readonly terminal: Pick<Terminal, "attach">;
  /**
   * Stops intake, waits at most `drainMs` (10 s) for turns and sends, commits and closes. The next
   * start continues what did not finish.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

/** Steps that close what was opened; they run last to first. */
type Closers = (() => Promise<void> | void)[];

/**
 * Starts a daemon. Resolves when it listens and accepts messages.
 * @throws EarshotError that names the obstacle and how to clear it; everything opened is closed.
 */
export async function startDaemon(options: DaemonOptions = {}): Promise<Daemon> {
  const closers: Closers = [];
  try {
    return await start(options, closers);
  } catch (error) {
    await closeAll(closers).catch(() => undefined);
    throw error;
  }
}

async function closeAll(closers: Closers): Promise<void> {
  let failed: unknown = null;
  for (const close of closers.splice(0).reverse())
    await Promise.resolve()
      .then(close)
      .catch((error: unknown) => {
        failed ??= error;
      });
  if (failed !== null) throw failed;
}

async function start(options: DaemonOptions, closers: Closers): Promise<Daemon> {
  const opened = await open(options, closers);
  const { log, env, stateDir, source, registry, services, current, readiness } = opened;
  const { runtime, connections } = services;
  const server = await serve(opened);
  closers.push(
    () => server.close(),
    () => services.webchat.close(),
    () => services.inspector.close(),
    () => services.whatIf.close(),
    () => services.tuneLabels.close(),
    () => services.search.close(),
  );
  const { base } = server;
  services.listensAt(server.exposed ?? base);
  await writeAddress(stateDir, base);
  let drainMs: number = 0;
  closers.push(
    () => removeAddress(stateDir),
    () => connections.stop(),
    () => services.speech.stop(),
    () => runtime.stop({ drainMs }),
    () => connections.handOver(),
  );
  await runtime.start();
  await connections.start();
  services.webchat.uploads.start();
  services.search.start();
  readiness.problem = null;
  log.log("info", "daemon.ready", {
    base,
    stateDir,
    config: source.path,
    version,
    ...(server.exposed !== null && { exposed: server.exposed }),
  });
  await source.watch((next) => reload(next, env, log, options, current, services));

  let stopping: Promise<void> | null = null;
  return {
    base,
    page: `${base}/#token=${opened.token}`,
    token: opened.token,
    stateDir,
    configPath: source.path,
    runtime,
    terminal: registry.terminal,
    stop(how = {}) {
      drainMs = how.drainMs ?? limits.drainMsMax;
      readiness.problem = "stopping";
      stopping ??= closeAll(closers).then(() => log.log("info", "daemon.stopped", {}));
      return stopping;
    },
  };
}

/** Everything that is open before the server listens. */
interface Opened {
  readonly options: DaemonOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: DaemonLog;
  readonly stateDir: string;
  /** The token at the start. */
  readonly token: string;
  readonly readToken: TokenReader;
  readonly source: ConfigSource;
  readonly current: CurrentConfig;
  /** Relative paths of the config start here. */
  readonly baseDir: string;
  readonly registry: Registry;
  /** What is shown. */
  readonly store: Store;
  readonly services: Services;
  readonly readiness: Readiness;
}

/** Opens log, state directory, config, store and services. */
async function open(options: DaemonOptions, closers: Closers): Promise<Opened> {
  const env = options.env ?? process.env;
  const clock = createSystemClock();
  const log = await createLog({
    level: options.logLevel ?? "info",
    pretty: options.logPretty ?? false,
    write: options.writeLog ?? writeToStderr,
  });
  closers.push(
    watchRejections((plugin, reason) => {
      const error = reason instanceof Error ? reason.message : String(reason);
      log.log("error", "plugin.rejected", { plugin, error: oneLine(error, 200) });
    }),
  );
  const stateDir = stateDirOf(options.stateDir, env);
  await prepareStateDir(stateDir);
  const lock = await lockStateDir(stateDir);
  closers.push(() => lock.release());
  await ensureToken(stateDir);
  const readToken = tokenReader(stateDir, log);
  const token = await readToken();

  const plugins = await loadConfiguredPlugins(
    { config: options.config, env, stateDir },
    options.plugins,
  );
  const { baseDir } = plugins;
  const registry = createRegistry([...(options.channels ?? []), ...plugins.channels]);
  const source = await openConfig({
    file: options.config,
    env,
    stateDir,
    parse: registry,
    log: log.log,
    now: () => clock.now(),
  });
  closers.push(() => source.close());
  const current = createCurrentConfig(await prepareConfig(source.config(), env, log, options));
  const config = current.config();
  const store = await openStore(config, stateDir);
  closers.push(() => store.close());
  const mirror = openMirror(config, stateDir);
  closers.push(() => mirror?.close());
  const skills = createSkillRegistry(baseDir, log.log);
  await skills.load(config);
  const tracer = findTracer(version);
  const traces = tracer === null ? null : await tracesOf(tracer, clock);
  closers.push(() => traces?.close());
  const changes = createConfigChanges({
    clock,
    env,
    stateDir,
    path: source.state.file,
    applied: source.state.applied,
    parse: registry,
  });
  const workspaces = createWorkspaces(baseDir, stateDir);
  const services = composeServices({
    traces,
    skills,
    registry,
    store,
    mirror,
    engine: await loadEngine(config),
    clock,
    log: log.log,
    workers: options.workers ?? workersOf(config),
    stateDir,
    env,
    plugins,
    readToken,
    inspectorUrl: options.inspectorUrl ?? statelyInspector,
    config: current.config,
    configState: source.state,
    changes,
    control: daemonControl(options, { ...source, changes }, workspaces, closers),
  });
  const readiness = { problem: "starting" };
  return {
    options,
    env,
    clock,
    log,
    stateDir,
    token,
    readToken,
    source,
    current,
    baseDir,
    registry,
    store: mirror ?? store,
    services,
    readiness,
  };
}

/** Leaves time for the answer to the restart command to be sent. */
const restartDelayMs = 50;

function daemonControl(
  { onRestart }: DaemonOptions,
  { layers, problem, changes }: ConfigSource & { readonly changes: ConfigChanges },
  workspaces: Workspaces,
  closers: Closers,
): DaemonControl {
  const stopping = new AbortController();
  closers.push(() => stopping.abort());
  const shell: DaemonControl["shell"] = ({ workspace, ...order }) => {
    const folder = workspaces.folder(workspace);
    const cwd = existsSync(folder) ? folder : process.cwd();
    return runShell({ ...order, cwd, signal: AbortSignal.any([order.signal, stopping.signal]) });
  };
  const file = createRoomEdits(changes, layers);
  if (onRestart === undefined) return { layers, file, shell, restart: null };
  return {
    layers,
    file,
    shell,
    restart: { problem, start: () => void setTimeout(onRestart, restartDelayMs) },
  };
}

/** Reads the current token and redacts it in the log, also one written while the daemon runs. */
function tokenReader(stateDir: string, { keepSecret }: DaemonLog): TokenReader {
  const read = createTokenReader(stateDir);
  let known: string | null = null;
  return async () => {
    const token = await read();
    if (token !== known) keepSecret([token]);
    known = token;
    return token;
  };
}

interface Readiness {
  /** Why messages are not accepted, besides the runtime's reasons; null: they are. */
  problem: string | null;
}

interface CurrentConfig {
  config(): EarshotConfig;
  set(config: EarshotConfig): void;
}

function createCurrentConfig(first: EarshotConfig): CurrentConfig {
  let config = first;
  return {
    config: () => config,
    set(next) {
      config = next;
    },
  };
}

/**
 * Completes a parsed config for this process: models found on this machine, secrets for the log,
 * the log level. @throws EarshotError EAR_CONFIG_UNSAFE if it exposes the server by mistake.
 */
async function prepareConfig(
  parsed: EarshotConfig,
  env: NodeJS.ProcessEnv,
  log: DaemonLog,
  options: DaemonOptions,
): Promise<EarshotConfig> {
  const config = await withFoundModels(parsed, env, log.log);
  log.keepSecret(secretValues(config));
  if (options.logLevel === undefined) log.setLevel(config.log.level);
  const { host, exposed } = config.server;
  if (!exposed && !isLoopbackHost(host))
    throw new EarshotError(
      "EAR_CONFIG_UNSAFE",
      `Cannot listen on ${host}: other machines can reach it. Set server.exposed to true to allow ` +
        "that, or set server.host to 127.0.0.1",
    );
  return config;
}

async function reload(
  next: EarshotConfig,
  env: NodeJS.ProcessEnv,
  log: DaemonLog,
  options: DaemonOptions,
  current: CurrentConfig,
  { runtime, connections, skills, search }: Services,
): Promise<void> {
  const config = await prepareConfig(next, env, log, options);
  await skills.load(config);
  const before = current.config();
  for (const section of ["server", "store", "workers", "engine", "plugins"] as const)
    if (JSON.stringify(before[section]) !== JSON.stringify(config[section]))
      log.log("warn", "config.needs-restart", { section });
  if (before.session.store !== config.session.store)
    log.log("warn", "config.needs-restart", { section: "session.store" });
  await runtime.reload(config);
  current.set(config);
  await connections.reload(config);
  if (before.search.enabled !== config.search.enabled) search.start();
}

async function tracesOf(tracer: Tracer, clock: Clock): Promise<Traces> {
  const { createTraces } = await import("./observability/traces.ts");
  return createTraces(tracer, () => clock.now());
}

async function serve(opened: Opened): Promise<Listeners> {
  const { options, clock, log, registry, services, readiness, current } = opened;
  const { connections } = services;
  const problem = () => readiness.problem;
  const pages = { folder: options.pagesDir ?? builtPages, inspector: services.inspector.page };
  const startedAt = clock.now();
  const answer = (known: () => KnownHosts, clients: ClientAddresses) =>
    createListener(
      {
        ...services,
        store: opened.store,
        clock,
        log: log.log,
        readToken: opened.readToken,
        clients,
        version,
        startedAt,
        stateDir: opened.stateDir,
        channels: registry.channels,
        connections: () => connections.states(),
        retryConnection: (channel, account) => connections.retry(channel, account),
        hook: (channel, account) => connections.hook(channel, account),
        webhookSent: (account) => registry.webhook.sent(account),
        simulate: async (lines, explain) => {
          const { simulate, simulatedConfig } = await import("./replay/simulate.ts");
          const config = simulatedConfig(current.config());
          return simulate(lines, { explain: explain ?? true, config });
        },
        check: async (onStep) => {
          const { checkEverything, ofDaemon } = await import("./checks/live/everything.ts");
          const { channels, drivers } = registry;
          const { stateDir, baseDir } = opened;
          const given = { clock, stateDir, baseDir, channels, drivers };
          const subject = await ofDaemon(given, current.config(), services.runtime);
          return checkEverything(subject, false, onStep);
        },
        problem,
      },
      known,
      pages,
    );
  return openListeners({
    server: current.config().server,
    port: options.port,
    baseDir: opened.baseDir,
    log: log.log,
    answer,
    problem,
    socketFor: websocketRoutes(services),
  });
}
