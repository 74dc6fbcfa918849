/**
 * Agent drivers by kind
 * =====================
 * The registry that the config's schema, the daemon and the hosts share. A host imports this module
 * by its URL, so drivers of other packages reach a worker the same way.
 */
import type { AgentDriver } from "../../domain/ports.ts";
import { acpDriver } from "./acp.ts";
import { commandDriver } from "./command.ts";
import { guideDriver } from "./guide.ts";
import { modelDriver } from "./model.ts";
import { moduleDriver } from "./module.ts";
import { createScriptedDriver } from "./scripted.ts";
import { webhookDriver } from "./webhook.ts";

const builtIn = [
  guideDriver,
  modelDriver,
  acpDriver,
  commandDriver,
  webhookDriver,
  moduleDriver,
  createScriptedDriver(),
] as AgentDriver[];

/** The built-in drivers. What only one of them needs is loaded when it is first used. */
export const drivers: ReadonlyMap<string, AgentDriver> = new Map(
  builtIn.map((driver) => [driver.kind, driver]),
);
