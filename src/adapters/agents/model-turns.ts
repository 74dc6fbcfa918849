/**
 * Turns on a model
 * ================
 * Any language model through the AI SDK. Tools run through the turn's own `callTool`. A steered
 * message joins at the next step boundary; if the model was already in its last step, one more step
 * is taken for it, so it is never lost. Fallback models are tried in order when a model refuses
 * (429, 5xx, no connection) before it has said anything; after the first word a failure is a
 * failure.
 */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  RetryError,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
} from "ai";
import type { AgentEvent, AgentPort, AgentTurn } from "../../domain/ports.ts";
import type { ModelConfig, OneModel } from "./model.ts";

function connect(one: OneModel): LanguageModel {
  const apiKey = one.apiKey === undefined ? {} : { apiKey: one.apiKey };
  const baseURL = one.baseUrl === undefined ? {} : { baseURL: one.baseUrl };
  if (one.provider === "anthropic") return createAnthropic({ ...apiKey, ...baseURL })(one.model);
  if (one.provider === "openai") return createOpenAI({ ...apiKey, ...baseURL })(one.model);
  return createOpenAICompatible({
    name: "compatible",
    baseURL: one.baseUrl as string,
    includeUsage: true,
    ...apiKey,
  })(one.model);
}

/** Whether another model may be tried instead. */
function refused(error: unknown): boolean {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  return APICallError.isInstance(last) && last.isRetryable;
}

/** What went wrong in words, with no secret of ours in it. */
function describe(error: unknown, config: ModelConfig): string {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const status = APICallError.isInstance(last) ? ` (HTTP ${last.statusCode ?? "no answer"})` : "";
  let message = last instanceof Error ? last.message : String(last);
  for (const { apiKey } of [config, ...config.fallbacks])
    if (apiKey !== undefined) message = message.replaceAll(apiKey, "[redacted]");
  return `The model ${config.model} failed${status}: ${message.slice(0, 500)}`;
}

function toolsOf(turn: AgentTurn): ToolSet {
  return Object.fromEntries(
    turn.tools.map((described) => [
      described.name,
      tool({
        description: described.description,
        inputSchema: jsonSchema<Record<string, unknown>>(described.inputSchema),
        execute: (input) => turn.callTool(described.name, input),
      }),
    ]),
  );
}

/** Messages steered into one running turn, in arrival order. */
interface Steering {
  waiting: string[];
  /** Already placed: before which message of the conversation they stand. */
  placed: { readonly before: number; readonly text: string }[];
}

function withSteering(messages: readonly ModelMessage[], steering: Steering): ModelMessage[] {
  for (const text of steering.waiting.splice(0))
    steering.placed.push({ before: messages.length, text });
  const all: ModelMessage[] = [];
  messages.forEach((message, index) => {
    for (const { before, text } of steering.placed)
      if (before === index) all.push({ role: "user", content: text });
    all.push(message);
  });
  for (const { before, text } of steering.placed)
    if (before >= messages.length) all.push({ role: "user", content: text });
  return all;
}

/** Runs turns on the configured models. */
export function openModel(config: ModelConfig): AgentPort {
  const models = [config, ...config.fallbacks].map(connect);
  const steerings = new Map<string, Steering>();
  return {
    capabilities: { steer: true, tools: true, images: false },
    steer(turnId, text) {
      const steering = steerings.get(turnId);
      if (steering === undefined) return false;
      steering.waiting.push(text);
      return true;
    },
    async *run(turn, { signal }) {
      const steering: Steering = { waiting: [], placed: [] };
      steerings.set(turn.turnId, steering);
      try {
        yield* converse(config, models, turn, steering, signal);
      } finally {
        steerings.delete(turn.turnId);
      }
    },
  };
}

async function* converse(
  config: ModelConfig,
  models: readonly LanguageModel[],
  turn: AgentTurn,
  steering: Steering,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent> {
  const messages: ModelMessage[] = [
    ...turn.transcript.map(({ role, text }): ModelMessage => ({ role, content: text })),
    { role: "user", content: turn.prompt },
  ];
  for (let choice = 0; ; ) {
    const model = models[choice] as LanguageModel;
    const progress = { spoke: false };
    const call = begin(config, model, turn, messages, steering, signal);
    try {
      for await (const part of call.fullStream) {
        if (part.type === "error") throw part.error;
        if (part.type === "abort") signal.throwIfAborted();
        const event = translate(part);
        if (event === null) continue;
        progress.spoke ||= event.type !== "usage";
        yield event;
      }
    } catch (error) {
      signal.throwIfAborted();
      const next = models[choice + 1];
      if (!progress.spoke && next !== undefined && refused(error)) {
        choice += 1;
        continue;
      }
      yield { type: "error", message: describe(error, config), retryable: refused(error) };
      return;
    }
    if ((await call.finishReason) === "error" || !progress.spoke) {
      const message = `The model ${config.model} gave an answer that could not be read`;
      yield { type: "error", message, retryable: false };
      return;
    }
    if (steering.waiting.length === 0) return;
    // Steered during the last step: the model has answered, so its answer stands before the new
    // words.
    messages.push(...(await call.response).messages);
  }
}

function begin(
  config: ModelConfig,
  model: LanguageModel,
  turn: AgentTurn,
  messages: ModelMessage[],
  steering: Steering,
  signal: AbortSignal,
) {
  return streamText({
    model,
    ...(turn.system === "" ? {} : { system: turn.system }),
    messages,
    tools: toolsOf(turn),
    stopWhen: stepCountIs(config.maxSteps),
    prepareStep: ({ messages: sofar }) => ({ messages: withSteering(sofar, steering) }),
    maxRetries: config.maxRetries,
    abortSignal: signal,
    ...(config.maxOutputTokens === undefined ? {} : { maxOutputTokens: config.maxOutputTokens }),
    ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
    // Errors come through the stream; the SDK's default would print them to the console as well.
    onError: () => undefined,
  });
}

type StreamPart =
  ReturnType<typeof begin>["fullStream"] extends AsyncIterable<infer Part> ? Part : never;

function translate(part: StreamPart): AgentEvent | null {
  switch (part.type) {
    case "text-delta":
      return { type: "text", text: part.text };
    case "reasoning-delta":
      return { type: "reasoning", text: part.text };
    case "tool-call":
      return { type: "tool-start", name: part.toolName, input: part.input };
    case "tool-result":
      return { type: "tool-end", name: part.toolName, ok: true };
    case "tool-error":
      return { type: "tool-end", name: part.toolName, ok: false };
    case "text-end":
      return { type: "message-end" };
    case "finish":
      return {
        type: "usage",
        inputTokens: part.totalUsage.inputTokens ?? 0,
        outputTokens: part.totalUsage.outputTokens ?? 0,
      };
    default:
      return null;
  }
}
