/**
 * Leases of connections, on a node
 * ================================
 * Says every two seconds which accounts this node wants, and reads from the answer which it holds. What it
 * holds is valid for `leaseValidMs` from before the last answered beat was sent; without an answer it is lost
 * then, which is before another node may take it (`table.ts`). Between the beats a long poll waits for news,
 * so that what another node gives back is taken at once.
 */
import { z } from "zod";
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type {
  Clock,
  ConnectionLeases,
  Lease,
  LeaseHolder,
  LeaseListener,
  Log,
  TimerHandle,
} from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { late, withEither, within } from "../../../domain/ports/within.ts";
import { answerOf, type IngressCall } from "../calls/ingress-call.ts";
import type { SharedNews } from "./news.ts";
import { newestShared } from "./table.ts";
import { type SeenNodes, viewOf } from "./view.ts";
import {
  type Beat,
  type LeaseTable,
  leaseKey,
  leaseService,
  type NodeFacts,
  tableSchema,
} from "./wire.ts";

export interface NodeLeasesOptions {
  /** The name that is shown. */
  readonly node: string;
  /** Of this process only, never used again. */
  readonly boot: string;
  readonly call: IngressCall;
  readonly clock: Clock;
  readonly log: Log;
  /** What the others show of this node. @default nothing but its name */
  readonly facts?: () => NodeFacts;
  /** What nodes share, so that each hears what another has changed. @default nothing */
  readonly news?: SharedNews;
  /** @default those of `limits` */
  readonly times?: LeaseTimes;
}

/** ms; `validMs` is at least 2 s and a tenth shorter than `lapseMs`, the same on every node. */
export interface LeaseTimes {
  readonly beatMs: number;
  readonly validMs: number;
  readonly lapseMs: number;
}

export interface NodeLeases extends ConnectionLeases {
  /** Names of the nodes that are known to run. */
  nodes(): readonly string[];
  /** All nodes and leases, as they were heard of last; null: of none was heard yet. */
  seen(): SeenNodes | null;
  /** Restate has not answered since, and why; null: it answers. */
  failing(): { readonly since: Millis; readonly why: string } | null;
  /** The last beats were answered: Restate has just shown that it takes calls. */
  isAnswered(): boolean;
  /** Gives everything back and ends; resolves when the others know, or cannot be reached. */
  close(): Promise<void>;
}

interface Wanted {
  readonly account: string;
  /** False: it was given back, and only what becomes of it is reported. */
  isWanted: boolean;
  readonly listener: LeaseListener;
  held: { readonly epoch: number; isOver: boolean } | null;
  holder: string;
  /** Of the connection here. */
  live: string | null;
}

/** A moment on both clocks: the one does not run while a machine sleeps, the other may be set. */
interface Moment {
  readonly monotonic: Millis;
  readonly wall: Millis;
}

/** A node that has left out more is shown as silent. */
const silentBeats = 3;

const defaultTimes: LeaseTimes = {
  beatMs: engineLimits.leaseBeatMs,
  validMs: engineLimits.leaseValidMs,
  lapseMs: engineLimits.leaseLapseMs,
};

/** Begins at once. */
export function createNodeLeases(options: NodeLeasesOptions): NodeLeases {
  const { node, boot, call, clock, log, facts, news: shared, times = defaultTimes } = options;
  const wanted = new Map<string, Wanted>();
  /** Other processes: their last beat, and when it was first seen here. */
  const seen = new Map<string, { beat: number; readonly at: Millis }>();
  const stop = new AbortController();
  let table: LeaseTable | null = null;
  let beats = 0;
  /** Before the last answered beat was sent. */
  let renewed: Moment | null = null;
  /** The same, and it stays when the leases are lost. */
  let answered: Millis = clock.monotonic();
  let failing: { readonly since: Millis; readonly why: string } | null = null;
  let expiry: TimerHandle | null = null;
  /** Ends the pause of the loop. */
  let wake: (() => void) | null = null;
  let isWoken = false;
  /** Those who wait for the next beat to be answered, or not. */
  let waiting: (() => void)[] = [];

  const now = (): Moment => ({ monotonic: clock.monotonic(), wall: clock.now() });
  const left = (): Millis => {
    if (renewed === null) return 0;
    const { monotonic, wall } = now();
    return times.validMs - Math.max(monotonic - renewed.monotonic, wall - renewed.wall);
  };
  const poke = () => {
    isWoken = true;
    wake?.();
  };

  function lose(one: Wanted, reason: string): void {
    if (one.held === null) return;
    one.held.isOver = true;
    one.held = null;
    one.holder = "";
    log("warn", "lease.lost", { account: one.account, reason });
    one.listener.onLost(reason);
  }

  /** Looks again a little before the end, as one clock may be slower than the other. */
  function watch(): void {
    if (expiry !== null) clock.clearTimer(expiry);
    expiry = null;
    if (renewed === null || stop.signal.aborted) return;
    const ms = left();
    if (ms <= 0) {
      renewed = null;
      for (const one of [...wanted.values()])
        lose(one, `Restate has not answered for ${Math.round(times.validMs / 1_000)} s`);
    } else expiry = clock.setTimer(clock.now() + Math.ceil(ms * 0.9), watch);
  }

  function hold(one: Wanted, { epoch, since }: LeaseTable["leases"][string]): void {
    const held = { epoch, isOver: false };
    one.held = held;
    const lease: Lease = {
      holder: { node, epoch, since },
      isValid: () => !held.isOver && left() > 0,
    };
    log("info", "lease.held", { account: one.account, epoch });
    one.listener.onHeld(lease);
  }

  function apply(one: Wanted, { leases }: LeaseTable): void {
    const row = leases[one.account];
    const isOurs = row !== undefined && row.boot === boot;
    if (one.held !== null && (!isOurs || row.epoch !== one.held.epoch))
      lose(one, row?.boot ? `${row.node} has it` : "it was taken from this node");
    if (isOurs) {
      if (one.held === null && one.isWanted) hold(one, row);
      return;
    }
    const isFree = row === undefined || row.boot === null;
    const holder: LeaseHolder | null = isFree
      ? null
      : { node: row.node, epoch: row.epoch, since: row.since };
    const live = isFree ? null : row.live;
    const shown = JSON.stringify([holder, live]);
    if (shown === one.holder) return;
    one.holder = shown;
    one.listener.onHolder(holder, live);
  }

  function learn(answer: LeaseTable): void {
    table = answer;
    const { monotonic } = now();
    for (const [other, { beat }] of Object.entries(answer.nodes))
      if (other !== boot && seen.get(other)?.beat !== beat)
        seen.set(other, { beat, at: monotonic });
    for (const other of [...seen.keys()]) if (!(other in answer.nodes)) seen.delete(other);
    // A listener may give its account back.
    for (const one of [...wanted.values()]) if (wanted.get(one.account) === one) apply(one, answer);
    shared?.heard(newestShared(answer));
  }

  const lapsedAt = (at: Millis) => at + times.lapseMs;
  const lapsed = () =>
    [...seen]
      .filter(([, { at }]) => clock.monotonic() >= lapsedAt(at))
      .map(([other, { beat }]) => ({ boot: other, beat }));

  /** Resolves to the answer, null when there is none. */
  async function ask<Answer>(
    msMax: number,
    make: (signal: AbortSignal) => Promise<unknown>,
    read: (answer: unknown) => Answer,
  ): Promise<Answer | null> {
    try {
      const answer = await within(clock, msMax, make);
      if (answer === late) throw new Error(`no answer in ${msMax} ms`);
      const result = read(answer);
      if (failing !== null) log("info", "lease.working");
      failing = null;
      return result;
    } catch (error) {
      if (failing === null && !stop.signal.aborted)
        log("warn", "lease.unreachable", { error: String(error) });
      const why = error instanceof Error ? error.message : String(error);
      failing = { since: failing?.since ?? clock.now(), why };
      shared?.heard(null);
      return null;
    }
  }

  const liveNow = () => {
    const live: Record<string, string> = {};
    for (const one of wanted.values())
      if (one.held !== null && one.live !== null) live[one.account] = one.live;
    return live;
  };

  async function beat(leaves: boolean): Promise<void> {
    const ending = waiting;
    waiting = [];
    isWoken = false;
    beats += 1;
    const number = beats;
    const sent = now();
    const input: Beat = {
      boot,
      node,
      beat: number,
      at: sent.wall,
      wants: leaves ? [] : [...wanted.values()].flatMap((one) => (one.isWanted ? one.account : [])),
      live: leaves ? {} : liveNow(),
      leaves,
      lapsed: lapsed().slice(0, engineLimits.leaseNodesMax),
      facts: facts?.() ?? null,
      shared: shared?.versions() ?? null,
    };
    const make = (signal: AbortSignal) =>
      call(`${leaseService}/${leaseKey}/beat`, input, { signal });
    const answer = await ask(engineLimits.leaseCallMsMax, make, (one) =>
      answerOf(tableSchema, one, `${leaseService}/${leaseKey}/beat`),
    );
    // A call that overtook it has been counted instead: this answer says nothing of how long it is valid.
    if (answer !== null && answer.nodes[boot]?.beat === number) {
      renewed = sent;
      answered = sent.monotonic;
      // This process may have stood still in between.
      if (left() > 0) learn(answer);
    }
    watch();
    for (const done of ending) done();
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clock.clearTimer(timer);
        wake = null;
        resolve();
      };
      const timer = clock.setTimer(clock.now() + Math.max(1, ms), done);
      wake = done;
      if (isWoken || stop.signal.aborted) done();
    });
  }

  async function beatOn(): Promise<void> {
    while (!stop.signal.aborted) {
      const from = clock.monotonic();
      await beat(false);
      if (beats === 1) void listen();
      const lapses = [...seen.values()].map(({ at }) => lapsedAt(at));
      const soonest = Math.min(from + times.beatMs, ...lapses.filter((at) => at > from));
      await pause(soonest - clock.monotonic());
    }
  }

  /** Has the long poll; a beat reads what has changed. */
  async function listen(): Promise<void> {
    while (!stop.signal.aborted) {
      const version = table?.version;
      const news = version === undefined ? null : await askNews(version);
      if (news === null) await pauseFor(clock, times.beatMs, stop.signal);
      else if (news !== table?.version) poke();
    }
  }

  function askNews(version: number): Promise<number | null> {
    const make = (limit: AbortSignal) =>
      withEither([limit, stop.signal], (signal) =>
        call(`${leaseService}/${leaseKey}/wait`, { boot, version }, { signal }),
      );
    return ask(engineLimits.leaseWaitMs + engineLimits.leaseCallMsMax, make, (one) =>
      answerOf(z.number(), one, `${leaseService}/${leaseKey}/wait`),
    );
  }

  const beating = beatOn();
  shared?.follow(poke);

  return {
    want(channel, account, listener) {
      const name = `${channel}:${account}`;
      const one: Wanted = {
        account: name,
        isWanted: true,
        listener,
        held: null,
        holder: "",
        live: null,
      };
      wanted.set(one.account, one);
      poke();
      return {
        live(author) {
          if (one.live === author) return;
          one.live = author;
          if (wanted.get(one.account) === one && one.held !== null) poke();
        },
        async giveBack() {
          if (wanted.get(one.account) !== one) return;
          one.isWanted = false;
          if (one.held === null) return;
          one.held.isOver = true;
          one.held = null;
          const known = new Promise<void>((resolve) => waiting.push(resolve));
          poke();
          await known;
        },
      };
    },
    nodes: () => Object.values(table?.nodes ?? {}).flatMap((one) => (one.left ? [] : [one.node])),
    seen() {
      if (table === null) return null;
      const at = now();
      const wallOf = (monotonic: Millis) => at.wall - (at.monotonic - monotonic);
      const others = [...seen].map(([other, one]) => [other, wallOf(one.at)] as const);
      return viewOf({
        now: at.wall,
        table,
        boot,
        heardAt: new Map([...others, [boot, wallOf(answered)]]),
        hears: failing === null,
        silentMs: silentBeats * times.beatMs,
      });
    },
    failing: () => failing,
    isAnswered: () =>
      failing === null && table !== null && clock.monotonic() - answered < 2 * times.beatMs,
    async close() {
      stop.abort();
      wake?.();
      await beating;
      for (const one of [...wanted.values()]) lose(one, "this node stops");
      wanted.clear();
      if (failing === null) await beat(true);
    },
  };
}
