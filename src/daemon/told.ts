/**
 * What the log tells of the stream: one line a decision and one a turn, and what goes wrong. Texts
 * are left out unless the config says `log.showText`.
 */
import type { Log } from "../domain/ports.ts";
import type { StreamLine } from "../domain/stream.ts";
import { tagged } from "./lines.ts";

/** A reader of the bus that writes the log. */
export function logReader(log: Log, showText: () => boolean): (line: StreamLine) => void {
  return (told) => {
    const { kind, line } = tagged(told);
    if (kind === "decision") {
      const { id, key, decision, rule, credit, channel, author } = line;
      // The intake tells who was turned away, once in a while and not once a message.
      if (decision === "denied") return;
      log("info", "decision", { decision, rule, credit, key, id, channel, author });
    } else if (kind === "agent_end") {
      const { key, turn, outcome, reason } = line;
      log(outcome === "failed" ? "warn" : "info", "turn", { key, turn, outcome, reason });
    } else if (kind === "send") {
      const { id, key, channel, status, text } = line;
      const level = status === "sent" ? "debug" : "warn";
      log(level, "send", { id, key, channel, status, ...(showText() ? { text } : {}) });
    } else if (kind === "dropped") {
      log("info", "dropped", { key: line.key, id: line.message, why: line.why });
    }
  };
}
