/**
 * What a daemon needs for an engine, loaded where the config asks for one: a daemon whose own hosts step
 * its conversations starts without it.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";

export interface EngineModules {
  readonly createEngine: typeof import("./engine.ts").createEngine;
  readonly withEngine: typeof import("./front.ts").withEngine;
  readonly noCopyOf: typeof import("./engine-status.ts").noCopyOf;
  readonly shareTerminal: typeof import("./terminal.ts").shareTerminal;
  readonly createNodeFiles: typeof import("./files.ts").createNodeFiles;
}

/** Null: the daemon's own hosts step its conversations. */
export async function loadEngine(config: EarshotConfig): Promise<EngineModules | null> {
  if (config.engine.kind === "pool") return null;
  const [engine, front, status, terminal, files] = await Promise.all([
    import("./engine.ts"),
    import("./front.ts"),
    import("./engine-status.ts"),
    import("./terminal.ts"),
    import("./files.ts"),
  ]);
  return {
    createEngine: engine.createEngine,
    withEngine: front.withEngine,
    noCopyOf: status.noCopyOf,
    shareTerminal: terminal.shareTerminal,
    createNodeFiles: files.createNodeFiles,
  };
}
