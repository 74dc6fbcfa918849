/**
 * The prompt of a turn that nobody has asked for, and what becomes of its answer. Most heartbeats
 * have nothing to say: the answer to those is one token, which no room may ever see, nor the small
 * talk that some models put beside it. So the answer is looked at whole, at its end.
 */
import { plainText } from "../../domain/sanitize.ts";
import { createSilence } from "../output/silence.ts";

/** The answer of an agent that found nothing to do. */
export const heartbeatToken = "HEARTBEAT_OK";

export interface HeartbeatPrompt {
  /** What the agent looks after, as its folder has it. */
  readonly instructions: string;
  /** ms since the epoch. */
  readonly at: number;
  /** Unique to the turn. */
  readonly fence: string;
}

/** Composes the user turn of a heartbeat. */
export function composeHeartbeat({ instructions, at, fence }: HeartbeatPrompt): string {
  const time = `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  return [
    `<notice ${fence}>`,
    "**[SYSTEM MESSAGE — not from a human]**",
    `This is a heartbeat: nobody has written to you. It is ${time}.`,
    "Look after what your HEARTBEAT.md says, and after nothing else.",
    `If nothing needs attention, answer with exactly ${heartbeatToken}.`,
    "Whatever else you answer is sent to the people you talk with: say only what they need to know.",
    `</notice ${fence}>`,
    "",
    "## HEARTBEAT.md",
    "",
    `<instructions ${fence}>`,
    plainText(instructions).trim(),
    `</instructions ${fence}>`,
  ].join("\n");
}

/** What may be all of a line that asks for nothing: a heading, a rule, an empty point of a list. */
const askless = /^(?:#.*|[-*+](?:[ \t]+\[[ xX]?\])?|\d{1,9}[.)]|[-=*_](?:[ \t]*[-=*_])*)?$/;

/** Whether the text asks for anything: comments, headings and empty lines do not. */
export function hasInstructions(text: string): boolean {
  return withoutComments(text)
    .split(/[\n\r]/)
    .some((line) => !askless.test(line.trim()));
}

/** Without the text between `<!--` and `-->`; a comment that is not closed goes to the end. */
function withoutComments(text: string): string {
  let kept = "";
  for (let at = 0; ; ) {
    const from = text.indexOf("<!--", at);
    if (from < 0) return kept + text.slice(at);
    kept += text.slice(at, from);
    const to = text.indexOf("-->", from + 4);
    if (to < 0) return kept;
    at = to + 3;
  }
}

/**
 * What is sent of a heartbeat's whole answer; null: nothing. The token is taken off at both ends; an
 * answer that has it and says no more than `ackMaxChars` units besides is an acknowledgement.
 */
export function heartbeatAnswer(answer: string, ackMaxChars: number): string | null {
  const watcher = createSilence({ token: heartbeatToken, mixed: "strip" });
  const shown = watcher.push(answer);
  const { silent, rest } = watcher.end();
  if (silent) return null;
  const said = shown + rest;
  const acknowledges = said.length < answer.length;
  return acknowledges && said.trim().length <= ackMaxChars ? null : said;
}
