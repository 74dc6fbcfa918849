/** Checks of judges that are never asked, or whose answers cannot count. */
import {
  allRoomLevels,
  type EarshotConfig,
  judgesOf,
  pathText,
} from "../../domain/config/index.ts";
import { isSessionKey, parseSessionKey } from "../../domain/key.ts";
import type { ConfigCheck, Findings } from "./check.ts";

type Level = Partial<Pick<EarshotConfig, "engagement" | "context">>;

interface Place {
  readonly path: readonly (string | number)[];
  /** What holds there, the most general first, its own last. */
  readonly levels: readonly Level[];
}

/** Every level that may set a judge or the context buffer, with the levels that it overrides. */
function placesIn(config: EarshotConfig): readonly Place[] {
  const agents = config.agents.list.map((agent, index) => ({
    path: ["agents", "list", index],
    levels: [config, agent] as Level[],
  }));
  const all = allRoomLevels(config);
  const rooms = all.map(({ path, level }) => {
    const [name = "", key = ""] = path;
    const agentId = name === "conversations" && isSessionKey(key) && parseSessionKey(key).agentId;
    const agent = config.agents.list.find(({ id }) => id === agentId);
    const above = all.filter(
      (other) =>
        other.path.length < path.length && other.path.every((step, index) => step === path[index]),
    );
    const own = [...(agent === undefined ? [] : [agent]), ...above.map((one) => one.level), level];
    return { path, levels: [config, ...own] as Level[] };
  });
  return [{ path: [], levels: [config] }, ...agents, ...rooms];
}

/** The buffer that holds at a place, as the conversations there have it. */
function bufferOf(levels: readonly Level[]): number {
  const last = (name: "size" | "historyLimit") =>
    levels.findLast(({ context }) => context?.[name] !== undefined)?.context?.[name] ?? 0;
  return last("historyLimit") === 0 ? 0 : last("size");
}

/** A judge decides lines that are kept as context: where none is, it is of no use. */
function* withoutContext(config: EarshotConfig): Findings {
  for (const { path, levels } of placesIn(config)) {
    const own = levels.at(-1);
    const sets = { judge: own?.engagement?.judge, context: own?.context };
    const judge = levels.findLast(({ engagement }) => engagement?.judge !== undefined);
    const hasJudge = (judge?.engagement?.judge ?? null) !== null;
    const size = bufferOf(levels);
    if (!hasJudge || size > 1 || (sets.judge === undefined && sets.context === undefined)) continue;
    yield {
      at: pathText([...path, ...(sets.judge ? ["engagement", "judge"] : ["context"])]),
      wrong:
        size === 0
          ? "the judge is never asked: it decides on messages kept as context, and none are kept"
          : "the judge sees only the message it is asked about",
      fix: "set context.size to 12 or more, or the judge to null",
    };
  }
}

/** `{"engage":true,"confidence":0.95,"why":"…"}` has about so many tokens. */
const answerTokens = 32;

export const judgeChecks: readonly ConfigCheck[] = [
  { id: "judge.no-context", kind: "mistake", level: "warning", find: withoutContext },
  {
    id: "judge.short-answer",
    kind: "mistake",
    level: "warning",
    *find(config) {
      for (const { path, judge } of judgesOf(config)) {
        const { maxOutputTokens: tokens } = judge as { readonly maxOutputTokens?: unknown };
        if (judge.kind === "model" && typeof tokens === "number" && tokens < answerTokens)
          yield {
            at: pathText([...path, "maxOutputTokens"]),
            wrong: `an answer is cut off at ${tokens} tokens, and a cut answer does not count`,
            fix: `set it to ${answerTokens * 4} or more, or leave it out`,
          };
      }
    },
  },
  {
    id: "judge.no-budget",
    kind: "mistake",
    level: "warning",
    *find(config) {
      for (const { path, judge } of judgesOf(config))
        for (const name of ["perMinuteMax", "perDayMax"] as const)
          if (judge[name] === 0)
            yield {
              at: pathText([...path, name]),
              wrong: "the judge is never asked",
              fix: "set it above 0, or the judge to null",
            };
    },
  },
];
