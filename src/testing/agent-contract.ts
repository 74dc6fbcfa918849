/**
 * The agent contract
 * ==================
 * What every agent driver must do, whatever is behind it. Call it from a vitest file with a
 * descriptor; it declares the tests. A driver that passes can be trusted with a turn.
 */
import { describe, expect, test } from "vitest";
import type { AgentDriver, AgentEvent, AgentPort, AgentTurn } from "../domain/ports.ts";
import { agentEventSchema } from "../domain/ports.ts";

export interface AgentContract {
  readonly name: string;
  readonly driver: AgentDriver;
  /** Config that makes the next turn say exactly `answer`. */
  readonly speaking: () => Promise<{ readonly config: unknown; readonly answer: string | RegExp }>;
  /** Config that makes the next turn never end. Left out: the driver cannot hang. */
  readonly hanging?: () => Promise<unknown>;
  /** Config that makes the next turn fail. Left out: the driver cannot fail. */
  readonly failing?: () => Promise<unknown>;
}

/** A turn for drivers under test; `over` replaces fields. */
export function sampleTurn(over: Partial<AgentTurn> = {}): AgentTurn {
  return {
    turnId: "01TURN",
    attempt: 1,
    agentId: "main",
    agentName: "Scout",
    sessionKey: "agent:main:main",
    system: "You are Scout.",
    prompt: "## Current message(s) (addressed to you)\n\nAnn: hello",
    said: "hello",
    transcript: [],
    room: {
      chatKind: "direct",
      because: [{ author: "Ann", rule: "dm" }],
      heardQuietly: 0,
      humans: 1,
      guardActive: false,
      creditWindowMs: 900_000,
    },
    images: [],
    model: null,
    thinking: "off",
    tools: [],
    callTool: async () => "done",
    ...over,
  };
}

/** Opens a driver as a host would; sleeping is real time. */
export async function openAgent(driver: AgentDriver, config: unknown): Promise<AgentPort> {
  return driver.open({
    agentId: "main",
    agentName: "Scout",
    config: driver.configSchema.parse(config),
    now: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener("abort", () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
      }),
  });
}

/** Runs one turn to its end; a throw becomes an `error` event, as in the runtime. */
export async function collect(
  agent: AgentPort,
  turn: AgentTurn = sampleTurn(),
  signal: AbortSignal = new AbortController().signal,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  try {
    for await (const event of agent.run(turn, { signal })) events.push(event);
  } catch (error) {
    events.push({ type: "error", message: String(error), retryable: false });
  }
  return events;
}

/** The visible text of a run. */
export function spoken(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.text : "")).join("");
}

/** Declares the contract tests for one driver. */
export function agentContract(contract: AgentContract): void {
  describe(`agent contract: ${contract.name}`, () => {
    test("says its answer as text deltas that pass the event schema", async () => {
      const { config, answer } = await contract.speaking();
      const agent = await openAgent(contract.driver, config);
      const events = await collect(agent);
      for (const event of events) expect(agentEventSchema.safeParse(event).success).toBe(true);
      if (typeof answer === "string") expect(spoken(events)).toBe(answer);
      else expect(spoken(events)).toMatch(answer);
      expect(events.some(({ type }) => type === "error")).toBe(false);
      await agent.close?.();
    });

    test("does not start when the signal is already aborted", async () => {
      const { config } = await contract.speaking();
      const agent = await openAgent(contract.driver, config);
      const events = await collect(agent, sampleTurn(), AbortSignal.abort(new Error("gone")));
      expect(spoken(events)).toBe("");
      await agent.close?.();
    });

    const { hanging, failing } = contract;
    if (hanging !== undefined)
      test("ends within 1 s of an abort", async () => {
        const agent = await openAgent(contract.driver, await hanging());
        const stop = new AbortController();
        let abortedAt = 0;
        setTimeout(() => {
          abortedAt = performance.now();
          stop.abort(new Error("stopped"));
        }, 50);
        await collect(agent, sampleTurn(), stop.signal);
        expect(abortedAt).toBeGreaterThan(0);
        expect(performance.now() - abortedAt).toBeLessThan(1_000);
        await agent.close?.();
      });

    if (failing !== undefined)
      test("tells a failure as one error and ends", async () => {
        const agent = await openAgent(contract.driver, await failing());
        const events = await collect(agent);
        expect(events.filter(({ type }) => type === "error")).toHaveLength(1);
        expect(events.at(-1)?.type).toBe("error");
        await agent.close?.();
      });
  });
}
