/**
 * The agent port
 * ==============
 * An agent takes one turn at a time and answers with a stream of events. It is untrusted: its
 * events pass a schema, its bytes and its time are bounded by the turn runner, and it has no field
 * for a destination. Drivers live in `adapters/agents` and honour the signal within 1 s.
 */
import { z } from "zod";
import type { Rule } from "../decision.ts";
import { limits } from "../limits.ts";
import type { ChatKind, Millis } from "../message.ts";
import type { PermissionAnswer, PermissionPolicy, PermissionRequest } from "../permission.ts";
import type { ThinkingLevel } from "../session.ts";

const text = z.string().max(limits.agentEventUnitsMax);

export const agentEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text }),
  z.object({ type: z.literal("reasoning"), text }),
  z.object({ type: z.literal("tool-start"), name: z.string().max(256), input: z.unknown() }),
  z.object({ type: z.literal("tool-end"), name: z.string().max(256), ok: z.boolean() }),
  z.object({ type: z.literal("message-end") }),
  z.object({
    type: z.literal("usage"),
    inputTokens: z.number().int().min(0),
    outputTokens: z.number().int().min(0),
    costUsd: z.number().min(0).optional(),
  }),
  z.object({ type: z.literal("error"), message: text, retryable: z.boolean().default(false) }),
]);
/** One event of an agent's answer. `text` and `reasoning` are deltas. */
export type AgentEvent = z.infer<typeof agentEventSchema>;

export interface TranscriptEntry {
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly at: Millis;
}

/** Live state of the room, for agents that speak about it (the built-in guide). */
export interface RoomReport {
  readonly chatKind: ChatKind;
  /** Why this turn happened: the decisions on the batch. */
  readonly because: readonly { readonly author: string; readonly rule: Rule }[];
  /** How many messages were heard without answering since the last turn. */
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

/** A picture of the batch, for agents that take pictures. */
export interface AgentImage {
  readonly mime: string;
  /** Made for people, never a path. */
  readonly name: string;
  readonly data: Uint8Array;
}

export interface AgentTurn {
  readonly turnId: string;
  readonly attempt: number;
  readonly agentId: string;
  readonly agentName: string;
  readonly sessionKey: string;
  /** Fixed by the config. Never holds a label or a word from a room. */
  readonly system: string;
  /** The composed user turn (machines/prompt.ts). */
  readonly prompt: string;
  /** Nobody asked for this turn: the prompt says what to look after. */
  readonly heartbeat?: true;
  /** The batch's own words, joined by newlines, without envelopes. */
  readonly said: string;
  readonly transcript: readonly TranscriptEntry[];
  readonly room: RoomReport;
  /** Pictures of the batch, in order; empty for agents that cannot take them. */
  readonly images: readonly AgentImage[];
  /** Another model of the same provider for this turn; null: as configured. */
  readonly model: string | null;
  readonly thinking: ThinkingLevel;
  /** What it may do that it asks permission for; left out: as its driver is configured. */
  readonly permissions?: PermissionPolicy;
  readonly tools: readonly ToolDescription[];
  /**
   * Pictures that tools have fetched since this was last called, for agents that take pictures: they
   * belong to the next step.
   */
  takePictures?(): readonly AgentImage[];
  /** Runs one of `tools`. Resolves to what the agent is told; refusals are told, not thrown. */
  callTool(name: string, input: unknown): Promise<string>;
  /** Puts something before an owner. Left out, or at the end of the turn: refused. */
  askOwner?(request: PermissionRequest): Promise<PermissionAnswer>;
}

export interface AgentCapabilities {
  readonly steer: boolean;
  readonly tools: boolean;
  readonly images: boolean;
}

export interface AgentPort {
  readonly capabilities: AgentCapabilities;
  /** Runs one turn. Ends when the answer is complete; throws or yields `error` when it failed. */
  run(turn: AgentTurn, options: { readonly signal: AbortSignal }): AsyncIterable<AgentEvent>;
  /** Adds text to the running turn at its next step boundary. False: too late. */
  steer?(turnId: string, text: string): boolean;
  /** Frees what the driver holds (subprocesses, sockets). */
  close?(): Promise<void>;
}

/** What a driver is given when it is opened in a host. */
export interface AgentContext<Config> {
  readonly agentId: string;
  readonly agentName: string;
  /** The agent's folder as configured, `~` and all; it need not exist. */
  readonly workspace?: string;
  readonly config: Config;
  readonly now: () => Millis;
  /** Sleeps on the runtime's clock (virtual in simulations). Rejects with the signal's reason. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A driver: its config schema joins the config file's schema under `agents.list[].driver`. */
export interface AgentDriver<Config = unknown> {
  readonly kind: string;
  readonly configSchema: z.ZodType<Config>;
  open(context: AgentContext<Config>): AgentPort | Promise<AgentPort>;
}

/** Declares an agent driver (for packages named in the config). */
export function defineAgent<Config>(driver: AgentDriver<Config>): AgentDriver<Config> {
  return driver;
}
