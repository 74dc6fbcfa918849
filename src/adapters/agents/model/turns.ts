/**
 * Any language model through the AI SDK. Tools run through the turn's `callTool`. A steered message
 * joins at the next step; if the model was already in its last step, one more step is run, so the
 * message is never lost. Fallback models are tried in order when a model fails (429, 5xx, no
 * connection) before any output; later failures fail the turn. A turn may name another model of the
 * same provider; the fallbacks stay.
 */

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  type ImagePart,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  RetryError,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
  type UserContent,
} from "ai";
import { withoutReasoning } from "../../../domain/answer-tags.ts";
import {
  type AgentEvent,
  type AgentPort,
  type AgentTurn,
  kindOf,
  kindOfStatus,
} from "../../../domain/ports/index.ts";
import { unlessAborted } from "../../../domain/ports/within.ts";
import { redactSecrets } from "../../../domain/redact-secrets.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { ThinkingLevel } from "../../../domain/session.ts";
import type { FailureKind } from "../../../domain/stream.ts";
import type { ModelConfig, OneModel } from "./config.ts";

// The SDK would print its advice on the daemon's output, beside the log and what commands answer.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** The provider name for options of OpenAI-compatible servers. */
const compatible = "compatible";

function connect(entry: OneModel): LanguageModel {
  const apiKey = entry.apiKey === undefined ? {} : { apiKey: entry.apiKey };
  const baseURL = entry.baseUrl === undefined ? {} : { baseURL: entry.baseUrl };
  if (entry.provider === "anthropic")
    return createAnthropic({ ...apiKey, ...baseURL })(entry.model);
  if (entry.provider === "openai") return createOpenAI({ ...apiKey, ...baseURL })(entry.model);
  return createOpenAICompatible({
    name: compatible,
    baseURL: entry.baseUrl as string,
    includeUsage: true,
    ...apiKey,
  })(entry.model);
}

type ProviderOptions = NonNullable<Parameters<typeof streamText>[0]["providerOptions"]>;

interface Connected {
  readonly entry: OneModel;
  readonly model: LanguageModel;
}

const connected = (entry: OneModel): Connected => ({ entry, model: connect(entry) });

/** Thinking budget of Anthropic models, in tokens; the answer has its own budget. */
const thinkingTokens: Readonly<Record<Exclude<ThinkingLevel, "off">, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 10_000,
  high: 20_000,
  xhigh: 32_000,
  max: 48_000,
};

/** Each provider's thinking option. `off` sets none, so the model uses its default. */
function thinkingOptions({ provider }: OneModel, level: ThinkingLevel): ProviderOptions {
  if (level === "off") return {};
  if (provider === "anthropic")
    return { anthropic: { thinking: { type: "enabled", budgetTokens: thinkingTokens[level] } } };
  return { [provider === "openai" ? "openai" : compatible]: { reasoningEffort: level } };
}

/** Whether a fallback may be tried. */
function refused(error: unknown): boolean {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  return APICallError.isInstance(last) && last.isRetryable;
}

/** The kind of an error by the status of the answer, or by what broke the connection. */
function kindOfModel(error: unknown): FailureKind {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const status = APICallError.isInstance(last) ? last.statusCode : undefined;
  if (status !== undefined && status >= 300) return kindOfStatus(status);
  // A connection that ends within an answer has a code, too.
  const kind = kindOf(last);
  if (kind !== "crashed") return kind;
  // An answer that could not be read has a status; without one nothing answered.
  return status === undefined && APICallError.isInstance(last) ? "refused" : "invalid";
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Describes an error on one line, with secrets redacted: it may quote whatever the server has sent. */
function describe(error: unknown, model: string, config: ModelConfig): string {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const status = APICallError.isInstance(last) ? ` (HTTP ${last.statusCode ?? "no answer"})` : "";
  const keys = [config, ...config.fallbacks].flatMap(({ apiKey }) => apiKey ?? []);
  const message = redactSecrets(textOf(last), keys);
  return `The model ${model} failed${status}: ${oneLine(message, 500)}`;
}

/** The turn's tools. The SDK awaits a tool even after an abort; `unlessAborted` does not. */
function toolsOf(turn: AgentTurn, signal: AbortSignal): ToolSet {
  return Object.fromEntries(
    turn.tools.map((described) => [
      described.name,
      tool({
        description: described.description,
        inputSchema: jsonSchema<Record<string, unknown>>(described.inputSchema),
        execute: (input) => unlessAborted(turn.callTool(described.name, input), signal),
      }),
    ]),
  );
}

/** Messages steered into one running turn, in arrival order. */
interface Steering {
  waiting: UserContent[];
  /** Already placed, with the index of the message that follows it. */
  placed: { readonly before: number; readonly content: UserContent }[];
}

function withSteering(messages: readonly ModelMessage[], steering: Steering): ModelMessage[] {
  for (const content of steering.waiting.splice(0))
    steering.placed.push({ before: messages.length, content });
  const all: ModelMessage[] = [];
  messages.forEach((message, index) => {
    for (const { before, content } of steering.placed)
      if (before === index) all.push({ role: "user", content });
    all.push(message);
  });
  for (const { before, content } of steering.placed)
    if (before >= messages.length) all.push({ role: "user", content });
  return all;
}

/** Runs turns on the configured models. */
export function openModel(config: ModelConfig): AgentPort {
  const models = [config, ...config.fallbacks].map(connected);
  const steerings = new Map<string, Steering>();
  return {
    capabilities: { steer: true, tools: true, images: config.images },
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
        const [first, ...fallbacks] = models as [Connected, ...Connected[]];
        const named = turn.model === null ? first : connected({ ...config, model: turn.model });
        yield* converse(config, [named, ...fallbacks], turn, steering, signal);
      } finally {
        steerings.delete(turn.turnId);
      }
    },
  };
}

async function* converse(
  config: ModelConfig,
  models: readonly Connected[],
  turn: AgentTurn,
  steering: Steering,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent> {
  const messages: ModelMessage[] = [
    ...turn.transcript.map(({ role, text }): ModelMessage => ({ role, content: text })),
    { role: "user", content: contentOf(turn, config.images) },
  ];
  for (let choice = 0; ; ) {
    const model = models[choice] as Connected;
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
      const message = describe(error, model.entry.model, config);
      if (!progress.spoke && next !== undefined && refused(error)) {
        choice += 1;
        yield { type: "fallback", from: model.entry.model, to: next.entry.model, why: message };
        continue;
      }
      yield { type: "error", message, retryable: refused(error), kind: kindOfModel(error) };
      return;
    }
    if ((await call.finishReason) === "error" || !progress.spoke) {
      const message = `The model ${model.entry.model} gave an answer that could not be read`;
      yield { type: "error", message, retryable: false, kind: "invalid" };
      return;
    }
    if (steering.waiting.length === 0) return;
    // Steered during the last step: the model has answered, so its answer precedes the new message.
    messages.push(...(await call.response).messages);
  }
}

/** The user's turn, with images for a model that accepts them. */
function contentOf(turn: AgentTurn, pictures: boolean): UserContent {
  return pictures ? shown(turn.prompt, turn.images) : turn.prompt;
}

function shown(text: string, images: AgentTurn["images"]): UserContent {
  if (images.length === 0) return text;
  return [
    { type: "text", text },
    ...images.map(({ mime: mediaType, data: image }): ImagePart => {
      return { type: "image", image, mediaType };
    }),
  ];
}

/** Adds steered messages and fetched images before the next step. */
function join(
  messages: readonly ModelMessage[],
  steering: Steering,
  turn: AgentTurn,
  pictures: boolean,
): ModelMessage[] {
  const fetched = (pictures && turn.takePictures?.()) || [];
  if (fetched.length > 0) steering.waiting.push(shown("The pictures you fetched:", fetched));
  return withSteering(messages.flatMap(withoutTags), steering);
}

/** What the model wrote in an earlier step, without reasoning in tags. */
function withoutTags(message: ModelMessage): ModelMessage[] {
  if (message.role !== "assistant") return [message];
  const { content } = message;
  if (typeof content === "string") {
    const text = withoutReasoning(content);
    return text === "" ? [] : [{ ...message, content: text }];
  }
  const parts = content.flatMap((part): (typeof content)[number][] => {
    if (part.type !== "text") return [part];
    const text = withoutReasoning(part.text);
    // Providers refuse empty text.
    return text === "" ? [] : [{ ...part, text }];
  });
  return parts.length === 0 ? [] : [{ ...message, content: parts }];
}

function begin(
  config: ModelConfig,
  { entry, model }: Connected,
  turn: AgentTurn,
  messages: ModelMessage[],
  steering: Steering,
  signal: AbortSignal,
) {
  return streamText({
    model,
    ...(turn.system === "" ? {} : { system: turn.system }),
    messages,
    tools: toolsOf(turn, signal),
    stopWhen: stepCountIs(config.maxSteps),
    prepareStep: ({ messages: sofar }) => ({
      messages: join(sofar, steering, turn, config.images),
    }),
    maxRetries: config.maxRetries,
    abortSignal: signal,
    providerOptions: thinkingOptions(entry, turn.thinking),
    ...(config.maxOutputTokens === undefined ? {} : { maxOutputTokens: config.maxOutputTokens }),
    ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
    // Errors arrive in the stream; the SDK's default would also print them.
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
      return { type: "tool-end", name: part.toolName, ok: false, error: textOf(part.error) };
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
