/**
 * Stream events for people
 * ========================
 * One event of the stream as one line on a terminal: time, kind in its colour, place, person,
 * reason. Text from a room is sanitised first.
 */

import pc from "picocolors";
import { terminalSafe } from "../../../domain/sanitize.ts";
import type { StreamLine } from "../../../domain/stream.ts";
import { causeText } from "../../../domain/stream.ts";
import { tagged } from "../../events/event-kinds.ts";
import { decisionInks, type Ink, stateInk } from "./colors.ts";

const inks = decisionInks(pc);
const plain: Ink = (text) => text;
const textUnitsMax = 400;
const flat = (text: string) => terminalSafe(text.slice(0, textUnitsMax)).replaceAll("\n", "␊");
const clockTime = (t: number) => new Date(t).toISOString().slice(11, 23);
const tag = (name: string, ink: Ink) => ink(`[${name}]`.padEnd(11));

/** The line for a terminal, without a newline. `texts`: with what people and agents say. */
export function renderLine(line: StreamLine, texts: boolean): string {
  return `${pc.dim(clockTime(line.t))} ${rendered(line, texts)}`;
}

const said = (text: string | undefined, texts: boolean): string =>
  text === undefined ? "" : texts ? `: ${flat(text)}` : pc.dim(` (${text.length} characters)`);

/** A turn without messages belongs to a heartbeat. */
const askedBy = (batch: readonly string[]) =>
  batch.length === 0 ? "a heartbeat" : flat(batch.join(", "));

function rendered(item: StreamLine, texts: boolean): string {
  const { kind, line } = tagged(item);
  switch (kind) {
    case "decision": {
      const credit = line.credit === "none" ? "" : pc.dim(` credit ${line.credit}`);
      const where = line.key ?? `${line.channel ?? "?"} ${line.chat ?? "?"}`;
      const author = line.author === undefined ? "" : ` ${flat(line.author)}`;
      const id = pc.dim(` #${flat(line.id)}`);
      return `${tag(line.decision, inks[line.decision])} ${flat(where)}${author}  ${line.rule}${credit}${id}${said(line.text, texts)}`;
    }
    case "agent_start":
      return `${tag("turn", plain)} ${flat(line.key)}  ${line.turn} for ${askedBy(line.batch)}`;
    case "agent_end": {
      const reason = line.cause === undefined ? (line.reason ?? "") : causeText(line.cause);
      const outcome = stateInk(pc, line.outcome)(line.outcome);
      const why = reason === "" ? "" : `: ${flat(reason)}`;
      return `${tag("turn", plain)} ${flat(line.key)}  ${line.turn} ${outcome}${why}`;
    }
    case "send": {
      const status = stateInk(pc, line.status)(line.status);
      return `${tag("send", plain)} ${flat(line.key)}  ${status}${said(line.text, texts)}`;
    }
    case "dropped":
      return `${tag("dropped", pc.yellow)} ${flat(line.key)}  ${line.why}${pc.dim(` #${flat(line.message)}`)}`;
    case "react":
      return `${tag(line.out, pc.dim)} ${flat(line.chat)}  ${flat(line.emoji)}${pc.dim(` #${flat(line.message)}`)}`;
    case "typing":
      return `${tag("typing", pc.dim)} ${flat(line.chat)}  ${line.on ? "on" : "off"}`;
    case "prompt":
      return `${tag("prompt", pc.dim)} ${flat(line.key)}  turn ${line.turn}${said(line.text, texts)}`;
    case "delta":
      return `${tag("delta", pc.dim)} ${flat(line.key)}  ${flat(line.text.slice(-80))}`;
    case "system": {
      const { t: _, system, ...fields } = line;
      const fieldTexts = Object.entries(fields).map(
        ([name, value]) => `${name}=${flat(String(value))}`,
      );
      return `${tag("system", pc.dim)} ${flat(system)}  ${fieldTexts.join(" ")}`;
    }
  }
}
