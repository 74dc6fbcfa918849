/**
 * Chips and faces
 * ===============
 * The decision chip: glyph, decision, rule. Engage is tinted and bold; observe has no background,
 * because most messages are observed and should recede. Faces: circles are people, rounded squares
 * are bots, the filled square is our agent.
 */
import type { Decision, Rule } from "../../../src/domain/decision.ts";
import { initials } from "../lib/sanitize.ts";
import { Icon } from "./icons.tsx";

interface ChipProps {
  readonly decision: Decision;
  readonly rule: Rule;
  /** Says more than the rule: which command it was. */
  readonly word?: string;
  /** In place of the decision, where there is none yet. */
  readonly title?: string;
}

/** A decision with its rule. For admission the rule repeats the decision, so it is left out. */
export function Chip({ decision, rule, word, title = decision }: ChipProps) {
  const said = word ?? (rule === decision ? null : rule);
  return (
    <span class={`chip ${decision}`}>
      <Icon name={decision} />
      <b>{title}</b>
      {said !== null && <span class="rule">{said}</span>}
    </span>
  );
}

export type FaceKind = "person" | "bot" | "agent";

interface FaceProps {
  readonly name: string;
  readonly kind: FaceKind;
  readonly big?: boolean;
}

/** Two initials in a big face, one in a small one. */
export function Face({ name, kind, big = false }: FaceProps) {
  const letters = initials(name, big ? 2 : 1);
  return (
    <span class={`face ${kind} ${big ? "big" : ""}`} aria-hidden="true">
      {letters}
    </span>
  );
}
