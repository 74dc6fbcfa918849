/**
 * What the API shows of the runtime: its hosts, and the explanation of one message.
 */
import { z } from "zod";
import {
  creditUseSchema,
  decisionSchema,
  expectedSchema,
  judgeFailures,
  ruleSchema,
} from "../../domain/decision.ts";
import type { inboundSchema } from "../../domain/message.ts";
import { execAskModes, execSecurities } from "../../domain/permission.ts";
import {
  elevatedLevels,
  reasoningLevels,
  thinkingLevels,
  verboseLevels,
} from "../../domain/session.ts";
import { failureKinds } from "../../domain/stream.ts";
import { count, millis, type Shape, text } from "./schema.ts";

export const hostStatusSchema = z.object({
  id: count,
  state: z.enum(["starting", "ready", "restarting", "broken"]),
  epoch: count,
  /** Conversations in memory. */
  live: count,
  mailbox: count.describe("entries queued and in flight"),
  restarts: count,
  refused: count.exactOptional().describe("invalid messages received from it"),
  turns: count,
});
export type HostStatus = Shape<typeof hostStatusSchema>;

export const unappliedSchema = z
  .object({
    events: count,
    reading: z
      .boolean()
      .describe("what was left at the last end is still being read: there may be more of them"),
  })
  .describe("events in the journal whose consequences are not stored: turns may come of them");

const gapSchema = z
  .object({
    id: text,
    at: millis.describe("when it was reported"),
    from: millis,
    to: millis,
    rooms: z.array(text).describe("the platform's ids of the chats; empty: any of the account's"),
    lost: z
      .enum(["messages", "edits"])
      .describe("`edits`: edits, deletions and reactions only; all messages came back"),
  })
  .describe("a time of which not everything could be recovered");

const holderSchema = z
  .object({
    node: text.describe("its name"),
    epoch: count.describe("grows with each change of the holder"),
    since: millis.describe("by that node's clock"),
  })
  .describe("the node that has a connection which may exist once only");

export const connectionSchema = z.object({
  channel: text,
  account: text,
  state: z.enum([
    ...["connecting", "live", "resuming", "backing-off", "halted", "elsewhere", "stopped"],
  ] as const),
  since: millis,
  detail: text.nullable(),
  failures: count,
  connects: count,
  holder: holderSchema.nullable().describe("null: none has it, or each node connects for itself"),
  gaps: z.array(gapSchema).describe("oldest first; kept until seen, at most three days"),
});

export const verdictSchema = z.object({
  decision: decisionSchema,
  rule: ruleSchema,
  credit: creditUseSchema,
  creditExpiresAt: millis.exactOptional(),
});

/** Why an agent failed. */
export const failureCauseSchema = z.object({
  kind: z.enum(failureKinds),
  message: text.describe("the driver's own words, secrets redacted"),
});

const explanationSchema = z.object({
  verdict: verdictSchema.extend({ decision: z.enum(["engage", "observe"]) }),
  rungs: z.array(
    z.object({
      tier: count,
      rule: ruleSchema,
      outcome: z.enum(["matched", "passed", "not-reached"]),
      fact: text,
      /** Where several facts are weighed: each with its share in log-odds. */
      shares: z.array(z.object({ fact: text, share: z.number() })).exactOptional(),
    }),
  ),
});

const execSchema = z.object({
  security: z.enum(execSecurities).exactOptional(),
  ask: z.enum(execAskModes).exactOptional(),
});
const turnLevelsSchema = z.object({
  thinking: z.enum(thinkingLevels).nullable().exactOptional(),
  verbose: z.enum(verboseLevels).exactOptional(),
  reasoning: z.enum(reasoningLevels).exactOptional(),
  elevated: z.enum(elevatedLevels).exactOptional(),
  exec: execSchema.exactOptional(),
});

/** A parsed message, with every default filled in. */
const messageSchema = z.custom<z.output<typeof inboundSchema>>().meta({
  type: "object",
  description: "the message, in the form of `POST /api/inbound` with every default filled in",
});

const participantSchema = z.object({
  id: text,
  name: text,
  isBot: z.boolean(),
  lastSeenAt: millis,
});
const membershipSchema = z.object({
  humans: count,
  bots: count,
  truncated: z.boolean(),
  fetchedAt: millis,
});

/** What somebody said about a decision. */
export const labelSchema = z.object({
  expected: expectedSchema.describe("what would have been right"),
  by: text,
  at: millis,
});

/** What the judge of a room answered about a message. */
export const judgementSchema = z.object({
  at: millis,
  engage: z.boolean(),
  confidence: z.number(),
  why: text,
  failed: z.enum(judgeFailures).exactOptional().describe("there is no answer: why"),
  engaged: z.boolean().describe("the message was engaged because of it"),
  usage: z
    .object({ inputTokens: count, outputTokens: count, costUsd: z.number().exactOptional() })
    .exactOptional()
    .describe("absent: the judge does not report it"),
});

const turnFactsSchema = z.object({
  firstTextMs: millis.exactOptional().describe("from the start of the turn to its first text"),
  tookMs: millis.exactOptional().describe("from the start of the turn to the end of the agent"),
  tools: z
    .array(
      z.object({
        name: text,
        count,
        failed: count.exactOptional().describe("failed or refused so often; absent: never"),
        error: text.exactOptional().describe("why it last failed, secrets redacted"),
      }),
    )
    .describe("tools that the agent called"),
  usage: z
    .object({ inputTokens: count, outputTokens: count, costUsd: z.number().exactOptional() })
    .exactOptional()
    .describe("absent: the agent does not report it"),
});

/** Everything `earshot why` shows. */
export const whySchema = z.object({
  message: messageSchema,
  at: millis,
  seq: count,
  key: text,
  ordered: z
    .enum(["text", "prompt"])
    .exactOptional()
    .describe("nobody in the room wrote it: of the operator or the schedule"),
  levels: turnLevelsSchema.exactOptional(),
  recorded: verdictSchema.nullable().describe("null: not decided yet"),
  explanation: explanationSchema.nullable().describe("null: admission decided"),
  admission: text.exactOptional(),
  humans: z.object({ count, source: text }),
  participants: z.array(participantSchema),
  membership: membershipSchema.nullable(),
  credits: z.record(text, millis),
  held: z.array(text),
  guard: z.object({ state: z.enum(["clear", "tripped", "muted"]), consecutive: count }),
  label: labelSchema.exactOptional().describe("absent: nobody said whether it was right"),
  judgement: judgementSchema.exactOptional().describe("absent: no judge has answered about it"),
  fate: z.object({
    turnId: text.nullable(),
    turn: count.nullable(),
    batch: z.array(text),
    outcome: text.nullable(),
    reason: text.exactOptional(),
    cause: failureCauseSchema.exactOptional().describe("of a failed turn"),
    facts: turnFactsSchema.exactOptional().describe("how the turn went; absent: none has started"),
    dropped: text.nullable(),
    deliveries: z.array(z.object({ id: text, status: text, text, error: text.exactOptional() })),
  }),
});
export type Why = Shape<typeof whySchema>;

/** What an agent was given for a turn. */
export const sentPromptSchema = z.object({
  key: text,
  turnId: text,
  turn: count,
  attempt: count,
  agentId: text,
  at: millis,
  messages: z.array(text).describe("platform ids of the messages that the turn answers"),
  system: text.describe("the system message"),
  transcript: z.array(z.object({ role: z.enum(["user", "assistant"]), text, at: millis })),
  prompt: text.describe("the user turn"),
  model: text.nullable().describe("the requested model; null: the configured one"),
  thinking: z.enum(thinkingLevels),
  images: z.array(z.object({ mime: text, name: text })),
  tools: z.array(text).exactOptional().describe("names of the tools offered; absent: all"),
});
export type SentPrompt = Shape<typeof sentPromptSchema>;
