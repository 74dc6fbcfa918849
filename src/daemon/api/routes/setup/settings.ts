/** `/api/config`: every value with its origin, and changing one in the file. Never a secret. */
import { z } from "zod";
import { limits } from "../../../../domain/limits.ts";
import { settingsSchema } from "../../../api-types/settings.ts";
import { setupPlanSchema, setupWrittenSchema } from "../../../api-types/setup.ts";
import type { Endpoints } from "../../../http/endpoint.ts";
import type { RouteDeps } from "../deps.ts";
import { refusing } from "./setup.ts";

const refuses = ["bad-request", "conflict"] as const;
const change = {
  path: z.string().min(1).max(limits.labelUnitsMax).describe("as listed"),
  value: z.string().max(65_536).nullable().describe("JSON5; null: it is taken out of the file"),
  add: z
    .string()
    .max(limits.labelUnitsMax)
    .optional()
    .describe("the name of a new entry of the map at `path`; empty: a new item of the list there"),
};
const token = z.string().max(64);

const read = {
  method: "get",
  path: "/api/config",
  summary: "Every value of the config: what it is for, and where it comes from",
  answer: settingsSchema,
  refuses,
} as const;
const plan = {
  method: "post",
  path: "/api/config/plan",
  summary: "What a new value would change in the config file",
  body: z.strictObject(change),
  answer: setupPlanSchema,
  refuses,
} as const;
const write = {
  method: "post",
  path: "/api/config/write",
  summary: "Writes a new value to the config file",
  body: z.strictObject({ ...change, token: token.describe("of the plan") }),
  answer: setupWrittenSchema,
  refuses,
} as const;
const undo = {
  method: "post",
  path: "/api/config/undo",
  summary: "Puts back the copy that a write made",
  body: z.strictObject({
    copy: z.string().max(4_096).nullable(),
    token: token.describe("of the write"),
  }),
  answer: setupWrittenSchema,
  refuses,
} as const;

export function settingsRoutes({ add }: Endpoints, { settings }: RouteDeps): void {
  add(read, () => refusing(settings.read()));
  add(plan, ({ body }) => refusing(settings.plan(body)));
  add(write, ({ body: { token: shown, ...changed } }) => refusing(settings.write(changed, shown)));
  add(undo, ({ body }) => refusing(settings.undo(body.copy, body.token)));
}
