/**
 * An event of the stream has no kind field: a kind is recognised by the one field that only it has.
 * That is good in a terminal and bad in code, so only this file checks the fields.
 */
import type {
  AgentEndLine,
  AgentStartLine,
  DecisionLine,
  DeltaLine,
  DroppedLine,
  PromptLine,
  ReactLine,
  SendLine,
  StreamLine,
  SystemLine,
  TypingLine,
} from "../../domain/stream.ts";

export type TaggedLine =
  | { readonly kind: "decision"; readonly line: DecisionLine }
  | { readonly kind: "react"; readonly line: ReactLine }
  | { readonly kind: "typing"; readonly line: TypingLine }
  | { readonly kind: "send"; readonly line: SendLine }
  | { readonly kind: "agent_start"; readonly line: AgentStartLine }
  | { readonly kind: "prompt"; readonly line: PromptLine }
  | { readonly kind: "agent_end"; readonly line: AgentEndLine }
  | { readonly kind: "dropped"; readonly line: DroppedLine }
  | { readonly kind: "delta"; readonly line: DeltaLine }
  | { readonly kind: "system"; readonly line: SystemLine };

const isSystem = (line: StreamLine): line is SystemLine => "system" in line;

/** The line with its kind, for a `switch` or an `if` that narrows. */
export function tagged(line: StreamLine): TaggedLine {
  if (isSystem(line)) return { kind: "system", line };
  if ("decision" in line) return { kind: "decision", line };
  if ("event" in line) return { kind: line.event, line } as TaggedLine;
  if (line.out === "send") return { kind: "send", line };
  return line.out === "typing" ? { kind: "typing", line } : { kind: "react", line };
}

/** The conversation of a line; null: none, or unknown. */
export function keyOf(line: StreamLine): string | null {
  if (isSystem(line)) return null;
  return "key" in line ? line.key : null;
}
