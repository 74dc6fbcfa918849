/**
 * `GET /api/needs` and `POST /api/needs/:id/:action`: what only a person can decide, and doing it.
 * A caller with the token is the operator.
 */
import { z } from "zod";
import { limits } from "../../../../domain/limits.ts";
import { needsAnswerSchema } from "../../../api-types/needs.ts";
import { text } from "../../../api-types/schema.ts";
import { ApiRefusal } from "../../../http/api-error.ts";
import type { Endpoints } from "../../../http/endpoint.ts";
import type { RouteDeps } from "../deps.ts";

const list = {
  method: "get",
  path: "/api/needs",
  summary: "What needs a person, with what may be done about it",
  answer: needsAnswerSchema,
} as const;
const act = {
  method: "post",
  path: "/api/needs/:id/:action",
  summary: "Does one action of what needs a person",
  params: z.object({
    id: z
      .string()
      .max(4 * limits.idUnitsMax)
      .describe("as listed, percent-encoded"),
    action: z.string().max(32).describe("as listed"),
  }),
  answer: z.object({ id: text, action: text, done: z.literal(true) }),
  refuses: ["bad-request", "not-found", "conflict", "not-ready"],
} as const;

export function needsRoutes({ add }: Endpoints, { needs, problem }: RouteDeps): void {
  add(list, () => needs.read());
  add(act, async ({ params: { id, action } }) => {
    const why = problem();
    if (why !== null) throw new ApiRefusal("not-ready", why);
    const outcome = await needs.act(id, action);
    if (outcome === "unknown")
      throw new ApiRefusal("not-found", "Cannot do that: nothing with this id needs anybody now");
    if (outcome === "no-action")
      throw new ApiRefusal("bad-request", "Cannot do that: it has no such action");
    if (outcome === "failed")
      throw new ApiRefusal("conflict", "Cannot do that: it is over, or it has changed meanwhile");
    if (typeof outcome === "object") throw new ApiRefusal("conflict", outcome.refused);
    return { id, action, done: true as const };
  });
}
