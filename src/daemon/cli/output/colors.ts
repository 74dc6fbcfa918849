/**
 * Colours mean the same on a terminal as on the pages: green, grey, red, magenta and cyan are
 * decisions, yellow is a warning. Everything else has the colour of text.
 */
import type pico from "picocolors";
import type { Decision } from "../../../domain/decision.ts";

/** Functions that colour a text, or return it unchanged. */
export type Paint = ReturnType<typeof pico.createColors>;
export type Ink = (text: string) => string;

/** The colour of each decision. */
export function decisionInks(paint: Paint): Readonly<Record<Decision, Ink>> {
  const { green, dim, red, magenta, gray, cyan } = paint;
  return {
    engage: green,
    observe: dim,
    denied: red,
    claim: magenta,
    duplicate: gray,
    command: cyan,
  };
}

/** Green: good; yellow: needs attention; red: bad. */
export function stateInk(paint: Paint, state: string): Ink {
  if (["live", "ready", "yes", "sent", "replied"].includes(state)) return paint.green;
  if (["halted", "broken", "dead", "failed", "undelivered", "no"].includes(state)) return paint.red;
  if (["backing-off", "restarting", "in-doubt", "expired", "partly", "waiting"].includes(state))
    return paint.yellow;
  return (text) => text;
}
