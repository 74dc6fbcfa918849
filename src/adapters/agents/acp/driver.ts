/**
 * The ACP driver
 * ==============
 * Runs any agent that speaks the Agent Client Protocol (agentclientprotocol.com) as a subprocess:
 * one process for an opened agent, one protocol session for each session key. A process that dies
 * fails the turns it was at; the next turn starts another, and loads its session where the agent
 * can.
 *
 * The agent gets no file system and no terminal from us, and what it asks permission for is
 * answered by a policy: denied, unless the config or the session says otherwise. The protocol's library is an optional
 * package, loaded when the first such agent is opened.
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { type AgentContext, type AgentPort, defineAgent } from "../../../domain/ports/index.ts";
import { programFields, programOf } from "../command/driver.ts";

const configSchema = z.strictObject({
  kind: z.literal("acp").default("acp"),
  ...programFields,
  permissions: z
    .enum(["deny", "allowlist", "allow"])
    .default("deny")
    .describe("What the agent is told when it asks whether it may do something."),
  allowKinds: z
    .array(z.enum(["read", "edit", "delete", "move", "search", "execute", "think", "fetch"]))
    .max(8)
    .default(["read", "search", "think"])
    .describe("Kinds of things that `allowlist` (here or in /exec) allows."),
  sessions: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(200)
    .describe("Sessions kept; the one unused for longest is forgotten first."),
  startMs: z
    .number()
    .int()
    .min(100)
    .max(600_000)
    .default(30_000)
    .describe("For the program to start, and to open a session, ms."),
  images: z
    .boolean()
    .default(true)
    .describe("Whether it is given the pictures of a turn, if it takes any."),
});
export type AcpConfig = z.infer<typeof configSchema>;

export const acpDriver = defineAgent<AcpConfig>({
  kind: "acp",
  configSchema: configSchema as z.ZodType<AcpConfig>,
  async open({ config, agentId, workspace }: AgentContext<AcpConfig>): Promise<AgentPort> {
    const sdk = await loadSdk(agentId);
    const { createAcpAgent } = await import("./agent.ts");
    return createAcpAgent(sdk, config, programOf(config, workspace));
  },
});

async function loadSdk(agentId: string): Promise<typeof import("@agentclientprotocol/sdk")> {
  try {
    return await import("@agentclientprotocol/sdk");
  } catch (cause) {
    throw new EarshotError(
      "EAR_AGENT_CONFIG",
      `Cannot open agent "${agentId}" as the package of its driver "acp" is missing: ` +
        "run npm install @agentclientprotocol/sdk",
      { cause },
    );
  }
}

/** Whether the optional package is installed. */
export const canLoadSdk = (): Promise<boolean> =>
  import("@agentclientprotocol/sdk").then(
    () => true,
    () => false,
  );
