/**
 * What may be tuned
 * =================
 * One table names the settings and the values that are tried. A choice has a value for each, and the
 * agent's extra names; its edits are what differs from the given config.
 */
import { type EngagementInput, stickinessModes } from "../decision.ts";
import { floorThreshold } from "../floor.ts";

/** A value of each dimension that applies, and the names besides the agent's own. */
export interface Choice {
  readonly values: Readonly<Record<string, number | string>>;
  readonly aliases: readonly string[];
}

/** A setting, with what it is set to. */
export interface Edit {
  readonly path: readonly (string | number)[];
  readonly before: unknown;
  readonly after: unknown;
}

type Stickiness = EngagementInput["rules"]["stickiness"];
type Values = Choice["values"];

interface Dimension {
  readonly name: string;
  readonly values: readonly (number | string)[];
  readonly of: (stickiness: Stickiness) => number | string;
  readonly settings: (value: number | string) => Readonly<Record<string, unknown>>;
  /** Whether it decides anything beside the values of the dimensions before it. */
  readonly applies: (before: Values) => boolean;
}

/** The table. What a dimension depends on comes before it. */
const dimensions: readonly Dimension[] = [
  {
    name: "mode",
    values: ["off", ...stickinessModes],
    of: ({ enabled, mode }) => (enabled ? mode : "off"),
    settings: (mode) => (mode === "off" ? { enabled: false } : { enabled: true, mode }),
    applies: () => true,
  },
  {
    name: "windowMs",
    values: [60_000, 120_000, 300_000, 900_000, 3_600_000],
    of: ({ windowMs }) => windowMs,
    settings: (windowMs) => ({ windowMs }),
    applies: ({ mode }) => mode !== "off",
  },
  {
    name: "threshold",
    values: [0.3, 0.4, 0.5, 0.6, 0.7],
    of: ({ threshold }) => threshold ?? floorThreshold,
    settings: (threshold) => ({ threshold }),
    applies: ({ mode }) => mode === "floor",
  },
];

/** The choice that a config is. */
export function choiceOf(stickiness: Stickiness, aliases: readonly string[]): Choice {
  let values: Values = {};
  for (const { name, of, applies } of dimensions)
    if (applies(values)) values = { ...values, [name]: of(stickiness) };
  return { values, aliases };
}

/** Every combination of values that decides something, the given config's values among them. */
export function combinations(stickiness: Stickiness): readonly Values[] {
  let all: readonly Values[] = [{}];
  for (const { name, values, of, applies } of dimensions) {
    const tried = [...new Set([of(stickiness), ...values])];
    all = all.flatMap((before) =>
      applies(before) ? tried.map((value) => ({ ...before, [name]: value })) : [before],
    );
  }
  return all;
}

/** The settings of `engagement.stickiness` that a choice sets to something else. */
export function stickinessEdits(
  { values }: Choice,
  stickiness: Stickiness,
): readonly (readonly [name: string, before: unknown, after: unknown])[] {
  const given: Readonly<Record<string, unknown>> = { ...stickiness };
  return dimensions.flatMap(({ name, settings }) =>
    name in values
      ? Object.entries(settings(values[name] as number | string)).flatMap(([key, after]) =>
          given[key] === after ? [] : [[key, given[key], after] as const],
        )
      : [],
  );
}

/** The same values with the judge that the config has, and without it. */
export const withAndWithoutJudge = (values: Values): readonly Values[] => [
  { ...values, judge: "on" },
  { ...values, judge: "off" },
];

/** One text for each choice. */
export const choiceText = ({ values, aliases }: Choice): string =>
  JSON.stringify([values, [...aliases].sort()]);
