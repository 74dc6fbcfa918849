/**
 * Recorded answers of judges
 * ==========================
 * A recording has what the judge of each conversation answered. A replay uses these answers as long
 * as its config has the same judge for the conversation; another judge was never asked, so its lines
 * are undecided. How sure an answer has to be may differ: the answer says how sure it was.
 */
import { type EarshotConfig, resolveJudge, withoutSecrets } from "../../domain/config/index.ts";
import { parseSessionKey } from "../../domain/key.ts";
import type { Scenario, ScenarioLine } from "../../domain/scenario/scenario.ts";

/** The judge of a conversation as a text, by which judges are compared; empty: there is none. */
export type JudgeNames = (key: string) => string;

/** What runs the judges of a config, without what differs from machine to machine. */
export function judgesIn(config: EarshotConfig): JudgeNames {
  const known = new Map<string, string>();
  let open: EarshotConfig | null = null;
  const nameOf = (key: string): string => {
    open ??= withoutSecrets(config);
    const judge = resolveJudge(open, parseSessionKey(key).agentId, key);
    const { baseDir: _, ...driver } = { baseDir: undefined, ...judge?.driver };
    return judge === null ? "" : JSON.stringify(Object.entries(driver).sort());
  };
  return (key) => {
    const name = known.get(key) ?? nameOf(key);
    known.set(key, name);
    return name;
  };
}

export interface JudgedReplay {
  readonly header: EarshotConfig;
  readonly reading: (config: Readonly<Record<string, unknown>>) => EarshotConfig;
  /** The config of the replay, which takes the place of the recorded ones. */
  readonly instead: EarshotConfig;
}

/** The scenario without the answers of other judges than those of the replay's config. */
export function withOwnAnswers(scenario: Scenario, configs: JudgedReplay): Scenario {
  if (!scenario.kinds.has("judge")) return scenario;
  return { ...scenario, lines: { [Symbol.iterator]: () => ownLines(scenario, configs) } };
}

function* ownLines(
  { lines }: Scenario,
  { header, reading, instead }: JudgedReplay,
): Generator<ScenarioLine> {
  let recorded = judgesIn(header);
  const now = judgesIn(instead);
  for (const line of lines) {
    if ("config" in line) recorded = judgesIn(reading(line.config));
    if (!("judge" in line)) yield line;
    else if (recorded(line.judge.key) === now(line.judge.key)) yield line;
  }
}

/** Whether a scenario has an answer about a message of a conversation. */
export function answeredIn(scenario: Scenario): (key: string | null, id: string) => boolean {
  const answered = new Set<string>();
  const nameOf = (key: string | null, id: string) => JSON.stringify([key, id]);
  if (scenario.kinds.has("judge"))
    for (const line of scenario.lines)
      if ("judge" in line) answered.add(nameOf(line.judge.key, line.judge.id));
  return (key, id) => answered.has(nameOf(key, id));
}
