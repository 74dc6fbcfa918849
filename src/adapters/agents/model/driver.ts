/**
 * Any language model through the AI SDK: OpenAI-compatible servers by base URL (Ollama, llama.cpp,
 * vLLM), Anthropic, OpenAI. The SDK is loaded with the first agent that uses a model: a daemon
 * without one neither waits for it nor holds it in memory.
 */
import type { z } from "zod";
import { defineAgent } from "../../../domain/ports/index.ts";
import { type ModelConfig, modelConfigSchema } from "./config.ts";

export const modelDriver = defineAgent<ModelConfig>({
  kind: "model",
  configSchema: modelConfigSchema as z.ZodType<ModelConfig>,
  open: async ({ config }) => (await import("./turns.ts")).openModel(config),
  probe: async (config, signal) => (await import("./models.ts")).probeModels(config, signal),
});
