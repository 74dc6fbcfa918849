/**
 * Runs any agent that speaks the Agent Client Protocol (agentclientprotocol.com) as a subprocess:
 * one process for an opened agent, one protocol session for each session key. A process that dies
 * fails its running turns; the next turn starts another and loads its session where the agent can.
 *
 * The agent gets no file system and no terminal from earshot, and its permission requests are
 * decided by a policy: denied unless the config or the session allows them. The protocol's library
 * is an optional package, loaded when the first such agent is opened.
 */
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { type AgentContext, type AgentPort, defineAgent } from "../../../domain/ports/index.ts";
import { programOf } from "../command/driver.ts";
import { type AcpConfig, acpConfigSchema } from "./config.ts";

export const acpDriver = defineAgent<AcpConfig>({
  kind: "acp",
  configSchema: acpConfigSchema as z.ZodType<AcpConfig>,
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
      `Cannot open agent "${agentId}": the package of its driver "acp" is missing. ` +
        "Run npm install @agentclientprotocol/sdk",
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
