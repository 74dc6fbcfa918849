/**
 * A daemon that can restart
 * =========================
 * Runs a daemon. When an owner sends `/restart`, it stops the daemon as a signal would (running work
 * finishes, the journal has the rest) and starts another one in the same process with the current
 * config. If that start fails, it calls `failed`, and the service manager has to start the
 * process again.
 */
import { type Daemon, type DaemonOptions, startDaemon } from "./daemon.ts";

export interface RestartableDaemon {
  /** The running daemon, or the last one. */
  current(): Daemon;
  stop(): Promise<void>;
}

export interface RestartListener {
  /** A new daemon runs. */
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
      // With any free port, the restarted daemon keeps the port, so open pages find it.
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
