/**
 * One turn of an agent that is not configured yet, outside every room: nothing is stored or posted,
 * and it has no tools.
 */
import { sleepOn } from "../../actors/agent-run/agent-pool.ts";
import type { AgentDriver, AgentEvent, AgentTurn, Clock } from "../../domain/ports/index.ts";

export interface TriedAgent {
  readonly name: string;
  readonly purpose: string;
  readonly driver: AgentDriver;
  /** As its schema has parsed it. */
  readonly config: unknown;
}

const question = "Say hello in one short sentence, and say what you can do here.";

/** Its events. @throws what the driver throws. */
export async function* tryAgent(
  { name, purpose, driver, config }: TriedAgent,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent> {
  const agent = await driver.open({
    agentId: "setup",
    agentName: name,
    config,
    now: () => clock.now(),
    sleep: (ms, stop) => sleepOn(clock, ms, stop),
  });
  try {
    const system = `You are ${name}.${purpose === "" ? "" : ` Your purpose: ${purpose}`}`;
    yield* agent.run(turnOf(name, system), { signal });
  } finally {
    await agent.close?.();
  }
}

const turnOf = (agentName: string, system: string): AgentTurn => ({
  turnId: "setup",
  attempt: 1,
  agentId: "setup",
  agentName,
  sessionKey: "agent:setup:main",
  system,
  prompt: question,
  said: question,
  transcript: [],
  room: {
    chatKind: "direct",
    because: [],
    heardQuietly: 0,
    humans: 1,
    guardActive: false,
    creditWindowMs: 0,
  },
  images: [],
  model: null,
  thinking: "off",
  tools: [],
  callTool: async () => "There are no tools here.",
});
