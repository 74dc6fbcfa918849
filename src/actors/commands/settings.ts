/**
 * Session changes of commands
 * ===========================
 * Converts a command's arguments to a change that can be stored without knowing the previous
 * settings.
 */
import type { Activation } from "../../domain/decision.ts";
import type {
  ElevatedLevel,
  ReasoningLevel,
  SessionPatch,
  ThinkingLevel,
  TtsLevel,
  UsageLevel,
  VerboseLevel,
} from "../../domain/session.ts";
import type { QueueMode, QueueSettings, SendPolicy } from "../../domain/settings.ts";
import { execOf } from "../../machines/commands/argument-parsers.ts";
import type { CommandCall } from "../../machines/commands/directives.ts";

type Override = NonNullable<SessionPatch["override"]>;

/** The override for the conversation; null: unchanged. */
export function overrideOf(calls: readonly CommandCall[]): Override | null {
  let override: Override = {};
  for (const { command, args } of calls) {
    const [word] = args;
    if (word === undefined) continue;
    if (command === "queue") override = { ...override, queue: queueOf(args) };
    if (command === "send") override = { ...override, send: orDefault<SendPolicy>(word) };
    if (command === "activation")
      override = { ...override, activation: orDefault<Activation>(word) };
  }
  return Object.keys(override).length === 0 ? null : override;
}

const orDefault = <Value extends string>(word: string): Value | null =>
  word === "default" ? null : (word as Value);

function queueOf(words: readonly string[]): Partial<QueueSettings> | null {
  if (words[0] === "default") return null;
  let queue: Partial<QueueSettings> = {};
  for (const word of words) {
    const [name = "", value] = word.split(":");
    if (value === undefined) queue = { ...queue, mode: name as QueueMode };
    else if (name === "drop") queue = { ...queue, drop: value as QueueSettings["drop"] };
    else if (name === "cap") queue = { ...queue, cap: Number(value) };
    else queue = { ...queue, debounceMs: Number(value) };
  }
  return queue;
}

/**
 * The change of the session; null: none. `provider` is the agent's driver's provider; its models
 * may be given with or without that prefix.
 */
export function patchOf(
  calls: readonly CommandCall[],
  provider: string | null,
): SessionPatch | null {
  const override = overrideOf(calls);
  let patch: SessionPatch = override === null ? {} : { override };
  for (const { command, args } of calls) {
    const [word] = args;
    if (word === undefined) continue;
    if (command === "think") patch = { ...patch, thinking: word as ThinkingLevel };
    if (command === "verbose") patch = { ...patch, verbose: word as VerboseLevel };
    if (command === "reasoning") patch = { ...patch, reasoning: word as ReasoningLevel };
    if (command === "elevated") patch = { ...patch, elevated: word as ElevatedLevel };
    if (command === "usage") patch = { ...patch, usage: word as UsageLevel };
    if (command === "exec") patch = { ...patch, exec: execOf(args) };
    if (command === "tts") patch = { ...patch, tts: orDefault<TtsLevel>(word) };
    if (command === "model" && word !== "list" && word !== "status")
      patch = { ...patch, model: word === "default" ? null : ownModel(word, provider) };
  }
  return Object.keys(patch).length === 0 ? null : patch;
}

const ownModel = (name: string, provider: string | null) =>
  provider !== null && name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name;
