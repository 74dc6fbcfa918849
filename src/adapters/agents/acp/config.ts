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
    .describe("How permission requests of the agent are answered."),
  allowKinds: z
    .array(z.enum(["read", "edit", "delete", "move", "search", "execute", "think", "fetch"]))
    .max(8)
    .default(["read", "search", "think"])
    .describe("Kinds of actions that `allowlist` (here or in /exec) allows."),
  sessions: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(200)
    .describe("Sessions kept; the least recently used is closed first."),
  startMs: z
    .number()
    .int()
    .min(100)
    .max(600_000)
    .default(30_000)
    .describe("Time for the program to start, and to open a session, ms."),
  images: z
    .boolean()
    .default(true)
    .describe("Whether it gets the images of a turn, if it accepts any."),
});

export type AcpConfig = z.infer<typeof acpConfigSchema>;
