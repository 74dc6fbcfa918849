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
 * (machines/prompt-escape.ts), so neither a person nor a program mistakes them for ours.
 */
import type { Activation } from "../../domain/decision.ts";
import { limits } from "../../domain/limits.ts";
import type { Attachment, ChatKind, Inbound, Millis } from "../../domain/message.ts";
import { cut } from "../../domain/sanitize.ts";
import { escapeLabel, escapeRoomText } from "./escape.ts";
import { afterAbortNotice, groupNudge, introduction, loopNotice } from "./phrases.ts";

/** An attachment under the name the agent may use, and what is known of what is in it. */
export interface PromptAttachment extends Attachment {
  /** What is in it, in words. */
  readonly content?: { readonly words: string; readonly text: string };
  /** Why it is left out, or what is odd about it. */
  readonly note?: string;
  /** It is the agent's picture of that number, counted from 1. */
  readonly picture?: number;
}

/** A page that a message links to. */
export interface PromptLink {
  readonly url: string;
  readonly title: string | null;
  readonly text: string | null;
  readonly note: string | null;
}

export interface PromptMessage {
  readonly id: string;
  readonly at: Millis;
  readonly author: { readonly name: string; readonly isBot: boolean };
  readonly text: string;
  readonly attachments: readonly PromptAttachment[];
  readonly links?: readonly PromptLink[];
  readonly replyTo: Inbound["replyTo"];
}

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
    readonly participants: readonly string[];
  } | null;
  readonly silentToken: string;
  readonly headings: "sections" | "brackets";
  /** What the operator wants the agent to do with the batch. */
  readonly skills?: readonly { readonly name: string; readonly prompt: string }[];
  /** Unique to the turn, made by the caller from randomness. */
  readonly fence: string;
}

const participantsShownMax = 12;
const quoteUnitsMax = 280;
const droppedUnitsMax = 160;
const noteUnitsMax = 200;
const urlUnitsMax = 300;

const headingsOf = {
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
  const title = room.title === undefined ? "" : ` “${escapeLabel(room.title, fence)}”`;
  const shown = room.participants
    .slice(0, participantsShownMax)
    .map((name) => escapeLabel(name, fence));
  const more = room.participants.length - shown.length;
  if (more > 0) shown.push(`${more} more`);
  const here = shown.length === 0 ? "" : ` Here: ${shown.join(", ")}.`;
  return `Room: ${escapeLabel(room.channel, fence)} ${room.kind}${title}.${here}`;
}

/** A message: one line of ours, then what is said, what is attached, what it answers. */
function envelope(message: PromptMessage, fence: string): string {
  const bot = message.author.isBot ? " (bot)" : "";
  const time = `${new Date(message.at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  const lines = [
    `[id ${escapeLabel(message.id, fence)}, ${time}] ${escapeLabel(message.author.name, fence)}${bot}:`,
  ];
  if (message.text !== "") lines.push(indent(escapeRoomText(message.text, fence)));
  for (const attachment of message.attachments) lines.push(attached(attachment, fence));
  for (const link of message.links ?? []) lines.push(linked(link, fence));
  if (message.replyTo !== null) lines.push(`  ${quote(message.replyTo, fence)}`);
  return lines.join("\n");
}

function quote(parent: NonNullable<PromptMessage["replyTo"]>, fence: string): string {
  const author = parent.authorIsSelf === true ? "you" : (parent.authorName ?? parent.authorId);
  const label = author === undefined ? "" : ` ${escapeLabel(author, fence)}`;
  const id = escapeLabel(parent.id, fence);
  const words =
    parent.text === undefined ? "" : ` “${escapeLine(parent.text, quoteUnitsMax, fence)}”`;
  return `[Replying to${label} id:${id}]${words} [/Replying]`;
}

/** One line of ours about an attachment, then its words, further in. */
function attached(attachment: PromptAttachment, fence: string): string {
  const { id, kind, mime, name, bytes, content, note, picture } = attachment;
  const facts = [kind, mime, name === undefined ? undefined : `“${name}”`]
    .filter((fact) => fact !== undefined)
    .map((fact) => escapeLabel(fact, fence));
  if (bytes !== undefined) facts.push(`${bytes} bytes`);
  if (picture !== undefined) facts.push(`picture ${picture} of this turn`);
  if (note !== undefined) facts.push(escapeLine(note, noteUnitsMax, fence));
  const line = `  [Attachment attachment_id:${escapeLabel(id, fence)}] ${facts.join(", ")}`;
  if (content === undefined) return line;
  return `${line}\n    ${escapeLabel(content.words, fence)}:\n${further(content.text, fence)}`;
}

function linked({ url, title, text, note }: PromptLink, fence: string): string {
  const facts = [
    escapeLine(url, urlUnitsMax, fence),
    ...(title === null ? [] : [`“${escapeLine(title, noteUnitsMax, fence)}”`]),
    ...(note === null ? [] : [escapeLine(note, noteUnitsMax, fence)]),
  ];
  const line = `  [Attachment link] ${facts.join(", ")}`;
  return text === null ? line : `${line}\n${further(text, fence)}`;
}

/** Words that somebody else found in what was sent: as little trusted as what was said. */
function further(text: string, fence: string): string {
  const shown = cut(text, limits.mediaShownUnitsMax);
  const more = shown.length < text.length ? "\n…" : "";
  return indent(indent(indent(`${escapeRoomText(shown, fence)}${more}`)));
}

/** Room text on one line of ours, cut to `unitsMax`. */
function escapeLine(text: string, unitsMax: number, fence: string): string {
  const line = escapeRoomText(cut(text, unitsMax * 4), fence)
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= unitsMax ? line : `${cut(line, unitsMax - 1)}…`;
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
