/**
 * `/hooks/<channel>/<account>`
 * ============================
 * Receives requests of platforms, and answers a platform that checks the address first. Checks, in this order: method, path, encoding, headers, body up to
 * the size that the headers allow, signature, rate, repeats; only then the body is parsed. A refusal
 * does not name its reason, which is logged at a limited rate. 200 means durable. 503 and 429 mean
 * that nothing was accepted: send it again.
 */
import { type Context, Hono } from "hono";
import { limits } from "../../../domain/limits.ts";
import type { Millis } from "../../../domain/message.ts";
import type { HookAnswer, HookPrecheck, HookRequest } from "../../../domain/ports/index.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { createHookGuard, type HookGuard } from "../../http/hook-replay-guard.ts";
import { createBodyBudget } from "../../http/raw-body.ts";
import type { RouteDeps } from "./deps.ts";

/** Refusals of one hook are logged at most this often. */
const loggedEveryMs = 60_000;

interface Place {
  readonly channel: string;
  readonly account: string;
}

export function hookRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const { clock } = ports;
  const app = new Hono<HttpEnv>();
  const bodies = createBodyBudget(limits.hookBodiesBytesMax);
  const guards = new Map<string, HookGuard>();
  const refusals = createRefusalLog(ports);

  /** Bounded by the config: only existing hooks get here. */
  const guardOf = ({ channel, account }: Place): HookGuard => {
    const id = JSON.stringify([channel, account]);
    const known = guards.get(id) ?? createHookGuard();
    guards.set(id, known);
    return known;
  };

  app.all("/hooks/:place{.+}", async (context) => {
    const { incoming } = context.env;
    const place = placeOf(incoming.url ?? "");
    if (place === null) throw notFound();
    const hook = ports.hook(place.channel, place.account);
    const answersGet = hook?.challenge !== undefined;
    if (incoming.method === "GET" && answersGet) {
      const query = new URL(incoming.url ?? "", "http://hook").searchParams;
      const answer = hook.challenge?.(query)?.slice(0, limits.hookChallengeUnitsMax) ?? null;
      if (answer !== null) return context.text(answer);
      return refusals.refuse(place, "the challenge is wrong", ports.clients.address(incoming));
    }
    if (incoming.method !== "POST") {
      context.header("allow", answersGet ? "GET, POST" : "POST");
      throw new ApiRefusal("wrong-method", "Cannot use that method here: a hook accepts POST");
    }
    const problem = ports.problem();
    if (problem !== null) throw new ApiRefusal("not-ready", problem);
    if (hook === null) throw notFound();
    // An unread body must not keep the connection open.
    context.env.outgoing.setHeader("connection", "close");
    if ((incoming.headers["content-encoding"] ?? "identity") !== "identity")
      throw new ApiRefusal("wrong-type", "Cannot read the body: it is compressed. Send it plain");
    const request: HookRequest = { headers: headersOf(incoming.headers), now: clock.now() };
    const inspection = hook.inspectHeaders(request);
    const from = ports.clients.address(incoming);
    if (inspection.kind === "refused") return refusals.refuse(place, inspection.why, from);
    const body = await bodies.read(incoming, bytesMaxOf(inspection));
    const verdict = hook.verify(request, body);
    if (verdict.kind === "refused") return refusals.refuse(place, verdict.why, from);
    context.env.outgoing.removeHeader("connection");
    const guard = guardOf(place);
    const waitMs = guard.waitMs(clock.now());
    if (waitMs > 0) return tooMany(context, waitMs);
    const receive = () => hook.receive(body, request);
    return answerWith(context, await guard.once(verdict.replayId, receive));
  });
  return app;
}

/** How much of a body is read before its sender is certain. */
function bytesMaxOf(inspection: Exclude<HookPrecheck, { kind: "refused" }>): number {
  if (inspection.kind === "proven") return limits.bodyBytesMax;
  return Math.min(inspection.bytesMax ?? limits.hookUnprovenBytesMax, limits.hookLargeBytesMax);
}

/**
 * The hook that a path names. Nothing is resolved, and escapes are decoded once. Null: not a hook.
 */
function placeOf(url: string): Place | null {
  const found = /^\/hooks\/([^/?#]+)\/([^/?#]+)(?:\?.*)?$/.exec(url);
  if (found === null) return null;
  try {
    const [channel, account] = [found[1] as string, found[2] as string].map(decodeURIComponent);
    return { channel: channel as string, account: account as string };
  } catch {
    return null;
  }
}

const notFound = () => new ApiRefusal("not-found", "Cannot find a hook with that name");

const headersOf = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(",") : value,
    ]),
  );

function answerWith(context: Context, answer: HookAnswer): Response {
  return typeof answer === "string" ? context.text(answer) : context.json(answer);
}

function tooMany(context: Context, waitMs: number): never {
  context.header("retry-after", String(Math.max(1, Math.ceil(waitMs / 1_000))));
  throw new ApiRefusal(
    "too-many",
    `Cannot accept more than ${limits.hookPerSecondMax} requests a second: send it again later`,
  );
}

/** Logs refusals with their reasons, at a limited rate. */
function createRefusalLog({ clock, log }: Pick<RouteDeps, "clock" | "log">) {
  const logged = new Map<string, { at: Millis; since: number }>();
  return {
    refuse({ channel, account }: Place, why: string, from: string): never {
      const id = JSON.stringify([channel, account]);
      const last = logged.get(id) ?? { at: Number.NEGATIVE_INFINITY, since: 0 };
      const now = clock.now();
      const due = now - last.at >= loggedEveryMs || now < last.at;
      const unloggedBefore = last.since;
      if (due) log("warn", "hook.refused", { channel, account, why, from, unloggedBefore });
      logged.set(id, due ? { at: now, since: 0 } : { ...last, since: last.since + 1 });
      throw new ApiRefusal("signature", "Cannot accept this: the signature is missing or wrong");
    },
  };
}
