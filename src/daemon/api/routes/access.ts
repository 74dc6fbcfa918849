/**
 * Strangers who wait for approval, people who have access, claim codes. A claim code is only in the
 * answer that creates it.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { millis, text } from "../../api-types/schema.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

const name = z.string().min(1).max(limits.idUnitsMax);
/** A caller of the API acts as the console, not as a person in a room. */
const console = "console";

const role = z.enum(["owner", "member"]);
const scope = z.enum(["paired", "direct", "group", "owner", "member"]);
const account = { channel: text, account: text };

const claimSchema = z.strictObject({
  role,
  ttlMs: z.number().int().min(60_000).max(limits.claimMsMax).default(limits.claimMsDefault),
});
const revokeSchema = z.union([
  z.strictObject({ code: name }),
  z.strictObject({
    channel: name,
    account: name.exactOptional(),
    id: name,
    scope: scope.exactOptional(),
  }),
]);
const pairingSchema = z.object({
  ...account,
  id: text,
  code: text,
  name: text,
  at: millis,
  expiresAt: millis,
});
const grantSchema = z.object({ ...account, id: text, scope, at: millis, by: text });
const lockSchema = z
  .object({ ...account, until: millis })
  .partial({ channel: true, account: true });
const openClaimSchema = z.object({ label: text, role, at: millis, expiresAt: millis, by: text });
const doneSchema = z.object({ done: z.literal(true) });

const listPairings = {
  method: "get",
  path: "/api/pairings",
  summary: "Strangers who wait, people who have access, and locks after wrong codes",
  answer: z.object({
    pairings: z.array(pairingSchema),
    people: z.array(grantSchema),
    locks: z.array(lockSchema),
  }),
  refuses: ["not-ready"],
} as const;
const approvePairing = {
  method: "post",
  path: "/api/pairings/:code/approve",
  summary: "Gives access to the person with the code",
  params: z.object({ code: text.describe("eight letters") }),
  answer: z.object({
    person: z.object({ ...account, id: text, name: text }),
    owner: z.boolean().describe("true: the person became the owner"),
  }),
  refuses: ["not-found", "locked", "not-ready"],
} as const;
const revokeAccess = {
  method: "post",
  path: "/api/pairings/revoke",
  summary: "Revokes a waiting code, or somebody's access",
  body: revokeSchema,
  answer: doneSchema,
  refuses: ["bad-request", "not-found", "too-large", "wrong-type", "not-ready"],
} as const;
const listClaims = {
  method: "get",
  path: "/api/claims",
  summary: "Unused claim codes, by their labels",
  answer: z.object({ claims: z.array(openClaimSchema) }),
  refuses: ["not-ready"],
} as const;
const makeClaim = {
  method: "post",
  path: "/api/claims",
  summary: "Creates a claim code, which is only in this answer",
  body: claimSchema,
  answer: openClaimSchema.omit({ by: true }).extend({ code: text }),
  refuses: ["bad-request", "too-large", "wrong-type", "not-ready"],
} as const;
const revokeClaim = {
  method: "post",
  path: "/api/claims/:label/revoke",
  summary: "Revokes a claim code",
  params: z.object({ label: text.describe("as listed") }),
  answer: doneSchema,
  refuses: ["not-found", "not-ready"],
} as const;

export function accessRoutes({ add }: Endpoints, deps: RouteDeps): void {
  const access = () => {
    const problem = deps.problem();
    if (problem !== null) throw new ApiRefusal("not-ready", problem);
    return deps.runtime.access();
  };
  add(listPairings, () => {
    const { grants, pairings, guesses } = access().list();
    const locks = guesses.filter(({ count: tries }) => tries >= limits.codeGuessesMax);
    return {
      pairings: pairings.map(({ kind: _, ...pairing }) => pairing),
      people: grants.map(({ kind: _, ...grant }) => grant),
      locks: locks.map(({ place, until }) => ({ ...place, until })),
    };
  });
  add(approvePairing, async ({ params: { code } }) => {
    const answer = await access().approve(code, console);
    if (answer.outcome === "locked")
      throw new ApiRefusal(
        "locked",
        "Cannot approve: too many wrong codes. Try again at " +
          new Date(answer.until).toISOString(),
      );
    if (answer.outcome === "unknown")
      throw new ApiRefusal(
        "not-found",
        "Cannot approve: no request has this code. It is wrong, used, or over an hour old",
      );
    const { channel, account: at, id, name: called } = answer.person;
    return { person: { channel, account: at, id, name: called }, owner: answer.owner };
  });
  add(revokeAccess, async ({ body }) => {
    const done =
      "code" in body ? await access().revokePairing(body.code) : await access().revoke(body);
    if (done) return { done };
    throw new ApiRefusal(
      "not-found",
      "Cannot revoke: there is no such entry. Access that the config file grants is removed there",
    );
  });
  add(listClaims, () => {
    const { claims } = access().list();
    return { claims: claims.map(({ kind: _, ...claim }) => claim) };
  });
  add(makeClaim, async ({ body: { role: wanted, ttlMs } }) => {
    const issued = await access().issue({ role: wanted, ttlMs, by: console });
    if (issued === null)
      throw new ApiRefusal(
        "bad-request",
        `Cannot create another code: ${limits.claimsOpenMax} are unused. Revoke some`,
      );
    const { label, at, expiresAt } = issued.claim;
    return { code: issued.code, label, role: wanted, at, expiresAt };
  });
  add(revokeClaim, async ({ params: { label } }) => {
    const done = await access().revokeClaim(label);
    if (done) return { done };
    throw new ApiRefusal("not-found", "Cannot revoke: no unused code has this label");
  });
}
