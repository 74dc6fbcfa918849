/**
 * The judges of a config, at every level: the top, agents, channels, accounts, groups, topics and
 * conversations.
 */
import type { JudgeConfig } from "../conversation/judge.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { isPlain } from "./overlay.ts";

/** Where a config has a judge. */
export interface PlacedJudge {
  readonly path: readonly PropertyKey[];
  /** The section that has it. */
  readonly holder: { judge?: JudgeConfig | null | undefined };
  readonly judge: JudgeConfig;
}

/** Every judge, in the order of the config. */
export function judgesOf(config: EarshotConfig): readonly PlacedJudge[] {
  return [...below(config, [])];
}

function* below(value: unknown, path: readonly PropertyKey[]): Generator<PlacedJudge> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* below(item, [...path, index]);
    return;
  }
  if (!isPlain(value)) return;
  for (const [name, item] of Object.entries(value)) {
    const at = [...path, name];
    const isJudge = name === "judge" && path.at(-1) === "engagement" && isPlain(item);
    if (isJudge)
      yield { path: at, holder: value as PlacedJudge["holder"], judge: item as JudgeConfig };
    else yield* below(item, at);
  }
}
