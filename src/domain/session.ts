/**
 * What an agent remembers of a conversation, and its settings there: one transcript and a few
 * settings for each session key. A reset begins a new session and archives the old one; the
 * settings carry over. Where settings differ from the config, an authorised person set them in the
 * room.
 */
import type { Millis } from "./message.ts";
import type { ExecSettings } from "./permission.ts";
import type { SessionOverride } from "./settings.ts";

export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];
export const verboseLevels = ["off", "on", "full"] as const;
/** How tool steps are shown, in one status message: not at all, by name, with their input. */
export type VerboseLevel = (typeof verboseLevels)[number];
export const reasoningLevels = ["off", "on", "stream"] as const;
/** How reasoning is shown: not at all, as a message before the answer, live in the draft. */
export type ReasoningLevel = (typeof reasoningLevels)[number];
export const elevatedLevels = ["off", "ask", "full"] as const;
export type ElevatedLevel = (typeof elevatedLevels)[number];
export const usageLevels = ["off", "tokens", "full"] as const;
/** What is said below an answer of what it used: nothing, tokens, tokens with cost and time. */
export type UsageLevel = (typeof usageLevels)[number];
export const ttsLevels = ["on", "off"] as const;
/** Whether answers are also spoken, where the config names a speech program. */
export type TtsLevel = (typeof ttsLevels)[number];

/** Null values: as the agent is configured. */
export interface SessionSettings {
  readonly model: string | null;
  readonly thinking: ThinkingLevel | null;
  readonly verbose: VerboseLevel | null;
  readonly reasoning: ReasoningLevel | null;
  readonly elevated: ElevatedLevel | null;
  readonly usage: UsageLevel | null;
  /** Permissions of its agent. */
  readonly exec: ExecSettings;
  readonly tts: TtsLevel | null;
  readonly override: SessionOverride;
}

export const defaultSessionSettings: SessionSettings = {
  model: null,
  thinking: null,
  verbose: null,
  reasoning: null,
  elevated: null,
  usage: null,
  exec: {},
  tts: null,
  override: {},
};

/** What an agent's turns show and may do where neither the session nor a message says otherwise. */
export interface LevelDefaults {
  readonly verboseDefault: VerboseLevel;
  readonly reasoningDefault: ReasoningLevel;
  readonly elevatedDefault: ElevatedLevel;
  readonly usageDefault: UsageLevel;
}

/** The settings of one turn: its levels are known. */
export interface TurnSettings extends SessionSettings {
  readonly verbose: VerboseLevel;
  readonly reasoning: ReasoningLevel;
  readonly elevated: ElevatedLevel;
  readonly usage: UsageLevel;
}

/** The settings of a session with its agent's levels where it sets none. */
export function withDefaults(settings: SessionSettings, agent: LevelDefaults): TurnSettings {
  return {
    ...settings,
    verbose: settings.verbose ?? agent.verboseDefault,
    reasoning: settings.reasoning ?? agent.reasoningDefault,
    elevated: settings.elevated ?? agent.elevatedDefault,
    usage: settings.usage ?? agent.usageDefault,
  };
}

/** A turn that shows only its answer and may do nothing beyond it. */
export const plainTurnSettings: TurnSettings = {
  ...defaultSessionSettings,
  verbose: "off",
  reasoning: "off",
  elevated: "off",
  usage: "off",
};

/** A change of settings. Absent: unchanged; null: back to the config. */
export interface SessionPatch extends Partial<Omit<SessionSettings, "override" | "exec">> {
  readonly exec?: ExecSettings | null;
  readonly override?: {
    readonly queue?: SessionOverride["queue"] | null;
    readonly send?: SessionOverride["send"] | null;
    readonly activation?: SessionOverride["activation"] | null;
  };
}

/** Applies a change to settings. */
export function patchedSettings(
  before: SessionSettings,
  { override, exec, ...levels }: SessionPatch,
): SessionSettings {
  const changed = Object.entries(levels).filter(([, value]) => value !== undefined);
  return {
    ...before,
    ...(Object.fromEntries(changed) as Partial<SessionSettings>),
    exec: exec === undefined ? before.exec : exec === null ? {} : { ...before.exec, ...exec },
    override: override === undefined ? before.override : mergeOverride(before.override, override),
  };
}

function mergeOverride(
  before: SessionOverride,
  { queue: queuePatch, ...levels }: NonNullable<SessionPatch["override"]>,
): SessionOverride {
  const { send = before.send, activation = before.activation } = levels;
  const queue = queuePatch === null ? {} : { ...before.queue, ...queuePatch };
  return {
    ...(Object.keys(queue).length === 0 ? {} : { queue }),
    ...(send === undefined || send === null ? {} : { send }),
    ...(activation === undefined || activation === null ? {} : { activation }),
  };
}

/** A turn's settings with the levels that one message asks for. */
export function withLevels(settings: TurnSettings, levels: TurnLevels): TurnSettings {
  return { ...settings, ...levels, exec: { ...settings.exec, ...levels.exec } };
}

/** Levels a message sets for the one turn that answers it, over the session's settings. */
export type TurnLevels = Partial<
  Pick<TurnSettings, "thinking" | "verbose" | "reasoning" | "elevated" | "exec">
>;

/** Describes each level: `thinking high`, `exec security=full ask=off`. */
export function levelWords({ exec, ...levels }: TurnLevels): string[] {
  const pairs = Object.entries(exec ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    ...Object.entries(levels).map(([name, level]) => `${name} ${level}`),
    ...(pairs.length === 0 ? [] : [`exec ${pairs.join(" ")}`]),
  ];
}

export interface SessionUsage {
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** As reported by the agent. */
  readonly costUsd: number;
}

export const noUsage: SessionUsage = { turns: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

export interface Session {
  readonly sessionId: string;
  /** Session key. */
  readonly key: string;
  readonly agentId: string;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  readonly settings: SessionSettings;
  readonly usage: SessionUsage;
  /** The last run was aborted or lost. */
  readonly abortedLastRun: boolean;
  /** When a reset archived it; null: in use. */
  readonly archivedAt: Millis | null;
}

export type TranscriptRole = "user" | "assistant" | "summary" | "note";

/** A part of an answer that did not reach the room, as far as is known. */
export interface UnsentPart {
  readonly part: number;
  readonly status: "expired" | "dead" | "in-doubt";
}

/** One line of a transcript, as written to the session's file (docs/guide/sessions.md). */
export interface TranscriptLine {
  /** Increases over all sessions of a store. */
  readonly id: number;
  readonly sessionId: string;
  readonly at: Millis;
  readonly turnId: string;
  readonly role: TranscriptRole;
  readonly text: string;
  /** User lines: the author and the platform's message id. */
  readonly author?: { readonly id: string; readonly name: string };
  readonly messageId?: string;
  /** Agent's lines: the number of the part, as in the ids of the outbox. */
  readonly part?: number;
  /** The note that ends a turn: the parts of its answer that did not arrive. */
  readonly unsent?: readonly UnsentPart[];
  /** What the agent reported at its end. */
  readonly usage?: Omit<SessionUsage, "turns">;
  /** The agent no longer gets the session's lines up to this number; this line replaces them. */
  readonly covers?: number;
}
