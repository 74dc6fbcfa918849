/**
 * Sessions
 * ========
 * What each agent remembers of its conversations: listing, looking, exporting, changing how it works
 * there, beginning anew. A session is named by its key, percent-encoded in the path; archived ones
 * by their ids behind it. Everything comes from the store, not from the files, so it is whole
 * whatever has become of those.
 */
import { Hono } from "hono";
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
  verboseLevels,
} from "../../../domain/session.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { jsonBody, parseBody } from "../../http/json-body.ts";
import type { RouteDeps } from "./deps.ts";

const pageCount = 200;
const pageCountMax = 1_000;
/** Lines of a session that are shown with it. */
const shownLines = 50;
const earlierMax = 100;

const queue = z.strictObject({
  mode: z
    .enum(["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"])
    .exactOptional(),
  debounceMs: z.number().int().min(0).max(3_600_000).exactOptional(),
  cap: z.number().int().min(1).max(1_000).exactOptional(),
  drop: z.enum(["summarize", "old", "new"]).exactOptional(),
});
/** Null: as configured. */
export const sessionPatchSchema = z.strictObject({
  model: z.string().trim().min(1).max(256).nullable().exactOptional(),
  thinking: z.enum(thinkingLevels).nullable().exactOptional(),
  verbose: z.enum(verboseLevels).exactOptional(),
  reasoning: z.enum(reasoningLevels).exactOptional(),
  elevated: z.enum(elevatedLevels).exactOptional(),
  exec: z
    .strictObject({
      security: z.enum(execSecurities).exactOptional(),
      ask: z.enum(execAskModes).exactOptional(),
    })
    .nullable()
    .exactOptional(),
  tts: z.enum(ttsLevels).nullable().exactOptional(),
  override: z
    .strictObject({
      queue: queue.nullable().exactOptional(),
      send: z.enum(["allow", "deny"]).nullable().exactOptional(),
      activation: z.enum(activations).nullable().exactOptional(),
    })
    .exactOptional(),
});

export function sessionRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const { runtime, store } = ports;
  const app = new Hono<HttpEnv>();

  async function found(key: string, id: string | undefined): Promise<Session> {
    const session = id === undefined ? await runtime.session(key) : await store.session(id);
    if (session !== null && session.key === key) return plain(session);
    throw new ApiRefusal(
      "not-found",
      "Cannot find a session of that key, or none of that id in it",
    );
  }

  app.get("/sessions", async (context) => {
    const agentId = context.req.query("agent");
    const after = context.req.query("after") ?? "";
    const limit = countOf(context.req.query("limit"));
    const all = context.req.query("all") === "1";
    const filter = { ...(agentId === undefined ? {} : { agentId }), all, after, limit };
    const sessions = await runtime.sessions(filter);
    const next = sessions.length === limit ? (sessions.at(-1)?.sessionId ?? null) : null;
    return context.json({ sessions, next, usage: await runtime.usage() });
  });
  app.get("/sessions/:key", async (context) => {
    const key = keyOf(context.req.param("key"));
    const session = await found(key, context.req.query("id"));
    const { sessionId } = session;
    const lines = await store.transcript({ sessionId, limit: shownLines, newest: true });
    const of = await runtime.sessions({ key, all: true, limit: earlierMax });
    const earlier = of.filter(({ archivedAt }) => archivedAt !== null);
    return context.json({ session, lines: lines.map(shown), earlier });
  });
  app.get("/sessions/:key/transcript", async (context) => {
    const key = keyOf(context.req.param("key"));
    const { sessionId } = await found(key, context.req.query("id"));
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
  app.post("/sessions/:key/reset", async (context) => {
    const session = await runtime.resetSession(keyOf(context.req.param("key")));
    if (session !== null) return context.json({ session });
    throw new ApiRefusal("not-found", "Cannot begin anew as there is no session of that key");
  });
  app.post("/sessions/:key/compact", async (context) => {
    const key = keyOf(context.req.param("key"));
    await found(key, undefined);
    return context.json({ outcome: await runtime.compactSession(key) });
  });
  app.patch("/sessions/:key", ...jsonBody, async (context) => {
    const key = keyOf(context.req.param("key"));
    const patch = await parseBody(context, () => sessionPatchSchema);
    return context.json({ session: await runtime.updateSession(key, patch) });
  });
  return app;
}

function keyOf(text: string): string {
  if (isSessionKey(text)) return text;
  throw new ApiRefusal(
    "bad-request",
    "Cannot read the session key of the path: agent:<id>:…, percent-encoded as one part",
  );
}

function countOf(text: string | undefined): number {
  if (text === undefined) return pageCount;
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new ApiRefusal("bad-request", "Cannot read limit: a whole number from 1 on");
  return Math.min(Number(text), pageCountMax);
}

/** A session without the store's own number for its conversation. */
function plain(session: Session): Session {
  const { conv: _, ...rest } = { conv: 0, ...session };
  return rest;
}

/** As in the session's file. */
function shown({ sessionId: _, ...line }: TranscriptLine): Omit<TranscriptLine, "sessionId"> {
  return line;
}
