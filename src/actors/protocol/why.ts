/** The explanation of one message: what was decided, on which facts, and what became of it. */
import type {
  Expected,
  Explanation,
  Membership,
  Participant,
  Verdict,
} from "../../domain/decision.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { TranscriptEntry } from "../../domain/ports/index.ts";
import type { ThinkingLevel, TurnLevels } from "../../domain/session.ts";
import type { FailureCause } from "../../domain/stream.ts";
import type { AgentUsage, JudgeAnswered } from "../../machines/events/events.ts";

/** What somebody said about a decision. */
export interface Label {
  /** What would have been right. */
  readonly expected: Expected;
  readonly by: string;
  readonly at: Millis;
}

/** The answer of a judge, and whether it engaged its message. */
export interface WhyJudgement
  extends Pick<JudgeAnswered, "at" | "engage" | "confidence" | "why" | "failed" | "usage"> {
  /** False with an answer to engage: it was not sure enough, or came too late for its message. */
  readonly engaged: boolean;
}

export interface Why {
  readonly message: Inbound;
  readonly at: Millis;
  readonly seq: number;
  readonly key: string;
  /** Nobody in the room wrote it: a text or a prompt of the operator or the schedule. */
  readonly ordered?: "text" | "prompt";
  /** Thinking and other levels that the message set; removed from its text. */
  readonly levels?: TurnLevels;
  /** The recorded decision; null: not decided yet. */
  readonly recorded: Verdict | null;
  /** The ladder applied again to the conversation as it was; null where admission decided. */
  readonly explanation: Explanation | null;
  /** Where admission decided: why, and what would admit it. */
  readonly admission?: string;
  readonly humans: { readonly count: number; readonly source: string };
  readonly participants: readonly Participant[];
  readonly membership: Membership | null;
  readonly credits: Readonly<Record<string, Millis>>;
  readonly held: readonly string[];
  readonly guard: { readonly state: "clear" | "tripped" | "muted"; readonly consecutive: number };
  /** What somebody said would have been right; absent: nobody did, or it was taken back. */
  readonly label?: Label;
  /** What the judge of the room said; absent: it was not asked, or has not answered. */
  readonly judgement?: WhyJudgement;
  /** What happened to it. */
  readonly fate: {
    readonly turnId: string | null;
    readonly turn: number | null;
    readonly batch: readonly string[];
    readonly outcome: string | null;
    /** Why the turn ended in this way, if there is a reason. */
    readonly reason?: string;
    /** Of a failed turn. */
    readonly cause?: FailureCause;
    readonly facts?: TurnFacts;
    readonly dropped: string | null;
    readonly deliveries: readonly {
      readonly id: string;
      readonly status: string;
      readonly text: string;
      /** Why it was not sent, or not immediately. */
      readonly error?: string;
    }[];
  };
}

/** A tool that an agent called. */
export interface ToolUse {
  readonly name: string;
  /** How often. */
  readonly count: number;
  /** How often it failed or was refused; absent: never. */
  readonly failed?: number;
  /** Why it last failed: secrets redacted; absent: the agent does not say. */
  readonly error?: string;
}

/** How a turn went. */
export interface TurnFacts {
  /** From its start to the first text of the answer, ms; absent: there was none. */
  readonly firstTextMs?: number;
  /** From its start to the end of the agent, ms; absent: it runs. */
  readonly tookMs?: number;
  readonly tools: readonly ToolUse[];
  /** Absent: the agent does not report it. */
  readonly usage?: Omit<AgentUsage, "type" | "at" | "turnId">;
}

/** What an agent was given for a turn. */
export interface SentPrompt {
  readonly key: string;
  readonly turnId: string;
  readonly turn: number;
  readonly attempt: number;
  readonly agentId: string;
  readonly at: Millis;
  /** Platform ids of the messages that the turn answers. */
  readonly messages: readonly string[];
  readonly system: string;
  readonly transcript: readonly TranscriptEntry[];
  readonly prompt: string;
  /** The requested model; null: the configured one. */
  readonly model: string | null;
  readonly thinking: ThinkingLevel;
  readonly images: readonly { readonly mime: string; readonly name: string }[];
  /** Names of the tools offered; absent: all. */
  readonly tools?: readonly string[];
}
