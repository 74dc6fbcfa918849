/**
 * Finding a model by itself
 * =========================
 * Only when the config says `driver: "auto"`: the first of an Anthropic key, an OpenAI key (both
 * from the environment) and an Ollama server on this machine becomes a `model` driver; with none of
 * them the guide stays. Nothing is looked for unasked.
 */
import { z } from "zod";

/** Where Ollama listens by default (its documentation: OLLAMA_HOST). */
const ollamaUrl = "http://127.0.0.1:11434";
/**
 * Where nothing listens, the system refuses at once. So this is only how long a program that has the port may keep
 * the start waiting without a word; Ollama itself answers late on a machine that loads a model.
 */
const silentMsMax = 10_000;

const tagsSchema = z.object({ models: z.array(z.object({ name: z.string().min(1) })).min(1) });

export interface AutoFound {
  /** A driver config as it could stand in the config file. */
  readonly driver: Readonly<Record<string, unknown>> & { readonly kind: string };
  /** One line for the log: what was found and where. */
  readonly because: string;
}

/**
 * Looks in the given environment, then on loopback. Never throws: a server that does not answer is
 * not there. `ollama` is the base URL to probe, and `signal` ends the wait for its answer.
 */
export async function findModel(
  env: Readonly<Record<string, string | undefined>>,
  ollama: string = ollamaUrl,
  signal: AbortSignal = AbortSignal.timeout(silentMsMax),
): Promise<AutoFound> {
  if (env.ANTHROPIC_API_KEY !== undefined && env.ANTHROPIC_API_KEY !== "")
    return {
      driver: {
        kind: "model",
        provider: "anthropic",
        model: env.ANTHROPIC_MODEL ?? "claude-sonnet-4-5",
        apiKey: env.ANTHROPIC_API_KEY,
      },
      because: "ANTHROPIC_API_KEY is set",
    };
  if (env.OPENAI_API_KEY !== undefined && env.OPENAI_API_KEY !== "")
    return {
      driver: {
        kind: "model",
        provider: "openai",
        model: env.OPENAI_MODEL ?? "gpt-5-mini",
        apiKey: env.OPENAI_API_KEY,
      },
      because: "OPENAI_API_KEY is set",
    };
  const model = await firstOllamaModel(ollama, signal);
  if (model !== null)
    return {
      driver: { kind: "model", provider: "openai-compatible", baseUrl: `${ollama}/v1`, model },
      because: `Ollama answers on ${ollama} with ${model}`,
    };
  return { driver: { kind: "guide" }, because: "no key in the environment and no Ollama here" };
}

async function firstOllamaModel(ollama: string, signal: AbortSignal): Promise<string | null> {
  try {
    const response = await fetch(`${ollama}/api/tags`, { signal });
    return tagsSchema.parse(await response.json()).models[0]?.name ?? null;
  } catch {
    // Nothing listens there, or something that is not Ollama: both mean "not found".
    return null;
  }
}
