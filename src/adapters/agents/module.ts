/**
 * The module driver
 * =================
 * Runs an agent that is a JavaScript module: its default export is an async generator function
 * `(turn, { signal }) => AsyncIterable<AgentEvent>`, or a driver made with `defineAgent`. It is
 * loaded in the worker that owns the conversation. A path is taken relative to the folder of the
 * config file; any other name is resolved as an installed package.
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import {
  type AgentContext,
  type AgentDriver,
  type AgentPort,
  defineAgent,
} from "../../domain/ports.ts";

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

/** Frames of our own are not where a module is wrong. */
const ownFolder = fileURLToPath(new URL(".", import.meta.url));
/** File and line of a frame of a stack; a query behind the file is left out. */
const frame = /(file:\/\/[^\s?()]+?|\/[^\s?()]+?)(?:\?[^\s:()]*)?:(\d+):\d+/g;

export const moduleDriver = defineAgent<ModuleConfig>({
  kind: "module",
  configSchema: configSchema as z.ZodType<ModuleConfig>,
  open: (context) => load(context),
});

async function load(context: AgentContext<ModuleConfig>): Promise<AgentPort> {
  const { config, agentId } = context;
  const exported = await importDefault(agentId, config);
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
        `Cannot open agent "${agentId}" as its options are wrong: ${z.prettifyError(parsed.error)}`,
      );
    return exported.open({ ...context, config: parsed.data });
  }
  throw new EarshotError(
    "EAR_AGENT_CONFIG",
    `Cannot use the module of agent "${agentId}" as its default export is neither a function nor a driver: received ${typeof exported}`,
  );
}

/**
 * The module's default export. A file is known by its time of change as well, because Node remembers
 * a module that failed for as long as the process lives: once it is mended, the next turn loads it.
 */
async function importDefault(agentId: string, { module, baseDir }: ModuleConfig): Promise<unknown> {
  const isPath = /^(\.{0,2}\/|[A-Za-z]:\\)/.test(module);
  const path = isPath ? resolve(baseDir ?? process.cwd(), module) : null;
  try {
    const target =
      path === null ? module : `${pathToFileURL(path).href}?changed=${(await stat(path)).mtimeMs}`;
    return ((await import(target)) as { default?: unknown }).default;
  } catch (cause) {
    throw new EarshotError(
      "EAR_AGENT_CONFIG",
      `Cannot load the module of agent "${agentId}" (${path ?? module}) as ${whyNot(cause, path)}: ` +
        "mend it, and the next message tries again",
      { cause },
    );
  }
}

/** The first line of what went wrong, and where. */
function whyNot(cause: unknown, path: string | null): string {
  if (!(cause instanceof Error)) return String(cause);
  const why = `${cause.name === "Error" ? "" : `${cause.name}: `}${cause.message.split("\n")[0]}`;
  // Node does not tell where the syntax is wrong; its own check does.
  if (cause instanceof SyntaxError) return `${why} (\`node --check ${path}\` shows where)`;
  const frames = [...(cause.stack ?? "").matchAll(frame)].map(([, file = "", line = ""]) => ({
    file: file.startsWith("file:") ? fileURLToPath(file) : file,
    line,
  }));
  const place =
    frames.find(({ file }) => file === path) ??
    frames.find(({ file }) => !file.startsWith(ownFolder) && !file.includes("/node_modules/"));
  return place === undefined ? why : `${why} (${place.file}:${place.line})`;
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
