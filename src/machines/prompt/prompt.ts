/**
 * The user turn
 * =============
 * Renders what an agent is shown: our notices, what was said without it, what is addressed to it,
 * in this order, empty parts left out. Everything here is user-turn text; labels of a room never
 * reach the system prompt, and notices do not either, so the system prompt stays the same bytes and
 * stays cached.
 *
 * Text from the room is between fence lines that carry a token nobody in the room can know,
 * indented, under a line of ours that says who, when and which message. They are escaped as well
 * (escape.ts), so neither a person nor a program mistakes them for ours.
 */
import type { Activation } from "../../domain/decision.ts";
import type { ChatKind, Millis } from "../../domain/message.ts";
import { plainText } from "../../domain/sanitize.ts";
import { envelope, escapeLine, type PromptMessage } from "./envelope.ts";
import { escapeLabel } from "./escape.ts";
import { afterAbortNotice, groupNudge, introduction, loopNotice } from "./phrases.ts";

export interface PromptInput {
  /** The guard's notice wins over the nudge: never both. */
  readonly notices: { readonly guard: boolean; readonly nudge: boolean };
  /** Observed messages, oldest first. */
  readonly context: readonly PromptMessage[];
  /** The batch, oldest first. */
  readonly current: readonly PromptMessage[];
  /** Observed messages that are not shown any more. */
  readonly omitted: number;
  /** One line about each message dropped while a turn ran. */
  readonly droppedWhileBusy: readonly string[];
  /** The turn before was cut short. */
  readonly afterAbort: boolean;
  /** First turn of the session. */
  readonly introduce: boolean;
  readonly activation: Activation;
  /** Null where there is nothing to say about the room (a direct chat). */
  readonly room: {
    readonly channel: string;
    readonly kind: ChatKind;
    readonly title?: string;
    /** Title of the thread or topic. */
    readonly topic?: string;
    readonly participants: readonly string[];
  } | null;
  readonly silentToken: string;
  readonly headings: "sections" | "brackets";
  /** What the operator wants the agent to do with the batch. */
  readonly skills?: readonly { readonly name: string; readonly prompt: string }[];
  /** Nobody in the room has asked for this turn: what it is for, and who wants it. */
  readonly asked?: { readonly text: string; readonly by: string; readonly at: Millis };
  /** Unique to the turn, made by the caller from randomness. */
  readonly fence: string;
}

const participantsShownMax = 12;
const droppedUnitsMax = 160;

export const headingsOf = {
  sections: {
    context: "## Recent context (not addressed to you, for awareness only)",
    current: "## Current message(s) (addressed to you)",
  },
  brackets: {
    context: "[Chat messages since your last reply - for context]",
    current: "[Current message - respond to this]",
  },
} as const;

/** Composes the user turn. Linear in the text it is given. */
export function composeTurnPrompt(input: PromptInput): string {
  const headings = headingsOf[input.headings];
  return [
    notice(input),
    contextSection(input, headings.context),
    ...(input.skills ?? []).map(skillSection),
    currentSection(input, headings),
    askedSection(input),
  ]
    .filter((section) => section !== "")
    .join("\n\n");
}

const steeredHeading = "## New message(s) (said while you were at work)";

/** Messages for a turn that runs: as untrusted as those it began with, so wrapped alike. */
export function composeSteered(messages: readonly PromptMessage[], fence: string): string {
  return fenced(
    steeredHeading,
    messages.map((message) => envelope(message, fence)),
    fence,
  );
}

const asideHeading =
  "## Side question (answer it shortly; neither it nor your answer becomes part of the conversation)";

/** A question beside the conversation (`/btw`). */
export function composeAside(message: PromptMessage, fence: string): string {
  return fenced(asideHeading, [envelope(message, fence)], fence);
}

function notice(input: PromptInput): string {
  const lines: string[] = [];
  if (input.introduce) lines.push(introduction(input));
  if (input.afterAbort) lines.push(afterAbortNotice);
  if (input.notices.guard) lines.push(loopNotice(input.silentToken));
  else if (input.notices.nudge) lines.push(groupNudge(input.silentToken));
  if (lines.length === 0) return "";
  return [
    `<notice ${input.fence}>`,
    "**[SYSTEM MESSAGE — not from a human]**",
    ...lines,
    `</notice ${input.fence}>`,
  ].join("\n");
}

/** Written by the operator in the agent's folder, so outside the fence. */
function skillSection({ name, prompt }: NonNullable<PromptInput["skills"]>[number]): string {
  return `## Skill: ${name} (asked for in the message below)\n\n${prompt}`;
}

/** A prompt is not from the room, yet its text is bounded, so that it cannot pass for a notice. */
function askedSection({ asked, fence, silentToken }: PromptInput): string {
  if (asked === undefined) return "";
  const time = `${new Date(asked.at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  return [
    `<notice ${fence}>`,
    "**[SYSTEM MESSAGE — not from a human]**",
    `Nobody in the room has written to you. It is ${time}. You speak up because of the prompt`,
    `below (${escapeLabel(asked.by, fence)}). What you answer is sent to the room. If there is nothing`,
    `to say, answer with exactly ${silentToken}.`,
    `</notice ${fence}>`,
    "",
    "## Prompt",
    "",
    `<prompt ${fence}>`,
    plainText(asked.text).trim(),
    `</prompt ${fence}>`,
  ].join("\n");
}

function contextSection(input: PromptInput, heading: string): string {
  const lines: string[] = [];
  const room = roomLine(input);
  if (room !== "") lines.push(room);
  if (input.omitted > 0) lines.push(omittedLine(input.omitted));
  for (const message of input.context) lines.push(envelope(message, input.fence));
  if (input.droppedWhileBusy.length > 0) lines.push("Left unanswered while you were busy:");
  for (const line of input.droppedWhileBusy)
    lines.push(`  - ${escapeLine(line, droppedUnitsMax, input.fence)}`);
  return lines.length === 0 ? "" : fenced(heading, lines, input.fence);
}

function currentSection(input: PromptInput, headings: { readonly current: string }): string {
  if (input.current.length === 0) return "";
  const lines = input.current.map((message) => envelope(message, input.fence));
  return fenced(headings.current, lines, input.fence);
}

function fenced(heading: string, lines: readonly string[], fence: string): string {
  return [heading, "", `<room-text ${fence}>`, ...lines, `</room-text ${fence}>`].join("\n");
}

function omittedLine(count: number): string {
  return count === 1 ? "… 1 older message omitted" : `… ${count} older messages omitted`;
}

function roomLine({ room, fence }: PromptInput): string {
  if (room === null || room.kind === "direct") return "";
  const { channel, kind, title, topic } = room;
  const named = title === undefined ? "" : ` “${escapeLabel(title, fence)}”`;
  const below = topic === undefined ? "" : `, topic “${escapeLabel(topic, fence)}”`;
  const shown = room.participants
    .slice(0, participantsShownMax)
    .map((name) => escapeLabel(name, fence));
  const more = room.participants.length - shown.length;
  if (more > 0) shown.push(`${more} more`);
  const here = shown.length === 0 ? "" : ` Here: ${shown.join(", ")}.`;
  return `Room: ${escapeLabel(channel, fence)} ${kind}${named}${below}.${here}`;
}
