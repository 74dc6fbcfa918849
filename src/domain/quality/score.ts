/**
 * How many decisions were right
 * =============================
 * Counts of engaged and meant lines, and what follows from them. Engaging on a line that is meant
 * for the agent is right, on another one it is an interruption; observing a meant line is a miss.
 * Counts are added up over agents and rooms before a share is worked out (micro-average).
 */
export interface RuleCounts {
  /** Engaged, and meant. */
  readonly right: number;
  /** Engaged, and meant for somebody else. */
  readonly wrong: number;
  /** Observed, and meant. */
  readonly missed: number;
}

export interface Score {
  readonly rooms: number;
  readonly agents: number;
  /** Lines that are meant for the agent. */
  readonly meant: number;
  readonly engaged: number;
  readonly right: number;
  /** Right of engaged, 0 to 1; 0 where nothing was engaged. */
  readonly precision: number;
  /** Engaged of meant, 0 to 1; 0 where nothing was meant. */
  readonly recall: number;
  /** The harmonic mean of both. */
  readonly f1: number;
  /** By the rule that decided. */
  readonly rules: Readonly<Record<string, RuleCounts>>;
}

/** Adds up decisions. What it holds is plain data, so tallies of other threads can be added. */
export class Tally {
  rooms = 0;
  agents = 0;
  readonly rules = new Map<string, { right: number; wrong: number; missed: number }>();

  count(rule: string, isEngaged: boolean, isMeant: boolean): void {
    if (!isEngaged && !isMeant) return;
    const counts = this.#countsOf(rule);
    if (!isEngaged) counts.missed += 1;
    else if (isMeant) counts.right += 1;
    else counts.wrong += 1;
  }

  add(other: Pick<Score, "rooms" | "agents" | "rules">): void {
    this.rooms += other.rooms;
    this.agents += other.agents;
    for (const [rule, { right, wrong, missed }] of Object.entries(other.rules)) {
      const counts = this.#countsOf(rule);
      counts.right += right;
      counts.wrong += wrong;
      counts.missed += missed;
    }
  }

  score(): Score {
    const all = [...this.rules.values()];
    const right = all.reduce((sum, counts) => sum + counts.right, 0);
    const engaged = all.reduce((sum, counts) => sum + counts.wrong, right);
    const meant = all.reduce((sum, counts) => sum + counts.missed, right);
    const precision = share(right, engaged);
    const recall = share(right, meant);
    const { rooms, agents } = this;
    return {
      rooms,
      agents,
      meant,
      engaged,
      right,
      precision,
      recall,
      f1: share(2 * right, engaged + meant),
      rules: Object.fromEntries([...this.rules].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }

  #countsOf(rule: string) {
    const known = this.rules.get(rule);
    if (known !== undefined) return known;
    const counts = { right: 0, wrong: 0, missed: 0 };
    this.rules.set(rule, counts);
    return counts;
  }
}

const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
