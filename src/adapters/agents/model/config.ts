/**
 * The config of a model agent
 * ===========================
 */
import { z } from "zod";

export const oneModelSchema = z.strictObject({
  provider: z.enum(["openai-compatible", "anthropic", "openai"]).default("openai-compatible"),
  model: z.string().min(1),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Required for `openai-compatible`; for the others, the address of a proxy."),
  apiKey: z.string().min(1).optional(),
});

export type OneModel = z.infer<typeof oneModelSchema>;

export const modelConfigSchema = oneModelSchema
  .extend({
    kind: z.literal("model").default("model"),
    fallbacks: z
      .array(oneModelSchema)
      .max(8)
      .default([])
      .describe("Tried in order when the previous model fails before its first output."),
    maxOutputTokens: z.number().int().min(1).optional(),
    temperature: z.number().min(0).max(2).optional(),
    maxSteps: z
      .number()
      .int()
      .min(1)
      .max(64)
      .default(8)
      .describe("Model calls in one turn, with tool calls between them."),
    maxRetries: z
      .number()
      .int()
      .min(0)
      .max(10)
      .default(1)
      .describe(
        "Retries of one model after 429, 5xx and connection failures, with the SDK's backoff.",
      ),
    images: z
      .boolean()
      .default(false)
      .describe("Whether the model accepts images; it then gets those of the turn."),
  })
  .refine((config) => config.provider !== "openai-compatible" || config.baseUrl !== undefined, {
    path: ["baseUrl"],
    message: "an openai-compatible provider needs a baseUrl, for example http://127.0.0.1:11434/v1",
  });

export type ModelConfig = z.infer<typeof modelConfigSchema>;
