/**
 * What a daemon needs for an engine, loaded where the config asks for one: a daemon whose own hosts step
 * its conversations starts without it.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";

export interface EngineModules {
  readonly createEngine: typeof import("./engine.ts").createEngine;
  readonly withEngine: typeof import("./front.ts").withEngine;
  readonly noCopyOf: typeof import("./engine-status.ts").noCopyOf;
}

/** Null: the daemon's own hosts step its conversations. */
export async function loadEngine({ engine }: EarshotConfig): Promise<EngineModules | null> {
  if (engine.kind === "pool") return null;
  const [{ createEngine }, { withEngine }, { noCopyOf }] = await Promise.all([
    import("./engine.ts"),
    import("./front.ts"),
    import("./engine-status.ts"),
  ]);
  return { createEngine, withEngine, noCopyOf };
}
