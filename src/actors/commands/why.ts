/**
 * Explaining a decision
 * =====================
 * `/why`: the decision on a message of this conversation, the fact behind it, and its outcome.
 * Messages of other conversations are not shown.
 */
import { oneLine } from "../../domain/sanitize.ts";
import { levelWords } from "../../domain/session.ts";
import { decodeEvent } from "../protocol/event-codec.ts";
import type { Why } from "../protocol/why.ts";
import { type CommandAbout, type CommandPorts, isOfChat } from "./ports.ts";

/** Newest journal rows, of all conversations, searched for the latest message. */
const lookedBack = 2_000;

export async function whyText(
  ports: CommandPorts,
  wanted: string | undefined,
  about: CommandAbout,
): Promise<string> {
  const id = wanted ?? about.asked.about ?? (await latestMessage(ports, about));
  const answers = id === null ? [] : await ports.why(id);
  const own = answers.findLast(
    ({ key, message }) => key === about.step.key && isOfChat(about, message),
  );
  return own === undefined ? "No such message in this room." : written(own);
}

async function latestMessage({ store }: CommandPorts, about: CommandAbout) {
  const { step } = about;
  const from = await store.numberBefore(step.seq, lookedBack);
  const rows = await store.tail(step.conv, from, step.seq);
  const decided = rows.filter(({ code }) => code !== null && code > 0).reverse();
  for (const row of decided) {
    const event = decodeEvent(row);
    if (event.type !== "message.received") return null;
    if (isOfChat(about, event.message)) return event.message.id;
  }
  return null;
}

/** What somebody says about a decision, after "it". */
export const should = { engage: "should be answered", observe: "should not be answered" } as const;

function written(why: Why): string {
  const { message, recorded, explanation, humans, guard, levels, label, fate } = why;
  const rung = explanation?.rungs.find(({ outcome }) => outcome === "matched");
  const asked = levelWords(levels ?? {});
  const verdict = recorded === null ? "not decided yet" : `${recorded.decision} (${recorded.rule})`;
  return [
    `\`${oneLine(message.id).replaceAll("`", "'")}\`: **${verdict}**`,
    ...(rung === undefined ? [] : [`Because: ${oneLine(rung.fact, 200)}`]),
    ...movedLine(message),
    `Humans: ${humans.count} (${humans.source}); loop guard: ${guard.state}`,
    ...(asked.length === 0 ? [] : [`It asked for: ${asked.join(", ")}`]),
    ...(label === undefined
      ? []
      : [`Label: ${oneLine(label.by)} says it ${should[label.expected]}`]),
    ...outcomeLines(fate),
  ].join("\n");
}

function movedLine({ chat: { id, movedTo } }: Why["message"]): string[] {
  if (movedTo === undefined) return [];
  return [`Room: ${oneLine(id)}, at the platform now ${oneLine(movedTo)}`];
}

function outcomeLines({ turn, outcome, cause, dropped, deliveries }: Why["fate"]): string[] {
  if (dropped !== null) return [`It was dropped: ${dropped}`];
  if (turn === null) return [];
  const sent = deliveries.map(({ status }) => status).join(", ");
  const because = cause === undefined ? "" : ` (${cause.kind})`;
  return [
    `Turn ${turn}: ${outcome ?? "under way"}${because}${sent === "" ? "" : `; sent: ${sent}`}`,
  ];
}
