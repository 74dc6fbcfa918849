/**
 * `POST /api/simulate`
 * ====================
 * Runs a scenario in a simulation (simulated clock, no store, no network) and answers with its event
 * lines and explanations. It changes nothing. The simulator of the Chat page uses it.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { whySchema } from "../../api-types/runtime.ts";
import { streamLineSchema } from "../../api-types/stream-line.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

/** A handwritten room has dozens of lines; files of millions are for `earshot replay`. */
const linesCountMax = 2_000;
/** Each explanation replays the whole conversation, so a page names the few it shows. */
const explainCountMax = 100;

const simulate = {
  method: "post",
  path: "/api/simulate",
  summary: "Runs a scenario and explains it",
  body: z.strictObject({
    lines: z.array(z.unknown()).max(linesCountMax),
    explain: z
      .array(z.string().max(limits.idUnitsMax))
      .max(explainCountMax)
      .optional()
      .describe("messages to explain; left out: all"),
  }),
  answer: z.object({
    lines: z.array(streamLineSchema),
    why: z.record(z.string(), whySchema),
  }),
  refuses: ["bad-request", "too-large", "wrong-type"],
} as const;

export function simulateRoutes({ add }: Endpoints, deps: RouteDeps): void {
  add(simulate, ({ body: { lines, explain } }) => deps.simulate(lines, explain));
}
