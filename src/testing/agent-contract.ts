/**
 * What every agent driver must do, whatever is behind it. Call it from a vitest file with a
 * descriptor; it declares the tests. A driver that passes can run turns.
 */
import { describe, expect, test } from "vitest";
import type { AgentDriver, AgentEvent, AgentPort, AgentTurn } from "../domain/ports/index.ts";
import { agentEventSchema } from "../domain/ports/index.ts";

export interface AgentContract {
  readonly name: string;
  readonly driver: AgentDriver;
  /** Config that makes the next turn answer exactly `answer`. */
  readonly speaking: () => Promise<{ readonly config: unknown; readonly answer: string | RegExp }>;
  /** Config that makes the next turn never end. Absent: the driver cannot hang. */
  readonly hanging?: () => Promise<unknown>;
  /** Config that makes the next turn fail. Absent: the driver cannot fail. */
  readonly failing?: () => Promise<unknown>;
  /** Config that makes the next turn write without an end. Absent: the driver cannot. */
  readonly babbling?: () => Promise<unknown>;
  /** Config that makes the next turn call this tool. Absent: the driver has no tools. */
  readonly calling?: (name: string, input: Record<string, unknown>) => Promise<unknown>;
}

/** A hanging driver without any output by then is aborted, ms. */
const silentMsMax = 400;
/** How long a turn may still take after its abort, ms. */
const abortMsMax = 1_000;

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

/** Opens a driver as a host does; sleeping is real time. */
export async function openAgent(driver: AgentDriver, config: unknown): Promise<AgentPort> {
  return driver.open({
    agentId: "main",
    agentName: "Scout",
    config: driver.configSchema.parse(config),
    now: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const give = () => {
          clearTimeout(timer);
          reject(signal.reason);
        };
        const timer = setTimeout(() => {
          signal.removeEventListener("abort", give);
          resolve();
        }, ms);
        signal.addEventListener("abort", give, { once: true });
        if (signal.aborted) give();
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

function turnWithTool(over: Partial<AgentTurn>): AgentTurn {
  const inputSchema = { type: "object", properties: { emoji: { type: "string" } } };
  const tools = [{ name: "channel_react", description: "React to the message.", inputSchema }];
  return sampleTurn({ tools, ...over });
}

/** Waits for the end and measures it from the abort. */
async function endsSoonAfter(signal: AbortSignal, ended: Promise<unknown>): Promise<void> {
  let abortedAt = Number.NaN;
  signal.addEventListener("abort", () => {
    abortedAt = performance.now();
  });
  await ended;
  expect(performance.now() - abortedAt).toBeLessThan(abortMsMax);
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

    test("gives nothing more once it has ended", async () => {
      const { config } = await contract.speaking();
      const agent = await openAgent(contract.driver, config);
      const { signal } = new AbortController();
      const events = agent.run(sampleTurn(), { signal })[Symbol.asyncIterator]();
      for (let next = await events.next(); next.done !== true; ) next = await events.next();
      expect((await events.next()).done).toBe(true);
      expect((await events.next()).done).toBe(true);
      await agent.close?.();
    });

    const { hanging, failing, babbling, calling } = contract;
    if (hanging !== undefined)
      test("ends within 1 s of an abort", async () => {
        const agent = await openAgent(contract.driver, await hanging());
        const stop = new AbortController();
        const abort = () => stop.abort(new Error("stopped"));
        // A driver without any output before it hangs is certainly running by then.
        const silent = setTimeout(abort, silentMsMax);
        const read = async () => {
          for await (const _ of agent.run(sampleTurn(), { signal: stop.signal })) abort();
        };
        await endsSoonAfter(
          stop.signal,
          read().catch(() => undefined),
        );
        clearTimeout(silent);
        await agent.close?.();
      });

    if (babbling !== undefined)
      test("stops talking when it is aborted", async () => {
        const agent = await openAgent(contract.driver, await babbling());
        const stop = new AbortController();
        let after = 0;
        const talk = async () => {
          for await (const _ of agent.run(sampleTurn(), { signal: stop.signal }))
            if (stop.signal.aborted) after += 1;
            else setTimeout(() => stop.abort(new Error("stopped")), 20);
        };
        await endsSoonAfter(
          stop.signal,
          talk().catch(() => undefined),
        );
        const heard = after;
        await new Promise((resolve) => setTimeout(resolve, 50));
        expect(after).toBe(heard);
        await agent.close?.();
      });

    if (calling !== undefined) {
      test("runs a tool through the turn and shows it", async () => {
        const input = { emoji: "👍" };
        const agent = await openAgent(contract.driver, await calling("channel_react", input));
        const called: unknown[] = [];
        const callTool = async (...call: unknown[]) => `done ${called.push(call)}`;
        const events = await collect(agent, turnWithTool({ callTool }));
        expect(called).toEqual([["channel_react", input]]);
        const shown = events.filter(({ type }) => type === "tool-start" || type === "tool-end");
        expect(shown).toEqual([
          { type: "tool-start", name: "channel_react", input },
          { type: "tool-end", name: "channel_react", ok: true },
        ]);
        expect(events.some(({ type }) => type === "error")).toBe(false);
        await agent.close?.();
      });

      test("ends within 1 s of an abort while a tool does not answer", async () => {
        const agent = await openAgent(contract.driver, await calling("channel_react", {}));
        const stop = new AbortController();
        const callTool = () => {
          setTimeout(() => stop.abort(new Error("stopped")), 20);
          return new Promise<never>(() => undefined);
        };
        const ended = collect(agent, turnWithTool({ callTool }), stop.signal);
        await endsSoonAfter(stop.signal, ended);
        await agent.close?.();
      });
    }

    if (failing !== undefined)
      test("reports a failure as one error and ends", async () => {
        const agent = await openAgent(contract.driver, await failing());
        const events = await collect(agent);
        expect(events.filter(({ type }) => type === "error")).toHaveLength(1);
        expect(events.at(-1)?.type).toBe("error");
        await agent.close?.();
      });
  });
}
