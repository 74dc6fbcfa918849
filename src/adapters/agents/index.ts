/**
 * Agent drivers by kind
 * =====================
 * The registry that the config's schema, the daemon and the hosts share. A host imports this module
 * by its URL, so drivers of other packages reach a worker the same way.
 */
import type { AgentDriver } from "../../domain/ports.ts";
import { guideDriver } from "./guide.ts";
import { modelDriver } from "./model.ts";
import { moduleDriver } from "./module.ts";
import { createScriptedDriver } from "./scripted.ts";

/** The built-in drivers. */
export const drivers: ReadonlyMap<string, AgentDriver> = new Map(
  ([guideDriver, modelDriver, moduleDriver, createScriptedDriver()] as AgentDriver[]).map(
    (driver) => [driver.kind, driver],
  ),
);
