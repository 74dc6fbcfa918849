/**
 * `/hooks/<channel>/<account>`
 * ============================
 * The one door for platforms that post to us. In this order: method, place, plain bytes, what the
 * headers prove, the body up to what that allows, what the body proves, the rate, repeats; only
 * then is it parsed. Who is refused learns that and nothing else; why stands in the log, once in a
 * while. The answer 200 means durable. 503 and 429 mean that nothing was taken: send it again.
 */
import { type Context, Hono } from "hono";
import { limits } from "../../../domain/limits.ts";
import type { Millis } from "../../../domain/message.ts";
import type { HookAnswer, HookRequest } from "../../../domain/ports/index.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { createHookGuard, type HookGuard } from "../../http/hook-replay-guard.ts";
import { createBodyBudget } from "../../http/raw-body.ts";
import type { RouteDeps } from "./deps.ts";

/** Refusals of one hook are logged so often. */
const loggedEveryMs = 60_000;

interface Place {
  readonly channel: string;
  readonly account: string;
}

export function hookRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const { clock } = ports;
  const app = new Hono<HttpEnv>();
  const room = createBodyBudget(limits.hookBodiesBytesMax);
  const guards = new Map<string, HookGuard>();
  const refusals = createRefusalLog(ports);

  /** Only places that exist get here, so the map ends where the config does. */
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
    if (incoming.method !== "POST") {
      context.header("allow", "POST");
      throw new ApiRefusal("wrong-method", "Cannot do that here: a hook takes POST");
    }
    const problem = ports.problem();
    if (problem !== null) throw new ApiRefusal("not-ready", problem);
    const hook = ports.hook(place.channel, place.account);
    if (hook === null) throw notFound();
    // What is not read is not waited for either.
    context.header("connection", "close");
    if ((incoming.headers["content-encoding"] ?? "identity") !== "identity")
      throw new ApiRefusal("wrong-type", "Cannot read the body: it is compressed. Send it plain");
    const request: HookRequest = { headers: headersOf(incoming.headers), now: clock.now() };
    const knock = hook.inspectHeaders(request);
    const from = ports.clients.address(incoming);
    if (knock.kind === "refused") return refusals.refuse(place, knock.why, from);
    const proven = knock.kind === "proven";
    const body = await room.read(
      incoming,
      proven ? limits.bodyBytesMax : limits.hookUnprovenBytesMax,
    );
    const verdict = hook.verify(request, body);
    if (verdict.kind === "refused") return refusals.refuse(place, verdict.why, from);
    context.header("connection", undefined);
    const guard = guardOf(place);
    const waitMs = guard.waitMs(clock.now());
    if (waitMs > 0) return tooMany(context, waitMs);
    const receive = () => hook.receive(body, request);
    return answerWith(context, await guard.once(verdict.replayId, receive));
  });
  return app;
}

/**
 * The place that a path names, as it was sent: nothing is resolved, and what is escaped is read
 * once. Null: no hook's path.
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

const notFound = () => new ApiRefusal("not-found", "Cannot find a hook by that name");

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
    `Cannot take more than ${limits.hookPerSecondMax} a second: send it again later`,
  );
}

/** Tells who is refused, and why, without letting a stranger fill the log. */
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
      throw new ApiRefusal("signature", "Cannot take this: it is not signed as agreed");
    },
  };
}
