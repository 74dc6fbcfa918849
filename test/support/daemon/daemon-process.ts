/**
 * A daemon as a process of its own, to be ended without a word: `startProcess` spawns
 * daemon-program.ts. `startLast` is for the life after the last kill: it runs in this process, at a fifth of
 * the cost.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { startDaemon } from "../../../src/daemon/daemon.ts";
import { builtFile } from "../built/files.ts";
import { childFlags } from "../child-flags.ts";

export interface DaemonProcess {
  /** The address of the page, token included. */
  readonly page: URL;
  /** Ends it as a power cut would; one in this process is stopped without waiting for anything. */
  kill(): Promise<void>;
}

/** Resolves when it takes messages. Port 0: any free one. */
export async function startProcess(
  stateDir: string,
  pagesDir: string,
  port = 0,
): Promise<DaemonProcess> {
  const env = { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" };
  const program = builtFile("test/daemon-process");
  const args = [...childFlags, program, stateDir, pagesDir, String(port)];
  const child: ChildProcess = spawn(process.execPath, args, { env, stdio: "pipe" });
  let out = "";
  const page = await new Promise<URL>((found, ended) => {
    const read = (data: unknown) => {
      out += String(data);
      const said = /http:\S+#token=\S+/.exec(out)?.[0];
      if (said !== undefined) found(new URL(said));
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.on("close", () => ended(new Error(`it ended: ${out}`)));
  });
  return {
    page,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

/** The same in this process. Resolves when it takes messages. */
export async function startLast(stateDir: string, pagesDir: string): Promise<DaemonProcess> {
  const how = { port: 0, workers: 0, logLevel: "error", env: {} } as const;
  const daemon = await startDaemon({ stateDir, pagesDir, ...how, writeLog: () => undefined });
  return {
    page: new URL(daemon.page),
    kill: async () => void (await daemon.stop({ drainMs: 0 })),
  };
}
