/**
 * What is entered on the Setup page and in `earshot init`. A secret that was pasted is only here and in
 * the file of secrets: the config names it.
 */
import { z } from "zod";

const label = z.string().trim().min(1).max(100);
const secret = z.string().trim().min(1).max(4_096);

const modelDriver = z.strictObject({
  kind: z.literal("model"),
  provider: z.enum(["openai-compatible", "anthropic", "openai"]),
  model: z.string().trim().min(1).max(256),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .exactOptional(),
});
const program = {
  command: z.string().trim().min(1).max(4_096),
  args: z.array(z.string().max(4_096)).max(64).default([]),
};
export const setupDriverSchema = z.discriminatedUnion("kind", [
  modelDriver,
  z.strictObject({ kind: z.literal("command"), ...program }),
  z.strictObject({ kind: z.literal("acp"), ...program }),
]);
export type SetupDriver = z.output<typeof setupDriverSchema>;

export const serverSchema = z.strictObject({
  provider: modelDriver.shape.provider,
  baseUrl: modelDriver.shape.baseUrl,
  /** Pasted now; absent: the one that is known. */
  key: secret.exactOptional(),
});
export type SetupServer = z.output<typeof serverSchema>;

export const channelAnswersSchema = z.strictObject({
  id: z.string().min(1).max(64),
  account: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "letters, digits, - and _")
    .default("default"),
  /** By the names of the channel's fields; one that is left out stays. */
  fields: z.record(z.string().max(64), z.string().trim().min(1).max(4_096)),
});
export type ChannelAnswers = z.output<typeof channelAnswersSchema>;

export const answersSchema = z.strictObject({
  agent: z.strictObject({
    name: label,
    purpose: z.string().trim().max(1_000),
    aliases: z.array(label).max(20),
  }),
  /** Null: it stays as it is. */
  driver: setupDriverSchema.nullable(),
  key: secret.exactOptional(),
  /** Null: none is connected now. */
  channel: channelAnswersSchema.nullable(),
});
export type SetupAnswers = z.output<typeof answersSchema>;

/** The variable that a model's key is stored under. */
export const keyVariableOf = (provider: SetupServer["provider"]): string =>
  (({ anthropic: "ANTHROPIC_API_KEY", openai: "OPENAI_API_KEY" }) as Record<string, string>)[
    provider
  ] ?? "MODEL_API_KEY";
