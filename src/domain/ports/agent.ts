/**
 * An agent takes one turn at a time and answers with a stream of events. It is untrusted: a schema
 * checks its events, the turn runner bounds its bytes and its time, and it cannot choose a
 * destination. Drivers live in `adapters/agents` and react to the abort signal within 1 s.
 */

import { z } from "zod";
import type { Rule } from "../decision.ts";
import type { JudgeQuestion } from "../judgement.ts";
import { limits } from "../limits.ts";
import type { ChatKind, Millis } from "../message.ts";
import type { choicesSchema, mediaRequestSchema } from "../outgoing.ts";
import type { PermissionAnswer, PermissionPolicy, PermissionRequest } from "../permission.ts";
import type { ThinkingLevel } from "../session.ts";
import { failureKinds } from "../stream.ts";

const text = z.string().max(limits.agentEventUnitsMax);
/** What an invalid request asks for is not sent; it must not end the turn. So it is checked later. */
const media = z.looseObject({ type: z.literal("media") });
const choices = z.looseObject({ type: z.literal("choices") });

export const agentEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text }),
  z.object({ type: z.literal("reasoning"), text }),
  z.object({ type: z.literal("tool-start"), name: z.string().max(256), input: z.unknown() }),
  z.object({
    type: z.literal("tool-end"),
    name: z.string().max(256),
    ok: z.boolean(),
    /** Why it failed. */
    error: text.optional(),
  }),
  z.object({ type: z.literal("message-end") }),
  media as unknown as z.ZodObject<typeof media.shape & typeof mediaRequestSchema.shape>,
  choices as unknown as z.ZodObject<typeof choices.shape & typeof choicesSchema.shape>,
  z.object({
    type: z.literal("usage"),
    inputTokens: z.number().int().min(0),
    outputTokens: z.number().int().min(0),
    costUsd: z.number().min(0).optional(),
  }),
  z.object({
    type: z.literal("fallback"),
    /** The model that was asked and did not answer, and the one that is asked instead. */
    from: z.string().max(256),
    to: z.string().max(256),
    why: text,
  }),
  z.object({
    type: z.literal("error"),
    message: text,
    retryable: z.boolean().default(false),
    /** Left out, or another word: it crashed. */
    kind: z.enum(failureKinds).optional().catch(undefined),
  }),
]);
/**
 * One event of an agent's answer. `text` and `reasoning` are deltas; `media` and `choices` are parts
 * of their own, after the text before them.
 */
export type AgentEvent = z.infer<typeof agentEventSchema>;

export interface TranscriptEntry {
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly at: Millis;
}

/** State of the room, for agents that report on it (the built-in guide). */
export interface RoomReport {
  readonly chatKind: ChatKind;
  /** Why this turn happened: the decisions on the batch. */
  readonly because: readonly { readonly author: string; readonly rule: Rule }[];
  /** Messages observed since the last turn. */
  readonly heardQuietly: number;
  readonly humans: number;
  readonly guardActive: boolean;
  readonly creditWindowMs: number;
}

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** An image of the batch, for agents that accept images. */
export interface AgentImage {
  readonly mime: string;
  /** For display; never a path. */
  readonly name: string;
  readonly data: Uint8Array;
}

export interface AgentTurn {
  readonly turnId: string;
  readonly attempt: number;
  readonly agentId: string;
  readonly agentName: string;
  readonly sessionKey: string;
  /** Set by the config; never contains text from a room. */
  readonly system: string;
  /** The composed user turn (machines/prompt). */
  readonly prompt: string;
  /** A turn without messages: the prompt holds the heartbeat instructions. */
  readonly heartbeat?: true;
  /** Not a turn of the agent: whether a line of its room is meant for it. The prompt asks the same. */
  readonly question?: JudgeQuestion;
  /** The text of the batch, joined by newlines, without envelopes. */
  readonly said: string;
  readonly transcript: readonly TranscriptEntry[];
  readonly room: RoomReport;
  /** Images of the batch, in order; empty for agents that cannot accept them. */
  readonly images: readonly AgentImage[];
  /** Another model of the same provider for this turn; null: the configured one. */
  readonly model: string | null;
  readonly thinking: ThinkingLevel;
  /** Permissions of this turn; absent: as its driver is configured. */
  readonly permissions?: PermissionPolicy;
  readonly tools: readonly ToolDescription[];
  /**
   * Images fetched by tools since the last call, for agents that accept images: they belong to the
   * next step.
   */
  takePictures?(): readonly AgentImage[];
  /**
   * Runs one of `tools`. Resolves to the result for the agent; a refusal is a result, not an error.
   */
  callTool(name: string, input: unknown): Promise<string>;
  /** Asks an owner. Absent, or once the turn has ended: refused. */
  askOwner?(request: PermissionRequest): Promise<PermissionAnswer>;
}

export interface AgentCapabilities {
  readonly steer: boolean;
  readonly tools: boolean;
  readonly images: boolean;
}

export interface AgentPort {
  readonly capabilities: AgentCapabilities;
  /** Runs one turn. Ends when the answer is complete; throws or yields `error` on failure. */
  run(turn: AgentTurn, options: { readonly signal: AbortSignal }): AsyncIterable<AgentEvent>;
  /** Adds text to the running turn at its next step. False: too late. */
  steer?(turnId: string, text: string): boolean;
  /** Releases the driver's resources (subprocesses, sockets). */
  close?(): Promise<void>;
}

/** What a driver gets when a host opens it. */
export interface AgentContext<Config> {
  readonly agentId: string;
  readonly agentName: string;
  /** The agent's folder, if the config names one; it may not exist. */
  readonly workspace?: string;
  readonly config: Config;
  readonly now: () => Millis;
  /** Sleeps on the runtime's clock (virtual in simulations). Rejects with the signal's reason. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** What trying a configured thing once has shown, without a turn or a message. */
export interface TryResult {
  /** `warning`: it may work. `wrong`: it cannot work as it is configured. */
  readonly state: "ok" | "warning" | "wrong";
  /** For a person; without secrets. */
  readonly says: string;
}

/**
 * A driver. Its config schema becomes part of the config file's schema under
 * `agents.list[].driver`.
 */
export interface AgentDriver<Config = unknown> {
  readonly kind: string;
  readonly configSchema: z.ZodType<Config>;
  open(context: AgentContext<Config>): AgentPort | Promise<AgentPort>;
  /**
   * Tries the address, the key and the name of the model, without a turn. Absent: nothing can be
   * tried. An error that it throws is a failure of the whole driver.
   */
  probe?(config: Config, signal: AbortSignal): Promise<readonly TryResult[]>;
}

/** Declares an agent driver, for packages named in the config. */
export function defineAgent<Config>(driver: AgentDriver<Config>): AgentDriver<Config> {
  return driver;
}
