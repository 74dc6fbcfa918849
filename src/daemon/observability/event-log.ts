/**
 * Writes the event stream to the log: one line for each decision and each turn, and every failure.
 * Texts are left out unless the config sets `log.showText`. With tracing, a line names its trace.
 */
import type { Log } from "../../domain/ports/index.ts";
import type { Outcome, StreamLine } from "../../domain/stream.ts";
import { tagged } from "../events/event-kinds.ts";
import type { Traces } from "./traces.ts";

/** Outcomes that somebody may have to look into. */
const wanting: ReadonlySet<Outcome> = new Set(["partly", "undelivered", "failed"]);

/** A listener that writes the log. `traces` must have received the line before. */
export function logReader(
  log: Log,
  showText: () => boolean,
  traces: Pick<Traces, "idOf"> | null = null,
): (line: StreamLine) => void {
  const traceOf = (line: StreamLine) => {
    const id = traces?.idOf(line);
    return id === undefined ? {} : { trace_id: id };
  };
  return (event) => {
    const { kind, line } = tagged(event);
    if (kind === "decision") {
      const { id, key, decision, rule, credit, channel, author } = line;
      // The intake logs denials itself, at a limited rate.
      if (decision === "denied") return;
      const fields = { key, id, channel, author };
      log("info", "decision", { decision, rule, credit, ...fields, ...traceOf(event) });
    } else if (kind === "agent_end") {
      const { key, turn, outcome, reason, cause } = line;
      const level = wanting.has(outcome) ? "warn" : "info";
      const failure = cause?.kind;
      log(level, "turn", { key, turn, outcome, reason, failure, ...traceOf(event) });
    } else if (kind === "send") {
      const { id, key, channel, status, text } = line;
      const level = status === "sent" ? "debug" : "warn";
      const shownText = showText() ? { text } : {};
      log(level, "send", { id, key, channel, status, ...shownText, ...traceOf(event) });
    } else if (kind === "dropped") {
      log("info", "dropped", { key: line.key, id: line.message, why: line.why });
    }
  };
}
