/**
 * An agent that keeps every turn it was given and answers as ordered: by default with what was
 * said, and with the usage that a small model would report.
 */
import { z } from "zod";
import type { AgentDriver, AgentEvent, AgentTurn } from "../../../src/domain/ports/index.ts";

type Answer = (turn: AgentTurn, signal: AbortSignal) => AsyncIterable<AgentEvent>;

export interface Recorder {
  readonly driver: AgentDriver;
  readonly turns: AgentTurn[];
  /** Answers of the next turns, in order. */
  readonly answers: Answer[];
  /** Whether a turn is one of the runtime's own. */
  readonly isSummary: (turn: AgentTurn) => boolean;
}

export const usage: AgentEvent = {
  type: "usage",
  inputTokens: 10,
  outputTokens: 5,
  costUsd: 0.25,
};

export async function* saying(...texts: string[]): AsyncGenerator<AgentEvent> {
  for (const text of texts) yield { type: "text", text };
  yield usage;
}

export async function* untilStopped(signal: AbortSignal): AsyncGenerator<AgentEvent> {
  yield { type: "text", text: "" };
  await new Promise((_, reject) => {
    const give = () => reject(signal.reason);
    if (signal.aborted) give();
    else signal.addEventListener("abort", give, { once: true });
  });
}

export function createRecorder(kind = "recording"): Recorder {
  const turns: AgentTurn[] = [];
  const answers: Answer[] = [];
  const isSummary = ({ prompt }: AgentTurn) => prompt.startsWith("Sum up this conversation");
  const driver: AgentDriver = {
    kind,
    configSchema: z.looseObject({}),
    open: () => ({
      capabilities: { steer: true, tools: true, images: false },
      run(turn, { signal }) {
        turns.push(turn);
        const answer = answers.shift() ?? ((asked) => saying(`re: ${asked.said}`));
        return answer(turn, signal);
      },
      steer: () => true,
    }),
  };
  return { driver, turns, answers, isSummary };
}
