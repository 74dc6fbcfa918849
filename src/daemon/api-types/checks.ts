/** `POST /api/checks`: what a check has found, a line for each. */
import { z } from "zod";
import { text } from "./schema.ts";

export const checkStepSchema = z.object({
  check: text.describe("a path in the config, a session key, or a name"),
  state: z
    .enum(["running", "ok", "warning", "wrong"])
    .describe("running: it has begun; its results follow"),
  says: text.optional().describe("for a person, without secrets; absent while it runs"),
});
export type CheckStepLine = z.output<typeof checkStepSchema>;
