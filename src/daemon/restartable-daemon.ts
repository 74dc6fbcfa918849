/**
 * A daemon that may be started anew
 * =================================
 * Runs a daemon, and when an owner asks for it with `/restart`, stops it as a signal would (what is
 * under way ends first, what is left is found in the journal) and starts another in the same process,
 * with the config as it is then. A start that fails after that ends in `failed`: whoever keeps the
 * process running, a service manager for example, starts it again.
 */
import { type Daemon, type DaemonOptions, startDaemon } from "./daemon.ts";

export interface RestartableDaemon {
  /** The one that runs now, or ran last. */
  current(): Daemon;
  stop(): Promise<void>;
}

export interface RestartListener {
  /** Another one runs. */
  readonly restarted: (daemon: Daemon) => void;
  readonly failed: (error: unknown) => void;
}

/** @throws EarshotError as `startDaemon`, for the first start. */
export async function startRestartableDaemon(
  options: DaemonOptions,
  { restarted, failed }: RestartListener,
): Promise<RestartableDaemon> {
  let ended = false;
  let restarting: Promise<void> | null = null;
  const begin = (port = options.port): Promise<Daemon> =>
    startDaemon({
      ...options,
      ...(port === undefined ? {} : { port }),
      onRestart() {
        if (ended) return;
        restarting ??= again().finally(() => {
          restarting = null;
        });
      },
    });
  let daemon = await begin();

  async function again(): Promise<void> {
    try {
      // Where any port would do, those who look at the page find it at the same one.
      const port = options.port === 0 ? Number(new URL(daemon.base).port) : options.port;
      await daemon.stop();
      if (ended) return;
      daemon = await begin(port);
      restarted(daemon);
    } catch (error) {
      ended = true;
      failed(error);
    }
  }

  return {
    current: () => daemon,
    async stop() {
      ended = true;
      await restarting;
      await daemon.stop();
    },
  };
}
