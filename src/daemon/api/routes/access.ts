/**
 * Who may speak
 * =============
 * The access book by API: strangers who wait to be approved, people who were, claim codes. A claim
 * code is in the answer that makes it and in no other.
 */
import { Hono } from "hono";
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { jsonBody, parseBody } from "../../http/json-body.ts";
import type { RouteDeps } from "./deps.ts";

const name = z.string().min(1).max(limits.idUnitsMax);
/** Nobody at the API is somebody of a room: it is the console. */
const console = "console";

export const claimSchema = z.strictObject({
  role: z.enum(["owner", "member"]),
  ttlMs: z.number().int().min(60_000).max(limits.claimMsMax).default(limits.claimMsDefault),
});
export const revokeSchema = z.union([
  z.strictObject({ code: name }),
  z.strictObject({
    channel: name,
    account: name.exactOptional(),
    id: name,
    scope: z.enum(["paired", "direct", "group", "owner", "member"]).exactOptional(),
  }),
]);

export function accessRoutes(ports: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const book = () => {
    const problem = ports.problem();
    if (problem !== null) throw new ApiRefusal("not-ready", problem);
    return ports.runtime.access();
  };
  app.get("/pairings", (context) => {
    const { grants, pairings, guesses } = book().list();
    const locks = guesses.filter(({ count }) => count >= limits.codeGuessesMax);
    return context.json({
      pairings: pairings.map(({ kind: _, ...pairing }) => pairing),
      people: grants.map(({ kind: _, ...grant }) => grant),
      locks: locks.map(({ place, until }) => ({ ...place, until })),
    });
  });
  app.post("/pairings/:code/approve", async (context) => {
    const answer = await book().approve(context.req.param("code"), console);
    if (answer.outcome === "locked")
      throw new ApiRefusal(
        "locked",
        `Cannot approve as too many wrong codes were given: none is looked at before ${new Date(
          answer.until,
        ).toISOString()}`,
      );
    if (answer.outcome === "unknown")
      throw new ApiRefusal(
        "not-found",
        "Cannot approve that as nobody waits under this code: it is wrong, used, or over an hour old",
      );
    const { channel, account, id, name: called } = answer.person;
    return context.json({ person: { channel, account, id, name: called }, owner: answer.owner });
  });
  app.post("/pairings/revoke", ...jsonBody, async (context) => {
    const whom = await parseBody(context, () => revokeSchema);
    const done = "code" in whom ? await book().revokePairing(whom.code) : await book().revoke(whom);
    if (done) return context.json({ done });
    throw new ApiRefusal(
      "not-found",
      "Cannot revoke that as the access book has nothing of the kind: who is listed in the config " +
        "is taken out there",
    );
  });
  app.get("/claims", (context) => {
    const { claims } = book().list();
    return context.json({ claims: claims.map(({ kind: _, ...claim }) => claim) });
  });
  app.post("/claims", ...jsonBody, async (context) => {
    const { role, ttlMs } = await parseBody(context, () => claimSchema);
    const issued = await book().issue({ role, ttlMs, by: console });
    if (issued === null)
      throw new ApiRefusal(
        "bad-request",
        `Cannot make another code as ${limits.claimsOpenMax} are open: revoke some`,
      );
    const { label, at, expiresAt } = issued.claim;
    return context.json({ code: issued.code, label, role, at, expiresAt });
  });
  app.post("/claims/:label/revoke", async (context) => {
    const done = await book().revokeClaim(context.req.param("label"));
    if (done) return context.json({ done });
    throw new ApiRefusal("not-found", "Cannot revoke that as no open code has this label");
  });
  return app;
}
