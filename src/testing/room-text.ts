/**
 * The report of a failed property: one line for each event, with the time, the author, the text and
 * its addressee, followed by what earshot did. Text from a room is shown as one sanitised line.
 */
import type { Why } from "../actors/protocol/why.ts";
import { signedShare } from "../domain/floor.ts";
import { oneLine } from "../domain/sanitize.ts";
import type { StreamLine } from "../domain/stream.ts";
import type { RoomLine } from "./room-line.ts";

type InLine = Extract<RoomLine, { in: unknown }>;

const textUnitsMax = 120;
const quoted = (text: string) => `“${oneLine(text, textUnitsMax)}”`;

/** `1:02:03.004`, without hours where there are none. */
export function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (n: number) => String(n).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  const clock =
    minutes < 60
      ? `${minutes}:${two(seconds % 60)}`
      : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `${clock}.${String(ms % 1_000).padStart(3, "0")}`;
}

/** One line for each scenario line of a room. */
export const formatRoom = (lines: readonly RoomLine[]): string =>
  lines.map((line) => `${formatTime(line.t).padStart(12)}  ${formatLine(line)}`).join("\n");

/** A scenario line as text. */
export function formatLine(line: RoomLine): string {
  if ("in" in line) return formatMessage(line.in);
  if ("edit" in line) return `${oneLine(line.edit.id)} now says ${quoted(line.edit.text)}`;
  if ("delete" in line) return `${oneLine(line.delete.id)} is deleted`;
  if ("reaction" in line) return formatReaction(line.reaction);
  if ("membership" in line) {
    const { humans, bots = 0, truncated } = line.membership;
    const flaw = truncated ? ", and perhaps more" : "";
    return `the member list has ${count(humans, "person", "people")}, ${count(bots, "bot")}${flaw}`;
  }
  if ("agent" in line) return `the agent will ${line.agent.runs.map(formatRun).join("; then ")}`;
  if ("platform" in line) {
    const { send, count: times = 1 } = line.platform;
    return `the platform answers the next ${count(times, "send")} with “${send}”`;
  }
  if ("crash" in line) return `the ${line.crash} is killed`;
  if ("passivate" in line) return "every conversation goes to sleep";
  if ("end" in line) return "time passes";
  if ("config" in line) return "the config changes";
  return oneLine(JSON.stringify({ ...line, t: undefined }), textUnitsMax);
}

const count = (n: number, noun: string, plural = `${noun}s`) => `${n} ${n === 1 ? noun : plural}`;

type Run = Extract<RoomLine, { agent: unknown }>["agent"]["runs"][number];

function formatRun({ afterMs = 0, steps = [] }: Run): string {
  const parts = steps.map((step) => {
    if ("text" in step) return `say ${quoted(step.text)}`;
    if ("reasoning" in step) return "think";
    if ("waitMs" in step) return `take ${step.waitMs} ms`;
    if ("tool" in step) return `use ${oneLine(step.tool)}`;
    if ("messageEnd" in step) return "end the message";
    if ("steer" in step) return "take a steered message";
    return "error" in step ? "fail" : "hang";
  });
  const all = afterMs > 0 ? [`take ${afterMs} ms`, ...parts] : parts;
  return all.length === 0 ? "say nothing" : all.join(", ");
}

function formatReaction({
  id,
  author,
  added = [],
  removed = [],
}: Extract<RoomLine, { reaction: unknown }>["reaction"]): string {
  const changes = [...added.map((one) => `+${one}`), ...removed.map((one) => `-${one}`)];
  return `${oneLine(author.id)} reacts to ${oneLine(id)}: ${oneLine(changes.join(" "))}`;
}

function formatMessage(message: InLine["in"]): string {
  const { id, author, text = "", mentions = [], replyTo, thread, chat } = message;
  const mentioned = mentions.map(({ id, isSelf }) => (isSelf ? "the agent" : id));
  const marks = [
    mentioned.length === 0 ? "" : `mentions ${mentioned.map((id) => oneLine(id)).join(", ")}`,
    message.mentionsEveryone ? "mentions everyone" : "",
    replyTo
      ? `replies to ${replyTo.authorIsSelf ? "the agent" : oneLine(replyTo.authorId ?? "?")}`
      : "",
    thread ? `in thread ${oneLine(thread.id)}` : "",
    chat.kind === "direct" ? "directly" : "",
  ].filter((mark) => mark !== "");
  const bot = author.isBot ? " (bot)" : "";
  const sender = `${oneLine(id)} ${oneLine(author.id)}${bot}`;
  return `${sender}: ${quoted(text)}${marks.length === 0 ? "" : `, ${marks.join(", ")}`}`;
}

/** What earshot did, as a reader of a room wants to see it; null: a detail. */
export function formatOutcome(line: StreamLine): string | null {
  if ("system" in line) return null;
  if ("decision" in line) {
    const credit = line.credit === "none" ? "" : `, credit ${line.credit}`;
    return `  ${line.decision} (${line.rule}${credit})`;
  }
  if ("out" in line) {
    if (line.out !== "send") return null;
    const status = line.status === "sent" ? "" : ` (${line.status})`;
    const to = line.replyTo === null ? "" : ` to ${oneLine(line.replyTo)}`;
    return `  earshot${to}: ${quoted(line.text)}${status}`;
  }
  switch (line.event) {
    case "agent_start":
      return `  turn ${line.turn} begins, for ${line.batch.map((id) => oneLine(id)).join(", ")}`;
    case "agent_end":
      return line.outcome === "replied" ? null : `  turn ${line.turn} ends: ${line.outcome}`;
    case "dropped":
      return `  ${oneLine(line.message)} is dropped: ${oneLine(line.why)}`;
    default:
      return null;
  }
}

/** Why a message was decided as it was: the ladder down to the matching rung. */
export function formatExplanation({
  message,
  recorded,
  explanation,
  admission,
  humans,
  guard,
}: Why): string {
  const verdict = recorded === null ? "not decided" : `${recorded.decision} (${recorded.rule})`;
  const rungs = (explanation?.rungs ?? [])
    .filter(({ outcome }) => outcome !== "not-reached")
    .flatMap(({ rule, outcome, fact, shares = [] }) => {
      const mark = outcome === "matched" ? "●" : "○";
      const weighed = shares.map(
        ({ fact, share }) =>
          `${" ".repeat(24)}${signedShare(share)} ${oneLine(fact, textUnitsMax)}`,
      );
      return [`  ${mark} ${rule.padEnd(19)} ${oneLine(fact, textUnitsMax)}`, ...weighed];
    });
  const admitted = admission === undefined ? [] : [`  ${oneLine(admission, textUnitsMax)}`];
  const counted = `  ${count(humans.count, "person", "people")} (${humans.source}), guard ${guard.state}`;
  return [`${oneLine(message.id)}: ${verdict}`, ...admitted, ...rungs, counted].join("\n");
}
