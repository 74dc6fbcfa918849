/**
 * The copy of all conversations, on a node
 * ========================================
 * What is active here is in the copy at once, before anything is reported of it. What others have stored comes with
 * the feed; each of its news says from which revision to which it leads, so what does not follow is noticed, and the
 * conversation is asked for as a whole. A start, and a node that has missed more than the feed keeps, compares the
 * revisions of all.
 */
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type {
  Clock,
  DeliveryChange,
  KeptRow,
  Log,
  MirrorChange,
  RowMirror,
} from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { answerOf, type IngressCall } from "../calls/ingress-call.ts";
import { createFetches } from "./fetches.ts";
import { createPublisher } from "./publisher.ts";
import type { ReadRevisions } from "./stored-revisions.ts";
import { answerSchema, type Batch, feedKey, feedService, type News, type Note } from "./wire.ts";

/** What a node knows of the conversations that are active on it. */
export interface ActiveRows {
  /** With these rows. `isTakenOver`: another node may have died before it reported what it stored. */
  began(key: string, rows: readonly KeptRow[], revision: number, isTakenOver: boolean): void;
  /** They are committed here, and not stored yet. */
  changed(key: string, rows: readonly KeptRow[]): void;
  /** These are stored, with this revision. `isAll`: everything that was committed is. */
  stored(key: string, rows: readonly KeptRow[], revision: number, isAll: boolean): void;
  ended(key: string): void;
}

/** For a node of which nobody shows anything. */
export const untold: ActiveRows = {
  began: () => undefined,
  changed: () => undefined,
  stored: () => undefined,
  ended: () => undefined,
};

export interface NodeMirrorPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
  /** Of this process only. */
  readonly boot: string;
  /** Null: this node keeps no copy, and only reports to others. */
  readonly mirror: RowMirror | null;
  readonly read: ReadRevisions;
  /** Object whose handler `whole` answers the rows of a conversation. */
  readonly object: string;
  /** The copy has other rows of these conversations; `fresh`: events that are applied now and were not before. */
  readonly onChanged: (keys: readonly string[], fresh: readonly number[]) => void;
  /** Gets how deliveries of other nodes change, while somebody watches them. @default nobody does */
  readonly deliveries?: {
    readonly isWatched: () => boolean;
    readonly changed: (changes: readonly DeliveryChange[]) => void;
  };
  /** Another node has reported a line of the event stream. */
  readonly onLine: (line: Batch["lines"][number]) => void;
  /** It asks, or answers. @default nobody hears it */
  readonly onNote?: (note: Note) => void;
  /** Pages of another node were shown this. @default nobody hears it */
  readonly onFrame?: (frame: Batch["frames"][number]) => void;
}

/** How well the copy follows. */
export interface CopyState {
  /** Conversations of which it has not everything, as far as is known. */
  readonly behind: number;
  /** Since when there are any, or it does not follow. */
  readonly since: Millis | null;
  /** Why it does not follow; null: it does. */
  readonly why: string | null;
}

export interface NodeMirror extends ActiveRows {
  /** Null: this node keeps no copy. */
  state(): CopyState | null;
  /** Reports a line of the event stream to the others. */
  line(line: Batch["lines"][number]): void;
  /** Asks the others, or answers. */
  note(note: Note): void;
  /** Reports what pages of this node are shown to the others. */
  frame(frame: Batch["frames"][number]): void;
  /** Begins to follow the others. */
  start(): void;
  /** Resolves when all that was stored before the call is in the copy. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

const retryMs: Millis = 1_000;

interface Failure {
  readonly since: Millis;
  readonly why: string;
}

/** Since the first of several that follow each other. */
const failed = (before: Failure | null, error: unknown, now: Millis): Failure => ({
  since: before?.since ?? now,
  why: error instanceof Error ? error.message : String(error),
});

export function createNodeMirror(ports: NodeMirrorPorts): NodeMirror {
  return new Mirror(ports);
}

class Mirror implements NodeMirror {
  readonly #ports: NodeMirrorPorts;
  readonly #publisher: ReturnType<typeof createPublisher>;
  readonly #fetches: ReturnType<typeof createFetches>;
  /** Conversations that are active here, and how often: the next may begin before the last has ended. */
  readonly #active = new Map<string, number>();
  /** News of them from others. */
  readonly #missed = new Map<string, number>();
  readonly #stopping = new AbortController();
  #place = -1;
  #unread: Failure | null = null;
  /** It could not be written. */
  #unwritten: Failure | null = null;
  #following: Promise<void> | null = null;

  constructor(ports: NodeMirrorPorts) {
    this.#ports = ports;
    const { clock, log, call, boot, object } = ports;
    const onTick = () => this.#flush();
    this.#publisher = createPublisher({ clock, log, call, boot, onTick });
    const isActive = (key: string) => this.#active.has(key);
    this.#fetches = createFetches({
      clock,
      log,
      call,
      object,
      isActive,
      onWhole: (key, rows, revision) => this.#apply([{ key, rows, revision, isWhole: true }]),
    });
  }

  began(key: string, rows: readonly KeptRow[], revision: number, isTakenOver: boolean): void {
    this.#active.set(key, (this.#active.get(key) ?? 0) + 1);
    if (isTakenOver) this.#publisher.news({ key, revision, rows: null });
    const { mirror } = this.#ports;
    if (mirror === null || mirror.revision(key) === revision) return;
    this.#apply([{ key, rows, revision, isWhole: true }]);
  }

  changed(key: string, rows: readonly KeptRow[]): void {
    if (rows.length > 0) this.#ports.mirror?.note({ key, rows, revision: null });
  }

  stored(key: string, rows: readonly KeptRow[], revision: number, isAll: boolean): void {
    this.#publisher.news({ key, revision, rows });
    if (isAll) this.#ports.mirror?.confirm(key, revision);
  }

  ended(key: string): void {
    const others = (this.#active.get(key) ?? 1) - 1;
    if (others > 0) return void this.#active.set(key, others);
    this.#active.delete(key);
    const missed = this.#missed.get(key) ?? 0;
    this.#missed.delete(key);
    const { mirror } = this.#ports;
    if (mirror === null || this.#stopping.signal.aborted) return;
    // What was not stored here is not, where another node has the conversation.
    const revision = mirror.revision(key);
    if (revision === null || missed > revision) this.#fetches.fetch(key, missed);
  }

  line(line: Batch["lines"][number]): void {
    this.#publisher.line(line);
  }

  note(note: Note): void {
    this.#publisher.note(note);
  }

  frame(frame: Batch["frames"][number]): void {
    this.#publisher.frame(frame);
  }

  start(): void {
    if (this.#ports.mirror !== null) this.#following ??= this.#follow();
  }

  state(): CopyState | null {
    if (this.#ports.mirror === null) return null;
    const { count, since } = this.#fetches.waiting();
    const failure = this.#unwritten ?? this.#unread;
    return { behind: count, since: failure?.since ?? since, why: failure?.why ?? null };
  }

  async caughtUp(): Promise<void> {
    if (this.#ports.mirror === null) return;
    await this.#compare();
    await this.#fetches.settled();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#fetches.stop();
    await this.#publisher.stop();
    await this.#following;
    this.#flush();
  }

  async #follow(): Promise<void> {
    const { clock, log, call, boot } = this.#ports;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const path = `${feedService}/${feedKey}/wait`;
        const own = AbortSignal.timeout(engineLimits.feedWaitMs + engineLimits.callMsMax);
        const asked = { boot, after: this.#place };
        const answer = await call(path, asked, { signal: AbortSignal.any([own, signal]) });
        const { head, lost, batches } = answerOf(answerSchema, answer, path);
        if (lost) await this.#compare();
        this.#place = head;
        for (const batch of batches) this.#take(batch);
        if (this.#unread !== null) log("info", "mirror.working");
        this.#unread = null;
      } catch (error) {
        if (signal.aborted) return;
        if (this.#unread === null) log("warn", "mirror.unreachable", { error: String(error) });
        this.#unread = failed(this.#unread, error, clock.now());
        await pauseFor(clock, retryMs, signal);
      }
    }
  }

  #take({ news, lines, notes, frames }: Batch): void {
    const changes = this.#changesOf(news);
    if (changes.length > 0) this.#apply(changes);
    for (const frame of frames) this.#ports.onFrame?.(frame);
    for (const line of lines) this.#ports.onLine(line);
    for (const note of notes) this.#ports.onNote?.(note);
  }

  #changesOf(news: readonly News[]): readonly MirrorChange[] {
    const { mirror } = this.#ports;
    const changes: MirrorChange[] = [];
    /** As they are with `changes`. */
    const revisions = new Map<string, number | null>();
    for (const { key, revision, rows } of news) {
      if (this.#active.has(key)) {
        this.#missed.set(key, Math.max(this.#missed.get(key) ?? 0, revision));
        continue;
      }
      const known = revisions.get(key) ?? mirror?.revision(key) ?? null;
      if (this.#fetches.isAsked(key)) this.#fetches.fetch(key, revision);
      else if (rows !== null && known === revision - 1) {
        changes.push({ key, rows, revision });
        revisions.set(key, revision);
      } else if (known === null || known < revision) this.#fetches.fetch(key, revision);
    }
    return changes;
  }

  #apply(changes: readonly MirrorChange[]): void {
    const { mirror, onChanged, deliveries, log, clock } = this.#ports;
    if (mirror === null) return;
    try {
      const watched: DeliveryChange[] | undefined = deliveries?.isWatched() ? [] : undefined;
      const fresh = mirror.apply(changes, watched);
      if (watched !== undefined) deliveries?.changed(watched);
      this.#unwritten = null;
      onChanged([...new Set(changes.map(({ key }) => key))], fresh);
    } catch (error) {
      log("error", "mirror.failing", { error: String(error) });
      this.#unwritten = failed(this.#unwritten, error, clock.now());
    }
  }

  #flush(): void {
    const { mirror, log, clock } = this.#ports;
    try {
      mirror?.flush();
      this.#unwritten = null;
    } catch (error) {
      log("error", "mirror.failing", { error: String(error) });
      this.#unwritten = failed(this.#unwritten, error, clock.now());
    }
  }

  /** Asks for every conversation of which the copy has another revision than Restate. */
  async #compare(): Promise<void> {
    const { read, mirror } = this.#ports;
    for (let after = ""; mirror !== null && !this.#stopping.signal.aborted; ) {
      const { found, upTo } = await read(after);
      const mirrored = new Map(mirror.revisions(after, upTo));
      for (const [key, revision] of found)
        if (mirrored.get(key) !== revision && !this.#active.has(key))
          this.#fetches.fetch(key, revision);
      // Not there, or there since: the answer says which.
      for (const key of mirrored.keys())
        if (!found.has(key) && !this.#active.has(key)) this.#fetches.fetch(key, 0);
      if (upTo === null) break;
      after = upTo;
    }
  }
}
