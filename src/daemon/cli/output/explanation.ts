/**
 * A decision explained, for a terminal
 * ====================================
 * The decision, every rung of the ladder with its fact, the counted people, and the outcome of the
 * message. Marks differ in shape as well as in colour: ● matched, ○ no match, · not reached.
 */

import pico from "picocolors";
import type { TurnFacts, Why } from "../../../actors/protocol/why.ts";
import type { Rung, Verdict } from "../../../domain/decision.ts";
import { signedShare } from "../../../domain/floor.ts";
import type { Millis } from "../../../domain/message.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { levelWords } from "../../../domain/session.ts";
import { causeText } from "../../../domain/stream.ts";
import { wrapText } from "./wrap.ts";

type Paint = ReturnType<typeof pico.createColors>;

const textUnitsMax = 240;
const labelUnits = 9;
const ruleUnits = 20;
/** Width of tier, mark and blank before the rule. */
const rungMarkUnits = 5;

/** Renders the answers of `why`, one block for each agent that received the message. */
export function renderWhy(
  answers: readonly Why[],
  { columns, colour }: { readonly columns: number; readonly colour: boolean },
): string {
  const paint = pico.createColors(colour);
  return answers.map((why) => renderAnswer(why, paint, columns)).join("\n\n");
}

function renderAnswer(why: Why, paint: Paint, columns: number): string {
  const rowsOf = (text: string, hang: number) => wrapText(text, { columns, hang });
  const parts = [rowsOf(head(why, paint), 0), rowsOf(verdictLine(why, paint), 0)];
  if (why.explanation !== null)
    parts.push(rowsOf(ladder(why.explanation.rungs, paint), ruleUnits + rungMarkUnits));
  if (why.key !== "") parts.push(rowsOf(circumstances(why), labelUnits + 1));
  return parts.join("\n\n");
}

function head({ message, at, key }: Why, paint: Paint): string {
  const bot = message.author.isBot ? " (bot)" : "";
  const where = key === "" ? oneLine(message.chat.id) : oneLine(key, textUnitsMax);
  const author = `${paint.bold(oneLine(message.author.name))}${bot} in ${where}, ${timeText(at)}`;
  const text = message.text === "" ? "" : `\n“${oneLine(message.text, textUnitsMax)}”`;
  return `${oneLine(message.id)}  ${author}${text}`;
}

function timeText(at: Millis): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function verdictText({ decision, rule, credit }: Verdict, paint: Paint): string {
  const ink = decision === "engage" ? paint.green : decision === "denied" ? paint.red : paint.bold;
  const note = credit === "none" ? "" : ` (credit ${credit})`;
  return `${ink(decision)} by ${paint.bold(rule)}${note}`;
}

function verdictLine({ recorded, explanation, admission, ordered }: Why, paint: Paint): string {
  if (ordered === "text") return "a text of the operator or the schedule: sent as it is";
  if (ordered === "prompt")
    return "a prompt of the operator or the schedule: a turn as soon as nobody waits";
  if (recorded === null) return "not decided yet";
  const lines = [verdictText(recorded, paint)];
  if (admission !== undefined && admission !== "") lines.push(oneLine(admission, textUnitsMax));
  if (recorded.rule === "loop-guard")
    lines.push("The loop guard was muted: peer bots are observed until a person speaks.");
  const now = explanation?.verdict;
  if (now !== undefined && (now.rule !== recorded.rule || now.decision !== recorded.decision))
    lines.push(`The rules have changed since: now it would be ${verdictText(now, paint)}.`);
  return lines.join("\n");
}

function ladder(rungs: readonly Rung[], paint: Paint): string {
  let tier = 0;
  return rungs
    .flatMap((rung) => {
      const number = rung.tier === tier ? " " : String(rung.tier);
      tier = rung.tier;
      const line = `${mark(rung)} ${rung.rule.padEnd(ruleUnits)} ${rung.fact}`;
      const shares = (rung.shares ?? []).map(
        ({ fact, share }) =>
          `${" ".repeat(ruleUnits + rungMarkUnits)}${signedShare(share)}  ${fact}`,
      );
      return [`${number} ${ink(rung, paint)(line)}`, ...shares.map((one) => paint.dim(one))];
    })
    .join("\n");
}

function mark({ outcome }: Rung): string {
  if (outcome === "matched") return "●";
  return outcome === "passed" ? "○" : "·";
}

function ink({ outcome }: Rung, paint: Paint): (text: string) => string {
  if (outcome === "matched") return paint.bold;
  return outcome === "passed" ? (text) => text : paint.dim;
}

function circumstances(why: Why): string {
  const rows: readonly (readonly [string, string])[] = [
    ...movedText(why.message),
    ["people", `${why.humans.count} (${why.humans.source})`],
    ["spoken", why.participants.map((who) => participantText(who, why.at)).join(", ")],
    ["credits", creditsText(why)],
    ["held", why.held.map((author) => nameOf(why, author)).join(", ")],
    ["guard", guardText(why.guard)],
    ...(why.label === undefined ? [] : [["label", labelText(why.label)] as const]),
    ...(why.judgement === undefined
      ? []
      : ([
          ["judge", judgementText(why.judgement)],
          ["cost", judgeCostText(why.judgement, why.at)],
        ] as const)),
    ...(why.levels === undefined ? [] : [["asked", levelWords(why.levels).join(", ")] as const]),
    ["fate", why.ordered === "text" ? "sent as it is" : outcomeText(why)],
    ...(why.fate.facts === undefined ? [] : [["turn", factsText(why.fate.facts)] as const]),
    ...why.fate.deliveries.map(({ id, status, text, error }) => {
      const because = error === undefined ? "" : `: ${oneLine(error, textUnitsMax)}`;
      const deliveryText = `${oneLine(id)} “${oneLine(text, textUnitsMax)}”${because}`;
      return [oneLine(status, labelUnits), deliveryText] as const;
    }),
  ];
  return rows.map(([label, text]) => `${label.padEnd(labelUnits)} ${text || "none"}`).join("\n");
}

/** What somebody said about the decision by hand. */
function labelText({ expected, by, at }: NonNullable<Why["label"]>): string {
  const should = expected === "engage" ? "should have answered" : "should have stayed quiet";
  return `${should} (${oneLine(by)}, ${timeText(at)})`;
}

/** What the judge said; its words are somebody else's. */
function judgementText({ failed, engage, engaged, ...said }: NonNullable<Why["judgement"]>) {
  const because = said.why === "" ? "" : `: “${oneLine(said.why, textUnitsMax)}”`;
  if (failed !== undefined) return `no answer (${failed})${because}`;
  const sure = `${Math.round(said.confidence * 100)}% sure`;
  if (!engage) return `not for the agent, ${sure}${because}`;
  const left = engaged ? "" : ", which was not sure enough or came too late";
  return `for the agent, ${sure}${left}${because}`;
}

/** How long the judge took, and what it used as far as it says so. */
function judgeCostText({ failed, at, usage }: NonNullable<Why["judgement"]>, askedAt: Millis) {
  if (failed === "budget") return "none: it was not asked";
  const took = `${((at - askedAt) / 1_000).toFixed(1)} s`;
  const { inputTokens = 0, outputTokens = 0, costUsd } = usage ?? {};
  if (inputTokens + outputTokens === 0) return took;
  const paid = costUsd ? `, $${costUsd.toPrecision(2)}` : "";
  return `${took}, ${inputTokens} tokens in, ${outputTokens} out${paid}`;
}

function nameOf({ participants }: Why, author: string): string {
  return oneLine(participants.find(({ id }) => id === author)?.name ?? author);
}

function participantText(participant: Why["participants"][number], at: Millis): string {
  const bot = participant.isBot ? ", bot" : "";
  return `${oneLine(participant.name)} (${ageText(at - participant.lastSeenAt)}${bot})`;
}

function ageText(ms: number): string {
  if (ms < 1_000) return "now";
  if (ms < 60_000) return `${Math.round(ms / 1_000)} s ago`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min ago`;
  return ms < 172_800_000
    ? `${Math.round(ms / 3_600_000)} h ago`
    : `${Math.round(ms / 86_400_000)} d ago`;
}

function creditsText(why: Why): string {
  return Object.entries(why.credits)
    .filter(([, endsAt]) => endsAt > why.at)
    .map(([author, endsAt]) => {
      const seconds = Math.ceil((endsAt - why.at) / 1_000);
      const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      return `${nameOf(why, author)}, ${left} left`;
    })
    .join("; ");
}

function guardText({ state, consecutive }: Why["guard"]): string {
  const turns = consecutive === 1 ? "1 peer-bot turn" : `${consecutive} peer-bot turns`;
  return `${state}, ${turns} since a person spoke`;
}

function movedText({ chat: { id, movedTo } }: Why["message"]) {
  if (movedTo === undefined) return [];
  const text = `${oneLine(id)}, at the platform now ${oneLine(movedTo)}: the group was moved`;
  return [["room", text] as const];
}

function toolText({ name, count, failed, error }: TurnFacts["tools"][number]): string {
  const called = `${oneLine(name)} ${count}`;
  if (failed === undefined) return called;
  const why = error === undefined ? "" : `: ${oneLine(error, textUnitsMax)}`;
  return `${called} (${failed} failed${why})`;
}

function factsText({ firstTextMs, tookMs, usage, tools }: TurnFacts): string {
  const after = (what: string, ms: number | undefined) =>
    ms === undefined ? [] : [`${what} after ${(ms / 1_000).toFixed(1)} s`];
  const called = tools.map(toolText).join(", ");
  const facts = [
    ...after("first text", firstTextMs),
    ...after("ended", tookMs),
    ...(usage === undefined
      ? []
      : [`${usage.inputTokens} tokens in and ${usage.outputTokens} out`]),
    ...(called === "" ? [] : [`tools: ${called}`]),
  ];
  return facts.join(", ") || "under way";
}

function outcomeText({ fate, ordered }: Why): string {
  const { turnId, turn, batch, outcome, cause, dropped } = fate;
  const reason = cause === undefined ? fate.reason : causeText(cause);
  if (turnId === null && dropped === null && ordered === "prompt") return "waits for its turn";
  if (turnId === null) return dropped === null ? "remembered" : `dropped: ${oneLine(dropped)}`;
  const ids = batch.length === 0 ? "no message" : batch.map((id) => oneLine(id)).join(", ");
  const because = reason === undefined ? "" : ` (${oneLine(reason, textUnitsMax)})`;
  return `turn ${turn ?? "?"} (${oneLine(turnId)}) with ${ids}: ${outcome ?? "under way"}${because}`;
}
