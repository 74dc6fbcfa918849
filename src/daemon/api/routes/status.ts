/**
 * Looking at the daemon
 * =====================
 * Status, channels, conversations and the reasons of a decision, as `earshot status`, `channels`,
 * `sessions` and `why` print them. Nothing here changes anything.
 */
import { Hono } from "hono";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import type { RouteDeps } from "./deps.ts";

const pageCount = 200;
const pageCountMax = 1_000;

export function statusRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get("/status", (context) => {
    const status = ports.runtime.status();
    const problem = ports.problem();
    return context.json({
      version: ports.version,
      pid: process.pid,
      stateDir: ports.stateDir,
      upMs: ports.clock.now() - ports.startedAt,
      ...status,
      ready: status.ready && problem === null,
      problem: problem ?? status.problem,
      connections: ports.connections(),
    });
  });
  app.get("/channels", (context) => {
    const connections = ports.connections();
    const channels = [...ports.channels.values()].map((channel) => ({
      id: channel.id,
      name: channel.meta.name,
      description: channel.meta.description,
      local: channel.local,
      textLimit: channel.textLimit,
      capabilities: channel.capabilities,
      accounts: connections
        .filter((one) => one.channel === channel.id)
        .map((one) => ({ ...one, hook: hookOf(ports, one.channel, one.account) })),
    }));
    return context.json({ channels });
  });
  app.get("/conversations", async (context) => {
    const after = wholeNumber(context.req.query("after"), -1, Number.MAX_SAFE_INTEGER);
    const limit = wholeNumber(context.req.query("limit"), pageCount, pageCountMax);
    const rows = await ports.store.conversations({ after, limit });
    const conversations = rows.map(({ key, lastSeq, recordSeq, epoch }) => ({
      key,
      lastSeq,
      recordSeq,
      epoch,
    }));
    const next = rows.length === limit ? (rows.at(-1)?.conv ?? null) : null;
    return context.json({ conversations, next });
  });
  app.get("/why/:messageId", async (context) => {
    const id = context.req.param("messageId");
    if (id.length > limits.idUnitsMax)
      throw new EarshotError("EAR_USAGE", "Cannot look that up as it is too long for a message id");
    const seq = context.req.query("seq");
    const row = wholeNumber(seq, 0, Number.MAX_SAFE_INTEGER);
    const found = await ports.runtime.why(id, seq === undefined ? undefined : row);
    if (found.length === 0)
      throw new ApiRefusal("not-found", "Cannot explain that message as none of this id was heard");
    return context.json({ why: found });
  });
  return app;
}

/** Where the account is posted to; null where it asks instead. */
function hookOf({ hook }: RouteDeps, channel: string, account: string): string | null {
  const [id, name] = [channel, account].map(encodeURIComponent);
  return hook(channel, account) === null ? null : `/hooks/${id}/${name}`;
}

/** A number of the query, at least 0 and at most `max`; the default where there is none. */
function wholeNumber(text: string | undefined, otherwise: number, max: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,16}$/.test(text))
    throw new ApiRefusal("bad-request", "Cannot read a number of the query: whole numbers only");
  return Math.min(Number(text), max);
}
