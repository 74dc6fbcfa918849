/**
 * Lists, shows and exports the sessions of agents, changes their settings, and starts new ones. A
 * session is named by its key, percent-encoded in the path; an archived one also by its id. Everything
 * is read from the store, not from the session files.
 */
import { stream } from "hono/streaming";
import { z } from "zod";
import { activations } from "../../../domain/decision.ts";
import { isSessionKey } from "../../../domain/key.ts";
import { execAskModes, execSecurities } from "../../../domain/permission.ts";
import type { Session, TranscriptLine } from "../../../domain/session.ts";
import {
  elevatedLevels,
  reasoningLevels,
  thinkingLevels,
  ttsLevels,
  usageLevels,
  verboseLevels,
} from "../../../domain/session.ts";
import { count, millis, text } from "../../api-types/schema.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import { type Endpoints, flag } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

const pageCount = 200;
const pageCountMax = 1_000;
const shownLines = 50;
const earlierMax = 100;

const exec = z.strictObject({
  security: z.enum(execSecurities).exactOptional(),
  ask: z.enum(execAskModes).exactOptional(),
});
const queue = z.strictObject({
  mode: z
    .enum(["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"])
    .exactOptional(),
  debounceMs: z.number().int().min(0).max(3_600_000).exactOptional(),
  cap: z.number().int().min(1).max(1_000).exactOptional(),
  drop: z.enum(["summarize", "old", "new"]).exactOptional(),
});
/** Null: as configured. */
const sessionPatchSchema = z.strictObject({
  model: z.string().trim().min(1).max(256).nullable().exactOptional(),
  thinking: z.enum(thinkingLevels).nullable().exactOptional(),
  verbose: z.enum(verboseLevels).nullable().exactOptional(),
  reasoning: z.enum(reasoningLevels).nullable().exactOptional(),
  elevated: z.enum(elevatedLevels).nullable().exactOptional(),
  usage: z.enum(usageLevels).nullable().exactOptional(),
  exec: exec.nullable().exactOptional(),
  tts: z.enum(ttsLevels).nullable().exactOptional(),
  override: z
    .strictObject({
      queue: queue.nullable().exactOptional(),
      send: z.enum(["allow", "deny"]).nullable().exactOptional(),
      activation: z.enum(activations).nullable().exactOptional(),
    })
    .exactOptional(),
});

const usage = { turns: count, inputTokens: count, outputTokens: count, costUsd: z.number() };
const sessionSchema = z.object({
  sessionId: text,
  key: text,
  agentId: text,
  createdAt: millis,
  updatedAt: millis,
  settings: z.object({
    model: text.nullable(),
    thinking: z.enum(thinkingLevels).nullable(),
    verbose: z.enum(verboseLevels).nullable(),
    reasoning: z.enum(reasoningLevels).nullable(),
    elevated: z.enum(elevatedLevels).nullable(),
    /** Absent: the session is older than this setting; as configured. */
    usage: z.enum(usageLevels).nullable().exactOptional(),
    exec,
    tts: z.enum(ttsLevels).nullable(),
    override: z.object({
      queue: queue.exactOptional(),
      send: z.enum(["allow", "deny"]).exactOptional(),
      activation: z.enum(activations).exactOptional(),
    }),
  }),
  usage: z.object(usage),
  abortedLastRun: z.boolean(),
  archivedAt: millis.nullable().describe("null: the current session"),
});
const lineSchema = z.object({
  id: count,
  at: millis,
  turnId: text,
  role: z.enum(["user", "assistant", "summary", "note"]),
  text,
  author: z.object({ id: text, name: text }).exactOptional(),
  messageId: text.exactOptional(),
  part: count.exactOptional().describe("agent's lines: number of the part, as in outbox ids"),
  unsent: z
    .array(z.object({ part: count, status: z.enum(["expired", "dead", "in-doubt"]) }))
    .exactOptional()
    .describe("the note that ends a turn: parts of its answer that did not arrive"),
  usage: z.object({ inputTokens: count, outputTokens: count, costUsd: z.number() }).exactOptional(),
  covers: count.exactOptional().describe("for the agent, this line replaces all up to that number"),
});

const params = z.object({
  key: z
    .string()
    .refine(isSessionKey, "a session key is expected: agent:<id>:…, percent-encoded as one part")
    .describe("session key, percent-encoded"),
});
const archived = z.object({ id: text.optional().describe("an archived session, by its id") });

const listSessions = {
  method: "get",
  path: "/api/sessions",
  summary: "Sessions in the order they were made, and what each agent used",
  query: z.object({
    agent: text.optional().describe("only of this agent"),
    all: flag.default(false).describe("1: also archived ones"),
    after: text.default("").describe("the `next` of the page before"),
    limit: z
      .string()
      .regex(/^[1-9]\d{0,5}$/u, "a whole number from 1 on is expected")
      .transform((text) => Math.min(Number(text), pageCountMax))
      .default(pageCount)
      .describe("at most so many"),
  }),
  answer: z.object({
    sessions: z.array(sessionSchema),
    next: text.nullable(),
    usage: z.array(z.object({ agentId: text, ...usage })),
  }),
  refuses: ["no-copy", "bad-request"],
} as const;
const showSession = {
  method: "get",
  path: "/api/sessions/:key",
  summary: "A session, its last lines, and the archived ones of its key",
  params,
  query: archived,
  answer: z.object({
    session: sessionSchema,
    lines: z.array(lineSchema),
    earlier: z.array(sessionSchema),
  }),
  refuses: ["no-copy", "bad-request", "not-found"],
} as const;
const exportTranscript = {
  method: "get",
  path: "/api/sessions/:key/transcript",
  summary: "The whole transcript, JSON Lines",
  params,
  query: archived,
  answer: { contentType: "application/x-ndjson", each: lineSchema },
  refuses: ["no-copy", "bad-request", "not-found"],
} as const;
const resetSession = {
  method: "post",
  path: "/api/sessions/:key/reset",
  summary: "Archives the current session and starts a new one",
  params,
  answer: z.object({ session: sessionSchema }),
  refuses: ["bad-request", "not-found", "not-ready"],
} as const;
const compactSession = {
  method: "post",
  path: "/api/sessions/:key/compact",
  summary: "Compacts the session: summarises it so far",
  params,
  answer: z.object({ outcome: z.enum(["done", "busy", "empty"]) }),
  refuses: ["bad-request", "not-found", "not-ready"],
} as const;
const changeSession = {
  method: "patch",
  path: "/api/sessions/:key",
  summary: "Changes the settings of the current session",
  params,
  body: sessionPatchSchema,
  answer: z.object({ session: sessionSchema }),
  refuses: ["bad-request", "too-large", "wrong-type", "not-ready"],
} as const;

export function sessionRoutes({ add }: Endpoints, { runtime, store }: RouteDeps): void {
  async function found(key: string, id: string | undefined): Promise<Session> {
    const session = id === undefined ? await runtime.session(key) : await store.session(id);
    if (session !== null && session.key === key) return plain(session);
    throw new ApiRefusal(
      "not-found",
      "Cannot find that session: no session has this key, or this id",
    );
  }

  add(listSessions, async ({ query: { agent: agentId, all, after, limit } }) => {
    const filter = { ...(agentId === undefined ? {} : { agentId }), all, after, limit };
    const sessions = await runtime.sessions(filter);
    const next = sessions.length === limit ? (sessions.at(-1)?.sessionId ?? null) : null;
    return { sessions: sessions.map(plain), next, usage: await runtime.usage() };
  });
  add(showSession, async ({ params: { key }, query: { id } }) => {
    const session = await found(key, id);
    const { sessionId } = session;
    const lines = await store.transcript({ sessionId, limit: shownLines, newest: true });
    const all = await runtime.sessions({ key, all: true, limit: earlierMax });
    const earlier = all.filter(({ archivedAt }) => archivedAt !== null).map(plain);
    return { session, lines: lines.map(shown), earlier };
  });
  add(exportTranscript, async ({ context, params: { key }, query: { id } }) => {
    const { sessionId } = await found(key, id);
    context.header("content-type", "application/x-ndjson; charset=utf-8");
    return stream(context, async (out) => {
      for (let after = 0, more = true; more; ) {
        const page = await store.transcript({ sessionId, after, limit: pageCountMax });
        for (const line of page) await out.write(`${JSON.stringify(shown(line))}\n`);
        after = page.at(-1)?.id ?? after;
        more = page.length === pageCountMax;
      }
    });
  });
  add(resetSession, async ({ params: { key } }) => {
    const session = await runtime.resetSession(key);
    if (session !== null) return { session: plain(session) };
    throw new ApiRefusal("not-found", "Cannot start a new session: no session has this key");
  });
  add(compactSession, async ({ params: { key } }) => {
    await found(key, undefined);
    return { outcome: await runtime.compactSession(key) };
  });
  add(changeSession, async ({ params: { key }, body }) => ({
    session: plain(await runtime.updateSession(key, body)),
  }));
}

/** A session without the store's own number of its conversation. */
function plain(session: Session): Session {
  const { conv: _, ...rest } = { conv: 0, ...session };
  return rest;
}

/** The form of the session's file. */
function shown({ sessionId: _, ...line }: TranscriptLine): Omit<TranscriptLine, "sessionId"> {
  return line;
}
