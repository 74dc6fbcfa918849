/**
 * Status, channels, conversations and the explanation of a decision, as `earshot status`,
 * `channels` and `why` print them. Nothing here changes anything.
 */

import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { engineSchema } from "../../api-types/engine.ts";
import {
  connectionSchema,
  failureCauseSchema,
  hostStatusSchema,
  sentPromptSchema,
  unappliedSchema,
  whySchema,
} from "../../api-types/runtime.ts";
import { scheduleOriginSchema } from "../../api-types/schedules.ts";
import { count, millis, text } from "../../api-types/schema.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import { type Endpoints, wholeNumber } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";
import { engineProblem } from "./health.ts";

const pageCount = 200;
const pageCountMax = 1_000;

const statusSchema = z.object({
  version: text,
  pid: count,
  stateDir: text,
  upMs: millis,
  ready: z.boolean(),
  problem: text.nullable().describe("why it is not ready"),
  hosts: z.array(hostStatusSchema),
  conversations: z.object({ live: count, dirty: count }),
  turns: z.object({ running: count, waiting: count }),
  unapplied: unappliedSchema,
  lanes: z
    .array(z.object({ agentId: text, running: count, waiting: count }))
    .describe("agents that have turns or wait for a turn slot"),
  failing: z
    .array(
      failureCauseSchema.extend({
        agentId: text,
        turns: count.describe("turns that have failed in a row since the start"),
        at: millis,
        key: text,
        turnId: text,
      }),
    )
    .describe("agents whose last turn failed, and why"),
  outbox: z.record(text, count),
  ingress: z.object({
    pending: count,
    refused: count,
    redelivered: count.describe("copies of messages since the start"),
  }),
  heartbeats: z.array(z.object({ key: text, at: millis })).describe("the soonest first"),
  judges: z
    .array(
      z.object({
        agentId: text,
        day: count.describe("days since the epoch, UTC"),
        asked: count,
        engaged: count.describe("answers to engage that were sure enough"),
        failed: count.describe("late, failed or ill-formed answers"),
        inputTokens: count,
        outputTokens: count,
        costUsd: z.number(),
      }),
    )
    .describe("what judges did today, for each agent whose judge was asked"),
  store: z.object({
    lastSeq: count,
    failing: z.boolean(),
    lastCommitMs: millis,
    commits: z.object({ msP99: millis.nullable(), rows: z.number().nullable() }),
  }),
  quarantined: z.array(
    z.object({ key: text, conv: count, seq: count, at: millis, error: text, tries: count }),
  ),
  unsaid: z
    .array(z.object({ name: text, origin: scheduleOriginSchema, due: millis, why: text }))
    .describe("entries of the schedule whose last time failed, or whose only time was skipped"),
  connections: z.array(connectionSchema),
  engine: engineSchema.nullable(),
});

const readStatus = {
  method: "get",
  path: "/api/status",
  summary: "Readiness and its reason, hosts, turns, outbox, store, connections",
  answer: statusSchema,
} as const;
const listChannels = {
  method: "get",
  path: "/api/channels",
  summary: "What each channel can do, and its accounts",
  answer: z.object({
    channels: z.array(
      z.object({
        id: text,
        name: text,
        description: text,
        local: z.boolean(),
        textLimit: count,
        textUnit: z.enum(["utf16", "codepoints", "bytes"]),
        capabilities: z.looseObject({}),
        accounts: z.array(
          connectionSchema.extend({
            hook: text.nullable().describe("path of its hook; null: it has none"),
          }),
        ),
      }),
    ),
  }),
} as const;
const listConversations = {
  method: "get",
  path: "/api/conversations",
  summary: "Conversations by key",
  query: z.object({
    after: wholeNumber().optional().describe("the `next` of the page before"),
    limit: wholeNumber(pageCountMax).default(pageCount).describe("at most so many"),
  }),
  answer: z.object({
    conversations: z.array(z.object({ key: text, lastSeq: count, recordSeq: count, epoch: count })),
    next: count.nullable(),
  }),
  refuses: ["no-copy", "bad-request"],
} as const;
const explainMessage = {
  method: "get",
  path: "/api/why/:messageId",
  summary: "The whole ladder for one message, once for each agent that received it",
  params: z.object({
    messageId: z
      .string()
      .max(limits.idUnitsMax, "it is too long for a message id")
      .describe("the platform's id of the message"),
  }),
  query: z.object({ seq: wholeNumber().optional().describe("only this row of the journal") }),
  answer: z.object({ why: z.array(whySchema) }),
  refuses: ["no-copy", "bad-request", "not-found"],
} as const;

const showPrompt = {
  method: "get",
  path: "/api/prompts/:messageId",
  summary: "What agents were given to answer one message; of the newest turns since the start",
  params: explainMessage.params,
  answer: z.object({ prompts: z.array(sentPromptSchema) }),
  refuses: ["bad-request", "not-found"],
} as const;

export function statusRoutes({ add }: Endpoints, deps: RouteDeps): void {
  add(readStatus, () => {
    const status = deps.runtime.status();
    const engine = deps.engineStatus();
    const problem = deps.problem() ?? engineProblem(engine);
    return {
      version: deps.version,
      pid: process.pid,
      stateDir: deps.stateDir,
      upMs: deps.clock.now() - deps.startedAt,
      ...status,
      ready: status.ready && problem === null,
      problem: problem ?? status.problem,
      connections: deps.connections(),
      engine,
    };
  });
  add(listChannels, () => {
    const connections = deps.connections();
    const channels = [...deps.channels.values()].map((channel) => ({
      id: channel.id,
      name: channel.meta.name,
      description: channel.meta.description,
      local: channel.local,
      textLimit: channel.textLimit,
      textUnit: channel.textUnit ?? "utf16",
      capabilities: { ...channel.capabilities },
      accounts: connections
        .filter((connection) => connection.channel === channel.id)
        .map((connection) => ({
          ...connection,
          hook: hookOf(deps, connection.channel, connection.account),
        })),
    }));
    return { channels };
  });
  add(listConversations, async ({ query: { after = -1, limit } }) => {
    const rows = await deps.store.conversations({ after, limit });
    const conversations = rows.map(({ key, lastSeq, recordSeq, epoch }) => ({
      key,
      lastSeq,
      recordSeq,
      epoch,
    }));
    const next = rows.length === limit ? (rows.at(-1)?.conv ?? null) : null;
    return { conversations, next };
  });
  add(explainMessage, async ({ params: { messageId }, query: { seq } }) => {
    const why = await deps.runtime.why(messageId, seq);
    if (why.length > 0) return { why };
    // Where a conversation cannot go on, what was said there is in no journal yet.
    const waits = deps.engineStatus()?.problems.find(({ key }) => key !== null);
    const unless = waits === undefined ? "" : `, unless it waits: ${waits.says}`;
    throw new ApiRefusal(
      "not-found",
      `Cannot explain that message: no message has this id${unless}`,
    );
  });
  add(showPrompt, ({ params: { messageId } }) => {
    const prompts = deps.runtime.prompts(messageId);
    if (prompts.length > 0) return { prompts };
    throw new ApiRefusal(
      "not-found",
      `Cannot show the prompt: none of the last ${limits.promptsKeptMax} turns since the start ` +
        "answered a message with this id. `earshot why` says what became of it",
    );
  });
}

/** Path of an account's hook; null: it has none. */
function hookOf({ hook }: RouteDeps, channel: string, account: string): string | null {
  const [id, name] = [channel, account].map(encodeURIComponent);
  return hook(channel, account) === null ? null : `/hooks/${id}/${name}`;
}
