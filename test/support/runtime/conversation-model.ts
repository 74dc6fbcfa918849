/**
 * What a conversation should do, written down a second time and as plainly as possible: lists,
 * loops and one clock, no chart, no rule modules. It knows one room with several people in it,
 * mentions, plain lines and lines aimed at others; turn slots are free immediately. Slow and obvious on
 * purpose.
 */

export interface ModelLimits {
  readonly windowMs: number;
  readonly mode: "collect" | "queue";
  readonly sliding: boolean;
  readonly size: number;
  readonly trips: number;
  readonly mutes: number;
}

export interface ModelTurn {
  readonly number: number;
  readonly ids: string[];
  readonly authors: string[];
  readonly shown: string[];
  held: boolean;
  aborted: boolean;
  attempt: number;
  blocks: number;
  open: number[];
  ended: boolean;
  /** What it comes to if the agent was stopped or failed. */
  failure: string | null;
  arrived: number;
  lost: number;
}

interface Line {
  readonly id: string;
  readonly author: string;
}
interface Window {
  readonly author: string;
  readonly first: number;
  last: number;
  lines: Line[];
  held: boolean;
}
interface Queued {
  lines: Line[];
  behind: boolean;
  held: boolean;
}

export class Model {
  now = 0;
  readonly credits = new Map<string, number>();
  buffer: string[] = [];
  /** Moments of engaged peer-bot lines since a human spoke. */
  bots: number[] = [];
  guard: "clear" | "tripped" | "muted" = "clear";
  windows: Window[] = [];
  line: Queued[] = [];
  quiet: { until: number; readonly by: number } | null = null;
  turn: ModelTurn | null = null;
  turns = 0;
  /** Until the next turn begins, deliveries grant nothing. */
  withheld = false;
  /** Until the next turn begins, nothing more is said. */
  silent = false;
  readonly outcomes: string[] = [];
  readonly shown: string[] = [];
  readonly dropped: string[] = [];
  acked: string[] = [];
  readonly limits: ModelLimits;

  constructor(limits: ModelLimits) {
    this.limits = limits;
  }

  held(): string[] {
    const held = new Set<string>();
    if (this.turn?.held) for (const author of this.turn.authors) held.add(author);
    for (const queued of this.line)
      if (queued.held) for (const { author } of queued.lines) held.add(author);
    for (const window of this.windows) if (window.held) held.add(window.author);
    return [...held].sort();
  }

  live(): Record<string, number> {
    return Object.fromEntries([...this.credits].filter(([, ends]) => this.now < ends).sort());
  }

  /** The rule and what it does to the credit. */
  decide(author: string, bot: boolean, aim: "us" | "other" | "nobody"): string {
    if (bot && this.guard === "muted") return "loop-guard none";
    if (aim === "us") return "mention none";
    const credited = author in this.live();
    const held = this.held().includes(author);
    if ((credited || held) && aim === "other") return "addressed-elsewhere kept";
    if (credited) return `sticky ${this.limits.sliding ? "slid" : "consumed"}`;
    if (held) return "sticky held";
    return aim === "other" ? "mentions-others none" : "default none";
  }

  say(id: string, author: string, bot: boolean, aim: "us" | "other" | "nobody"): string {
    const decided = this.decide(author, bot, aim);
    const engaged = decided.startsWith("mention ") || decided.startsWith("sticky");
    if (decided.endsWith("consumed")) this.credits.delete(author);
    if (decided.endsWith("slid")) this.credits.set(author, this.now + this.limits.windowMs);
    if (!bot) {
      this.bots = [];
      this.guard = "clear";
    }
    if (!engaged) {
      this.buffer.push(id);
      while (this.buffer.length > this.limits.size) this.dropped.push(this.buffer.shift() ?? "");
      return decided;
    }
    if (bot) this.#count();
    this.acked.push(id);
    const own = this.windows.findLast((window) => window.author === author);
    if (own === undefined)
      this.windows.push({
        author,
        first: this.now,
        last: this.now,
        held: true,
        lines: [{ id, author }],
      });
    else {
      own.lines.push({ id, author });
      own.last = this.now;
      own.held = true;
    }
    if (this.quiet !== null)
      this.quiet.until = Math.max(this.quiet.until, Math.min(this.quiet.by, this.now + 500));
    return decided;
  }

  #count(): void {
    this.bots.push(this.now);
    const recent = this.bots.filter((at) => this.now - at < 60_000).length;
    if (this.bots.length >= this.limits.mutes) this.guard = "muted";
    else if (this.guard === "clear" && Math.max(this.bots.length, recent) >= this.limits.trips)
      this.guard = "tripped";
  }

  /** When a window closes: not before those that began earlier. */
  #closes(place: number): number {
    const own = this.windows
      .slice(0, place + 1)
      .map(({ first, last }) => Math.min(last + 500, first + 2_000));
    return Math.max(...own);
  }

  wait(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const flush = this.windows.length > 0 ? this.#closes(0) : Number.POSITIVE_INFINITY;
      const next = Math.min(flush, this.quiet?.until ?? Number.POSITIVE_INFINITY);
      if (next > until) break;
      this.now = next;
      this.#settleAt();
    }
    this.now = until;
  }

  /** Everything that is due now. */
  #settleAt(): void {
    while (this.windows.length > 0 && this.#closes(0) <= this.now) {
      const { lines, held } = this.windows.shift() as Window;
      this.line.push({ lines, held, behind: this.turn !== null || this.quiet !== null });
    }
    if (this.quiet !== null && this.quiet.until <= this.now) this.quiet = null;
    this.#start();
  }

  #start(): void {
    if (this.turn !== null || this.quiet !== null) return;
    const first = this.line.shift();
    if (first === undefined) return;
    const taken = [first];
    if (this.limits.mode === "collect" && first.behind) taken.push(...this.line.splice(0));
    for (const queued of this.line) queued.behind = true;
    const lines = taken.flatMap((queued) => queued.lines);
    this.turns += 1;
    this.withheld = false;
    this.silent = false;
    this.turn = {
      number: this.turns,
      ids: lines.map(({ id }) => id),
      authors: lines.map(({ author }) => author),
      shown: this.buffer,
      held: taken.some(({ held }) => held),
      aborted: false,
      attempt: 1,
      blocks: 0,
      open: [],
      ended: false,
      failure: null,
      arrived: 0,
      lost: 0,
    };
    this.shown.push(...this.buffer);
    this.buffer = [];
  }

  answer(): void {
    const { turn } = this;
    if (turn === null || turn.ended || turn.aborted || this.silent) return;
    turn.open.push(turn.blocks);
    turn.blocks += 1;
  }

  end(how: "ended" | "error" | "aborted" | "host-lost"): void {
    const { turn } = this;
    if (turn === null || turn.ended) return;
    const lost = how === "host-lost";
    if (lost && !turn.aborted && turn.blocks === 0 && turn.attempt < 3) {
      turn.attempt += 1;
      return;
    }
    if (how === "aborted" || turn.aborted) turn.failure = "cancelled";
    else if (how !== "ended") turn.failure = "failed";
    turn.ended = true;
    this.#close();
  }

  report(index: number, arrived: boolean): void {
    const { turn } = this;
    if (turn === null || !turn.open.includes(index)) return;
    turn.open = turn.open.filter((one) => one !== index);
    if (arrived) turn.arrived += 1;
    else turn.lost += 1;
    if (arrived && !this.withheld)
      for (const author of turn.authors) this.credits.set(author, this.now + this.limits.windowMs);
    this.#close();
  }

  #close(): void {
    const { turn } = this;
    if (turn === null || !turn.ended || turn.open.length > 0) return;
    const { arrived, lost } = turn;
    const delivered = lost === 0 ? "replied" : arrived > 0 ? "partly" : "undelivered";
    const outcome = turn.failure ?? (arrived + lost === 0 ? "silent" : delivered);
    this.outcomes.push(`T${turn.number} ${outcome}`);
    this.acked = this.acked.filter((id) => !turn.ids.includes(id));
    this.turn = null;
    if (this.line.length > 0 && this.limits.mode === "collect")
      this.quiet = { until: this.now + 500, by: this.now + 2_000 };
    this.#start();
  }

  disengage(): void {
    this.credits.clear();
    this.withheld = true;
    for (const window of this.windows) window.held = false;
    for (const queued of this.line) queued.held = false;
    if (this.turn !== null) this.turn.held = false;
  }

  skip(): void {
    if (this.turn !== null && !this.turn.ended) this.silent = true;
  }

  abort(): void {
    if (this.turn !== null && !this.turn.ended) this.turn.aborted = true;
  }

  remove(id: string): void {
    if (this.buffer.includes(id)) this.dropped.push(id);
    this.buffer = this.buffer.filter((one) => one !== id);
    for (const waiting of [...this.windows, ...this.line]) {
      if (!waiting.lines.some((line) => line.id === id)) continue;
      waiting.lines = waiting.lines.filter((line) => line.id !== id);
      this.acked = this.acked.filter((one) => one !== id);
    }
    this.windows = this.windows.filter(({ lines }) => lines.length > 0);
    this.line = this.line.filter(({ lines }) => lines.length > 0);
    if (this.line.length === 0) this.quiet = null;
  }

  get lock(): string {
    if (this.silent) return this.withheld ? "closed" : "silenced";
    return this.withheld ? "withheld" : "granting";
  }

  get attention(): string {
    if (this.turn !== null) return this.turn.ended ? "engaged.settling" : "engaged.running";
    return this.line.length + this.windows.length > 0 ? "engaged.gathering" : "observing";
  }
}
