/**
 * The table of chat commands, with those of plugins and of the default agent's skills, for
 * completion. It lists what exists, not what the caller may do.
 */
import { z } from "zod";
import { text } from "../../api-types/schema.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

const listCommands = {
  method: "get",
  path: "/api/commands",
  summary: "The table of commands, for completion",
  answer: z.object({
    commands: z.array(
      z.object({
        name: text.describe("without the slash"),
        aliases: z.array(text),
        usage: text,
        help: text,
        who: z.enum(["authorised", "owner"]),
      }),
    ),
  }),
} as const;

export function commandRoutes({ add }: Endpoints, { commands }: RouteDeps): void {
  add(listCommands, () => ({ commands: commands() }));
}
