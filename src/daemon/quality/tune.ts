/**
 * Looks for a config that decides better
 * ======================================
 * Tries every combination of the settings of stickiness, then names one by one, and so on until
 * nothing is better. Of those that are as good as the best, but for the standard error over the folds,
 * the one that changes least is chosen. It is measured twice: on all folds, as the other choices are,
 * and by choosing again for each fold on the other four, which says what to expect of rooms that were
 * not there.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { defaultAgentId } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import {
  type Counts,
  type Folds,
  foldsCount,
  foldsOf,
  isBetter,
  isClearlyBetter,
  isReached,
  type Measured,
  measuredOf,
  noCounts,
  type Target,
} from "../../domain/quality/folds.ts";
import type { LabelledRoom } from "../../domain/quality/labelled-room.ts";
import { nameCandidates } from "../../domain/quality/name-candidates.ts";
import {
  type Choice,
  choiceOf,
  choiceText,
  combinations,
  type Edit,
  stickinessEdits,
  withAndWithoutJudge,
} from "../../domain/quality/tuning-space.ts";
import { FoldCounts, type PlayOptions } from "./fold-counts.ts";
import { addedNames, settingsIn } from "./room-settings.ts";
import { linesToDecide } from "./thread-pool.ts";

/** A config that was tried. */
export interface Tried {
  readonly measured: Measured;
  /** What differs from the given config. */
  readonly edits: readonly Edit[];
}

export type JudgeTried = "tried" | "no answers" | "no judge";

export interface Tuned {
  readonly target: Target;
  readonly isReached: boolean;
  readonly folds: Folds["by"];
  readonly given: Tried;
  /**
   * The chosen one, which is the given config when nothing is clearly better, then the best others:
   * they may have higher numbers, by less than the standard error over the folds.
   */
  readonly best: readonly [Tried, ...Tried[]];
  /** What to expect elsewhere: each fold under what the other four would choose. */
  readonly heldOut: Measured;
  /** Whether the judge was tried on and off: it is never asked, so that takes recorded answers. */
  readonly judge: JudgeTried;
  /** Rooms in which the best one may decide differently from the given config. */
  readonly changedRooms: readonly LabelledRoom[];
}

export interface TuneOptions extends PlayOptions {
  readonly target: Target;
  /** Deals rooms into folds. */
  readonly seed: number;
}

const bestShown = 5;
/** Rounds of combinations and names; each begins with the best of the one before. */
const roundsMax = 2;
const namesAddedMax = 3;

/** Decisions that are made at most, for a progress bar. */
export function decisionsToTune(rooms: readonly LabelledRoom[], config: EarshotConfig): number {
  const { length } = valuesToTry(rooms, config);
  return length * rooms.reduce((sum, room) => sum + linesToDecide(room), 0);
}

/** What becomes of the judge: the rooms have to have answers, and the config has to have a judge. */
export function judgeIn(rooms: readonly LabelledRoom[], config: EarshotConfig): JudgeTried {
  const isAnswered = rooms.some(
    ({ agents, lines }) => agents.length === 1 && lines.some(({ judged }) => judged !== undefined),
  );
  if (!isAnswered) return "no answers";
  const [room] = rooms;
  const hasJudge = room !== undefined && settingsIn(room, config).engagement.judge !== undefined;
  return hasJudge ? "tried" : "no judge";
}

function valuesToTry(rooms: readonly LabelledRoom[], config: EarshotConfig) {
  const all = combinations(stickinessOf(rooms, config));
  return judgeIn(rooms, config) === "tried" ? all.flatMap(withAndWithoutJudge) : all;
}

/** @throws EarshotError EAR_SCENARIO_INVALID when no line is meant for an agent. */
export async function tune(
  rooms: readonly LabelledRoom[],
  config: EarshotConfig,
  options: TuneOptions,
): Promise<Tuned> {
  const search = new Search(rooms, config, options);
  try {
    return await search.run();
  } finally {
    await search.close();
  }
}

class Search {
  readonly #config: EarshotConfig;
  readonly #target: Target;
  readonly #folds: Folds;
  readonly #counts: FoldCounts;
  readonly #stickiness: ReturnType<typeof stickinessOf>;
  readonly #values: ReturnType<typeof valuesToTry>;
  readonly #judge: JudgeTried;
  readonly #given: Choice;
  readonly #names: readonly string[];
  readonly #seen = new Map<string, Choice>();
  /** What the present search for a best choice has seen. */
  #tried = new Map<string, Choice>();

  constructor(rooms: readonly LabelledRoom[], config: EarshotConfig, options: TuneOptions) {
    const { target, seed, ...play } = options;
    this.#config = config;
    this.#target = target;
    this.#folds = foldsOf(rooms, seed);
    this.#counts = new FoldCounts(rooms, (room) => settingsIn(room, config), this.#folds, play);
    this.#stickiness = stickinessOf(rooms, config);
    const aliases = addedNames(config);
    this.#values = valuesToTry(rooms, config);
    this.#judge = judgeIn(rooms, config);
    const { values } = choiceOf(this.#stickiness, aliases);
    const asGiven = this.#judge === "tried" ? { ...values, judge: "on" } : values;
    this.#given = { values: asGiven, aliases };
    this.#names = [...new Set([...aliases, ...nameCandidates(rooms, aliases)])];
  }

  async run(): Promise<Tuned> {
    const all = Array.from({ length: foldsCount }, (_, fold) => fold);
    await this.#play([this.#given]);
    if (this.#counts.of(this.#given).every(({ meant }) => meant === 0))
      throw new EarshotError(
        "EAR_SCENARIO_INVALID",
        "Cannot tune: no line of the rooms is meant for an agent. Label some first",
      );
    const chosen = await this.#best(all);
    const heldOut: Counts[] = [];
    for (const fold of all) {
      const there = await this.#best(all.filter((other) => other !== fold));
      heldOut.push(this.#counts.of(there)[fold] ?? noCounts);
    }
    const others = this.#ranked(all, chosen);
    const best = this.#triedOf(chosen);
    return {
      target: this.#target,
      isReached: isReached(this.#target, best.measured),
      folds: this.#folds.by,
      given: this.#triedOf(this.#given),
      best: [best, ...others.map((choice) => this.#triedOf(choice))],
      heldOut: measuredOf(heldOut),
      judge: this.#judge,
      changedRooms: this.#counts.roomsThatDiffer(this.#given, chosen),
    };
  }

  close(): Promise<void> {
    return this.#counts.close();
  }

  async #play(choices: readonly Choice[]): Promise<void> {
    for (const choice of choices) {
      this.#seen.set(choiceText(choice), choice);
      this.#tried.set(choiceText(choice), choice);
    }
    await this.#counts.play(choices);
  }

  /** The choice on these folds that changes least, of those that nothing is clearly better than. */
  async #best(folds: readonly number[]): Promise<Choice> {
    this.#tried = new Map([[choiceText(this.#given), this.#given]]);
    const best = await this.#climb(folds);
    const top = this.#countsOf(best, folds);
    const given = this.#measured(this.#given, folds);
    const near = [...this.#tried.values()].filter((choice) => {
      const counts = this.#countsOf(choice, folds);
      const isRise = isBetter(this.#target, measuredOf(counts), given);
      if (!isRise && this.#changesIn(choice) > 0) return false;
      return !isClearlyBetter(this.#target, top, counts);
    });
    const changes = new Map(near.map((choice) => [choice, this.#changesIn(choice)]));
    const least = Math.min(...changes.values());
    const simplest = near.filter((choice) => changes.get(choice) === least);
    return this.#highest(simplest, folds) ?? best;
  }

  #highest(choices: readonly Choice[], folds: readonly number[]): Choice | undefined {
    let [highest] = choices;
    for (const choice of choices.slice(1))
      if (
        highest !== undefined &&
        isBetter(this.#target, this.#measured(choice, folds), this.#measured(highest, folds))
      )
        highest = choice;
    return highest;
  }

  /** Settings and names that differ from the given config. */
  #changesIn(choice: Choice): number {
    const names = new Set([...choice.aliases, ...this.#given.aliases]);
    const isKept = (name: string) =>
      choice.aliases.includes(name) && this.#given.aliases.includes(name);
    const renamed = [...names].filter((name) => !isKept(name)).length;
    const judged = choice.values.judge === this.#given.values.judge ? 0 : 1;
    return stickinessEdits(choice, this.#stickiness).length + judged + renamed;
  }

  /** The best choice on these folds, however small the difference. */
  async #climb(folds: readonly number[]): Promise<Choice> {
    let best = this.#given;
    for (let round = 0; round < roundsMax; round += 1) {
      const { aliases } = best;
      const all = this.#values.map((values) => ({ values, aliases }));
      best = await this.#betterOf(best, all, folds);
      const named = await this.#withNames(best, folds);
      if (named === best) return best;
      best = named;
    }
    return best;
  }

  /** Adds and drops names, the most useful first. */
  async #withNames(choice: Choice, folds: readonly number[]): Promise<Choice> {
    let best = choice;
    for (let changes = 0; changes < namesAddedMax; changes += 1) {
      const { values, aliases } = best;
      const changed = this.#names.map((name) => ({
        values,
        aliases: aliases.includes(name)
          ? aliases.filter((other) => other !== name)
          : [...aliases, name],
      }));
      const better = await this.#betterOf(best, changed, folds);
      if (better === best) return best;
      best = better;
    }
    return best;
  }

  async #betterOf(
    choice: Choice,
    others: readonly Choice[],
    folds: readonly number[],
  ): Promise<Choice> {
    await this.#play(others);
    return this.#highest([choice, ...others], folds) ?? choice;
  }

  #measured(choice: Choice, folds?: readonly number[]): Measured {
    return measuredOf(this.#countsOf(choice, folds));
  }

  #countsOf(choice: Choice, folds?: readonly number[]): readonly Counts[] {
    const counts = this.#counts.of(choice);
    return folds === undefined ? counts : folds.map((fold) => counts[fold] ?? noCounts);
  }

  /**
   * The best that were tried beside the chosen one; of those with the same numbers the one that
   * changes least.
   */
  #ranked(folds: readonly number[], chosen: Choice): readonly Choice[] {
    const seen = [...this.#seen.values()].map((choice) => ({
      choice,
      measured: this.#measured(choice, folds),
      changes: this.#editsOf(choice).length,
      numbers: JSON.stringify(this.#counts.of(choice)),
    }));
    seen.sort((a, b) => {
      if (isBetter(this.#target, a.measured, b.measured)) return -1;
      if (isBetter(this.#target, b.measured, a.measured)) return 1;
      return a.changes - b.changes;
    });
    const distinct = seen.filter(
      ({ numbers }, index) => seen.findIndex((other) => other.numbers === numbers) === index,
    );
    const numbers = JSON.stringify(this.#counts.of(chosen));
    return distinct
      .filter((one) => one.changes > 0 && one.numbers !== numbers)
      .slice(0, bestShown - 1)
      .map(({ choice }) => choice);
  }

  #triedOf(choice: Choice): Tried {
    return { measured: this.#measured(choice), edits: this.#editsOf(choice) };
  }

  #editsOf(choice: Choice): readonly Edit[] {
    const index = agentIndex(this.#config);
    const { stickiness: own = {}, judge } = this.#config.agents.list[index]?.engagement ?? {};
    const place = (isOwn: boolean) => (isOwn ? ["agents", "list", index] : []);
    const edits: Edit[] = stickinessEdits(choice, this.#stickiness).map(
      ([name, before, after]) => ({
        path: [...place(Object.hasOwn(own, name)), ...["engagement", "stickiness", name]],
        before,
        after,
      }),
    );
    if (choice.values.judge !== this.#given.values.judge) {
      const path = [...place(judge !== undefined), "engagement", "judge"];
      // Its options may hold secrets.
      edits.push({ path, before: "as it is", after: null });
    }
    const { aliases } = this.#given;
    if (JSON.stringify([...choice.aliases].sort()) === JSON.stringify([...aliases].sort()))
      return edits;
    const path = ["agents", "list", index, "aliases"];
    return [...edits, { path, before: aliases, after: choice.aliases }];
  }
}

/** Of the agent that answers by default. */
function agentIndex(config: EarshotConfig): number {
  const id = defaultAgentId(config);
  return Math.max(
    0,
    config.agents.list.findIndex((agent) => agent.id === id),
  );
}

/** What the config says for the rooms: the same for all, because none has settings of its own. */
function stickinessOf(rooms: readonly LabelledRoom[], config: EarshotConfig) {
  const [room] = rooms;
  if (room === undefined) return config.engagement.stickiness;
  return settingsIn(room, config).engagement.stickiness;
}
