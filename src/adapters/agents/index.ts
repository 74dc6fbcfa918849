/**
 * Agent drivers by kind
 * =====================
 * The registry shared by the config's schema, the daemon and the hosts. A host imports this module
 * by its URL, so drivers of other packages reach a worker the same way.
 */
import type { AgentDriver } from "../../domain/ports/index.ts";
import { acpDriver } from "./acp/driver.ts";
import { commandDriver } from "./command/driver.ts";
import { modelDriver } from "./model/driver.ts";
import { moduleDriver } from "./module/driver.ts";
import { createScriptedDriver } from "./scripted/driver.ts";
import { guideDriver } from "./shared/guide.ts";
import { webhookDriver } from "./webhook/driver.ts";

const builtIn = [
  guideDriver,
  modelDriver,
  acpDriver,
  commandDriver,
  webhookDriver,
  moduleDriver,
  createScriptedDriver(),
] as AgentDriver[];

/** The built-in drivers. Dependencies of a single driver are loaded on its first use. */
export const drivers: ReadonlyMap<string, AgentDriver> = new Map(
  builtIn.map((driver) => [driver.kind, driver]),
);
