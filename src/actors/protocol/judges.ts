/** What is known of judges outside the part that asks them. */

/** What became of a question. All but the first leave their message observed. */
export const judgeResults = [
  ...(["engage", "observe", "unsure", "late", "error", "ill-formed", "budget"] as const),
] as const;
export type JudgeResult = (typeof judgeResults)[number];

/** One day of the judges of one agent. */
export interface JudgeDay {
  /** Days since the epoch, UTC. */
  readonly day: number;
  readonly asked: number;
  /** Answers to engage that were sure enough. */
  readonly engaged: number;
  /** Questions without an answer that counts. */
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export interface AgentJudgeDay extends JudgeDay {
  readonly agentId: string;
}
