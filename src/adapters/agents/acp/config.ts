/**
 * The config of an ACP agent
 * ==========================
 */
import { z } from "zod";
import { programFields } from "../command/driver.ts";

export const acpConfigSchema = z.strictObject({
  kind: z.literal("acp").default("acp"),
  ...programFields,
  permissions: z
    .enum(["deny", "allowlist", "allow"])
    .default("deny")
    .describe("What the agent is told when it asks whether it may do something."),
  allowKinds: z
    .array(z.enum(["read", "edit", "delete", "move", "search", "execute", "think", "fetch"]))
    .max(8)
    .default(["read", "search", "think"])
    .describe("Kinds of things that `allowlist` (here or in /exec) allows."),
  sessions: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(200)
    .describe("Sessions kept; the one unused for longest is forgotten first."),
  startMs: z
    .number()
    .int()
    .min(100)
    .max(600_000)
    .default(30_000)
    .describe("For the program to start, and to open a session, ms."),
  images: z
    .boolean()
    .default(true)
    .describe("Whether it is given the pictures of a turn, if it takes any."),
});

export type AcpConfig = z.infer<typeof acpConfigSchema>;
