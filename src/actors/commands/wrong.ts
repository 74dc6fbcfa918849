/**
 * Labelling a decision from a room
 * ================================
 * `/wrong` as a reply to a message: the other decision would have been right. As a reply to an
 * answer of the agent it is about the message that the answer was for.
 */
import type { Expected } from "../../domain/decision.ts";
import { holdsSeveralChats } from "../../domain/key.ts";
import type { EventRow } from "../../domain/ports/index.ts";
import { oneLine } from "../../domain/sanitize.ts";
import { isSame, nameOfMessage } from "../../machines/batching/chats.ts";
import { decisionIn, messageIn } from "../journal/labels.ts";
import { decodeEvent } from "../protocol/event-codec.ts";
import { speakerOf } from "./admin.ts";
import type { CommandAbout, CommandPorts } from "./ports.ts";

/** Journal rows, of all conversations, that are searched at a time for an answer of the agent. */
const searchedRows = 10_000;
const transcriptLinesMax = 1_000;

const unknown = "No such message was decided here.";

export async function wrongText(
  ports: CommandPorts,
  verb: string | undefined,
  about: CommandAbout,
): Promise<string> {
  const { asked, step } = about;
  if (asked.about === null) return "Reply with /wrong to the message, or to my answer.";
  const heard = await decidedHere(ports, asked.about, about);
  const own = heard.findLast(({ conv }) => conv === step.conv);
  if (own === undefined) {
    const found = await answeredBy(ports, asked.about, about);
    if (found === "sibling") return "";
    if (found === null) return unknown;
    return label(ports, found, await decidedHere(ports, found, about), "observe", verb, about);
  }
  const decision = decisionIn(own.code) as Expected;
  const expected = decision === "engage" ? "observe" : "engage";
  if (asked.as !== undefined && asked.called !== true && decision === "observe") {
    // Another agent that answered is meant; where none did, one asks which should have.
    const isEngaged = heard.some(({ code }) => decisionIn(code) === "engage");
    const isFirst = heard.every(({ conv }) => conv >= step.conv);
    if (isEngaged || !isFirst) return "";
    return "Which agent should have answered? Begin with its name, as in `Scout: /wrong`.";
  }
  return label(ports, asked.about, heard, expected, verb, about);
}

/** The rows in which a message of the command's chat was decided, by all agents. */
async function decidedHere(
  { store }: CommandPorts,
  id: string,
  { asked, step }: CommandAbout,
): Promise<readonly EventRow[]> {
  const rows = await store.eventsByMessage(id);
  const decided = rows.filter(({ code }) => decisionIn(code) !== null);
  if (!holdsSeveralChats(step.key)) return decided;
  const here = nameOfMessage({ ...asked.route, id });
  return decided.filter((row) => {
    const message = messageIn(row, true);
    return message !== null && isSame(message.named, here);
  });
}

async function label(
  ports: CommandPorts,
  id: string,
  rows: readonly EventRow[],
  expected: Expected,
  verb: string | undefined,
  about: CommandAbout,
): Promise<string> {
  const { key, conv } = about.step;
  const taken = verb === "undo" ? null : expected;
  const heard = rows.findLast((row) => row.conv === conv && messageIn(row, false)?.heard === true);
  if (heard === undefined) return unknown;
  const { seq } = heard;
  const done = await ports.label({ key, id, seq, expected: taken, by: speakerOf(about) });
  if (done === "unknown") return unknown;
  const name = `\`${oneLine(id, 256).replaceAll("`", "'")}\``;
  if (done === null) return `Undone: ${name} no longer has a label.`;
  return expected === "engage"
    ? `Noted: I should have answered ${name}.`
    : `Noted: I should have stayed quiet on ${name}.`;
}

/**
 * The message that an answer of ours was for, or that the answer is another agent's; null: it is no
 * answer. Reads the journal backwards, a part at a time.
 */
async function answeredBy(
  { store }: CommandPorts,
  answer: string,
  { step }: CommandAbout,
): Promise<string | "sibling" | null> {
  for (let before = step.seq; before > 1; before -= searchedRows) {
    const rows = await store.tail(step.conv, Math.max(0, before - searchedRows - 1), before);
    for (const row of rows.reverse()) {
      const turnId = turnOf(row, answer);
      if (turnId === "sibling") return turnId;
      if (turnId !== null) return askedFor(store, turnId);
    }
  }
  return null;
}

/** The turn that this row says to have sent the answer. */
function turnOf(row: EventRow, answer: string): string | "sibling" | null {
  const event = row.code === 0 ? decodeEvent(row) : null;
  if (event?.type === "fellow.spoke" && event.message.id === answer) return "sibling";
  if (event?.type !== "delivery.sent" || !event.messageIds.includes(answer)) return null;
  return event.turnId;
}

/** The newest message that a turn answered; null: it answered none, as a heartbeat does. */
async function askedFor(store: CommandPorts["store"], turnId: string): Promise<string | null> {
  const session = await store.sessionOfTurn(turnId);
  if (session === null) return null;
  const { sessionId } = session;
  const lines = await store.transcript({ sessionId, limit: transcriptLinesMax, newest: true });
  const asked = lines.findLast((line) => line.turnId === turnId && line.role === "user");
  return asked?.messageId ?? null;
}
