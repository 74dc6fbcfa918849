/**
 * Sessions
 * ========
 * What an agent remembers of a conversation, and how it is asked to work there: one transcript and
 * a few settings for each session key. A reset begins a new session and archives the old one; the
 * settings carry over. What here differs from the config was said by somebody with authority.
 */
import type { Millis } from "./message.ts";
import type { ExecSettings } from "./permission.ts";
import type { SessionOverride } from "./settings.ts";

export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];
export const verboseLevels = ["off", "on", "full"] as const;
/** Whether tool steps are shown as one status message: off, their names, or with their input. */
export type VerboseLevel = (typeof verboseLevels)[number];
export const reasoningLevels = ["off", "on", "stream"] as const;
/** Whether reasoning is shown: off, as a message before the answer, or live in the draft. */
export type ReasoningLevel = (typeof reasoningLevels)[number];
export const elevatedLevels = ["off", "ask", "full"] as const;
export type ElevatedLevel = (typeof elevatedLevels)[number];
export const ttsLevels = ["on", "off"] as const;
/** Whether answers are said aloud as well, where the config names a program for it. */
export type TtsLevel = (typeof ttsLevels)[number];

/** Null: as the agent is configured. */
export interface SessionSettings {
  readonly model: string | null;
  readonly thinking: ThinkingLevel | null;
  readonly verbose: VerboseLevel;
  readonly reasoning: ReasoningLevel;
  readonly elevated: ElevatedLevel;
  /** What its agent may do when it asks first. */
  readonly exec: ExecSettings;
  readonly tts: TtsLevel | null;
  readonly override: SessionOverride;
}

export const defaultSessionSettings: SessionSettings = {
  model: null,
  thinking: null,
  verbose: "off",
  reasoning: "off",
  elevated: "off",
  exec: {},
  tts: null,
  override: {},
};

/** A change of settings. Absent: as before; null: as configured. */
export interface SessionPatch extends Partial<Omit<SessionSettings, "override" | "exec">> {
  readonly exec?: ExecSettings | null;
  readonly override?: {
    readonly queue?: SessionOverride["queue"] | null;
    readonly send?: SessionOverride["send"] | null;
    readonly activation?: SessionOverride["activation"] | null;
  };
}

/** The settings after a change. */
export function patchedSettings(
  before: SessionSettings,
  { override, exec, ...levels }: SessionPatch,
): SessionSettings {
  const said = Object.entries(levels).filter(([, value]) => value !== undefined);
  return {
    ...before,
    ...(Object.fromEntries(said) as Partial<SessionSettings>),
    exec: exec === undefined ? before.exec : exec === null ? {} : { ...before.exec, ...exec },
    override: override === undefined ? before.override : merged(before.override, override),
  };
}

function merged(
  before: SessionOverride,
  { queue: said, ...levels }: NonNullable<SessionPatch["override"]>,
): SessionOverride {
  const { send = before.send, activation = before.activation } = levels;
  const queue = said === null ? {} : { ...before.queue, ...said };
  return {
    ...(Object.keys(queue).length === 0 ? {} : { queue }),
    ...(send === undefined || send === null ? {} : { send }),
    ...(activation === undefined || activation === null ? {} : { activation }),
  };
}

/** The settings of a session with what one message asks. */
export function withLevels(settings: SessionSettings, levels: TurnLevels): SessionSettings {
  return { ...settings, ...levels, exec: { ...settings.exec, ...levels.exec } };
}

/** What a message asks of the one turn that answers it; over the session's own settings. */
export type TurnLevels = Partial<
  Pick<SessionSettings, "thinking" | "verbose" | "reasoning" | "elevated" | "exec">
>;

/** Each of them in words: `thinking high`, `exec security=full ask=off`. */
export function levelWords({ exec, ...levels }: TurnLevels): string[] {
  const said = Object.entries(exec ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    ...Object.entries(levels).map(([name, level]) => `${name} ${level}`),
    ...(said.length === 0 ? [] : [`exec ${said.join(" ")}`]),
  ];
}

export interface SessionUsage {
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** As far as the agent told. */
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
  /** Its last run was aborted or lost. */
  readonly abortedLastRun: boolean;
  /** When a reset put it away; null: it is the one in use. */
  readonly archivedAt: Millis | null;
}

export type TranscriptRole = "user" | "assistant" | "summary" | "note";

/** One line of a transcript, as it stands in the session's file (docs/guide/sessions.md). */
export interface TranscriptLine {
  /** Grows over all sessions of a store. */
  readonly id: number;
  readonly sessionId: string;
  readonly at: Millis;
  readonly turnId: string;
  readonly role: TranscriptRole;
  readonly text: string;
  /** Who said it, and the platform's id of the message: user lines. */
  readonly author?: { readonly id: string; readonly name: string };
  readonly messageId?: string;
  /** What the agent reported when it ended. */
  readonly usage?: Omit<SessionUsage, "turns">;
  /**
   * Lines of the session up to this one are not given to the agent any more; this one stands for
   * them.
   */
  readonly covers?: number;
}
