/**
 * Runs an agent that is a JavaScript module: its default export is an async generator function
 * `(turn, { signal }) => AsyncIterable<AgentEvent>`, or a driver made with `defineAgent`. It is
 * loaded in the worker that owns the conversation. A path is taken relative to the folder of the
 * config file; any other name is resolved as an installed package.
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import {
  type AgentContext,
  type AgentDriver,
  type AgentPort,
  defineAgent,
} from "../../../domain/ports/index.ts";
import { importDefault, importProblem, modulePath } from "../../files/imports.ts";

const configSchema = z.strictObject({
  kind: z.literal("module").default("module"),
  /** A path (`./agent.mjs`, `/opt/agent.mjs`) or a package name. */
  module: z.string().min(1),
  /** Where relative paths start; set by the config loader. */
  baseDir: z.string().optional(),
  /** Handed to the module's own driver, if it exports one. */
  options: z.record(z.string(), z.unknown()).default({}),
});
type ModuleConfig = z.infer<typeof configSchema>;

export const moduleDriver = defineAgent<ModuleConfig>({
  kind: "module",
  configSchema: configSchema as z.ZodType<ModuleConfig>,
  open: (context) => load(context),
});

async function load(context: AgentContext<ModuleConfig>): Promise<AgentPort> {
  const { config, agentId } = context;
  const exported = await defaultExport(agentId, config);
  if (typeof exported === "function")
    return {
      capabilities: { steer: false, tools: true, images: false },
      run: exported as AgentPort["run"],
    };
  if (isDriver(exported)) {
    const parsed = exported.configSchema.safeParse(config.options);
    if (!parsed.success)
      throw new EarshotError(
        "EAR_AGENT_CONFIG",
        `Cannot open agent "${agentId}": its options are invalid. ${z.prettifyError(parsed.error)}`,
      );
    return exported.open({ ...context, config: parsed.data });
  }
  throw new EarshotError(
    "EAR_AGENT_CONFIG",
    `Cannot use the module of agent "${agentId}": its default export is neither a function nor a driver (${typeof exported}).`,
  );
}

async function defaultExport(agentId: string, { module, baseDir }: ModuleConfig): Promise<unknown> {
  const base = baseDir ?? process.cwd();
  try {
    return await importDefault(module, base);
  } catch (cause) {
    const path = modulePath(module, base);
    throw new EarshotError(
      "EAR_AGENT_CONFIG",
      `Cannot load the module of agent "${agentId}" (${path ?? module}): ${importProblem(cause, path)}. ` +
        "Fix it; the next message tries again.",
      { cause },
    );
  }
}

function isDriver(value: unknown): value is AgentDriver {
  const driver = value as Partial<AgentDriver> | null;
  return (
    typeof driver === "object" &&
    driver !== null &&
    typeof driver.open === "function" &&
    typeof driver.configSchema?.safeParse === "function"
  );
}
