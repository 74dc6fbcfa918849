/**
 * Traffic with one host
 * =====================
 * The mailbox, the credit window and the set of conversations that are live over there. A batch
 * carries the activation of every conversation that the host does not have; nothing is loaded for a
 * conversation while any of its results is not durable, so a tail never presents a committed step
 * as new.
 *
 * Events that were sent and not answered when the host died go back to the front of the mailbox.
 */
import { limits } from "../../domain/limits.ts";
import { reasonOf } from "../host/conversation-host.ts";
import { triesOf } from "../protocol/event-codec.ts";
import type { HostLink } from "../protocol/host-link.ts";
import {
  type Activation,
  alreadySteppedCode,
  type HostBatch,
  type HostConfig,
  type HostEntry,
  type HostResult,
  notLiveCode,
  quarantinedCode,
} from "../protocol/host-protocol.ts";
import { resultProblem } from "../protocol/validate-results.ts";
import { Mailbox } from "./mailbox.ts";
import type { PoisonTracker } from "./poison-tracker.ts";
import type { Answer } from "./result-queue.ts";

export interface DispatcherPorts {
  readonly host: number;
  readonly poison: PoisonTracker;
  /** Record and tail; rejects while the store is failing. */
  load(conv: number, key: string, beforeSeq: number, rebuild: boolean): Promise<Activation>;
  configFor(version: number): HostConfig;
  /** Too many conversations lack a record of their last events. @default never */
  tight?(): boolean;
  /** An answer to make durable; `answered` is called with it. */
  onReply(answer: Answer): void;
  /** The host broke the protocol: end it. */
  onBreach(reason: string): void;
  /** A load failed; try again later by calling `pump`. */
  onLoadFailed(error: unknown): void;
  onRebuild(conv: number, key: string, error: string): void;
  onChange(): void;
}

interface Sent {
  readonly id: number;
  readonly entries: readonly HostEntry[];
  /** Called when the passivation that this batch requested is durable. */
  readonly done: readonly (() => void)[];
}

export class HostDispatcher {
  readonly #ports: DispatcherPorts;
  readonly #mailbox = new Mailbox();
  /** Conversation to the last batch with an event of it; present means live there. */
  readonly #live = new Map<number, number>();
  /** A list, because a map that lives long keeps what was in it (mailbox.ts). */
  #flight: Sent[] = [];
  /** Conversations whose record could not be read, and those that were loaded without it since. */
  readonly #unreadable = new Set<number>();
  readonly #rebuilt = new Set<number>();
  /** Held conversations and the batch whose answer must be durable before they continue. */
  readonly #heldUntil = new Map<number, number>();
  readonly #forget: number[] = [];
  readonly #passivations: (() => void)[] = [];
  /** By batch: callbacks that wait for its answer to be durable. */
  readonly #finishing = new Map<number, readonly (() => void)[]>();
  #sentConfigs = new Set<number>();
  #link: HostLink | null = null;
  #nextBatch = 1;
  #building = false;
  #stalled = false;
  #loadProblem: string | null = null;
  #notDurable = 0;
  #answered = 0;
  #durable = 0;
  /** Nothing is loaded before the answers of older epochs are durable. */
  #loadAfter = 0;
  #liveThere = 0;
  /** The highest event that this host was sent in any epoch. */
  #lastSeq = 0;

  constructor(ports: DispatcherPorts) {
    this.#ports = ports;
  }

  /** Events queued and in flight. */
  get load(): number {
    let flying = 0;
    for (const { entries } of this.#flight) flying += entries.length;
    return this.#mailbox.size + flying;
  }

  /** Events queued. */
  get waiting(): number {
    return this.#mailbox.size;
  }

  get live(): number {
    return this.#liveThere;
  }

  /** Whether something is in progress. Held events wait for results and count only with them. */
  get busy(): boolean {
    if (this.#building || this.#flight.length > 0) return true;
    return !this.#stalled && (this.#mailbox.ready || this.#wantsPassivation);
  }

  /** Whether an answer of the host is pending. */
  get awaitsReply(): boolean {
    return this.#flight.length > 0;
  }

  /** Whether nothing is left, results that are not durable included. */
  get settled(): boolean {
    return !this.busy && (this.#stalled || this.#mailbox.size === 0) && this.#notDurable === 0;
  }

  /** Why conversations cannot be loaded, until one is. */
  get loadProblem(): string | null {
    return this.#loadProblem;
  }

  get #wantsPassivation(): boolean {
    return this.#passivations.length > 0;
  }

  push(entry: HostEntry): void {
    const { poison } = this.#ports;
    if (poison.isQuarantined(entry.seq)) return;
    if (triesOf(entry.event) > 0) poison.allowOneDeath(entry.seq);
    this.#mailbox.push(entry);
  }

  /**
   * Requests the passivation of every idle conversation; resolves when their records are durable.
   */
  passivate(): Promise<void> {
    return new Promise((resolve) => {
      this.#passivations.push(resolve);
    });
  }

  connect(link: HostLink): void {
    this.#link = link;
    this.#sentConfigs = new Set();
  }

  /** The host is gone: everything unanswered waits again. Returns what was in flight. */
  disconnect(): readonly HostEntry[] {
    this.#link = null;
    const sent = this.#flight;
    const lost = sent.flatMap(({ entries }) => entries);
    this.#passivations.push(...sent.flatMap(({ done }) => done));
    this.#flight = [];
    this.#live.clear();
    this.#forget.length = 0;
    this.#liveThere = 0;
    this.#loadAfter = this.#answered;
    for (const conv of this.#heldUntil.keys()) this.#heldUntil.set(conv, this.#loadAfter);
    this.#mailbox.putBack(this.#ports.poison.allowed(lost));
    this.#releaseHeld();
    return lost;
  }

  /** Removes everything that waits and returns it, for another host. */
  drain(): HostEntry[] {
    for (const done of this.#passivations.splice(0)) done();
    return this.#mailbox.drain();
  }

  /** Sends as much as the window allows. */
  pump(): void {
    this.#stalled = false;
    while (this.#mayBuild()) {
      const entries = this.#ports.poison.allowed(this.#mailbox.take(limits.hostBatchEventsMax));
      const done = this.#mailbox.ready ? [] : this.#passivations.splice(0);
      if (entries.length === 0 && done.length === 0) continue;
      const id = this.#nextBatch;
      this.#nextBatch += 1;
      const missing = new Map<number, HostEntry>();
      for (const entry of entries)
        if (this.#live.has(entry.conv)) this.#live.set(entry.conv, id);
        else if (!missing.has(entry.conv)) missing.set(entry.conv, entry);
      if (missing.size === 0) this.#send({ id, entries, done }, new Map());
      else void this.#loadAndSend({ id, entries, done }, missing);
    }
  }

  /**
   * These answers of this host are durable: drops what they evicted and releases held
   * conversations.
   */
  durable(answers: readonly Answer[]): void {
    this.#notDurable -= answers.length;
    for (const { result } of answers) {
      this.#durable = result.id;
      for (const done of this.#finishing.get(result.id) ?? []) done();
      this.#finishing.delete(result.id);
      if (result.epoch !== this.#link?.epoch) continue;
      for (const conv of result.passivated) {
        // An event was sent since: the host has restored it from its own memory.
        if (this.#lastBatchOf(conv) > result.id) continue;
        this.#live.delete(conv);
        this.#forget.push(conv);
      }
    }
    this.#releaseHeld();
  }

  #lastBatchOf(conv: number): number {
    return this.#live.get(conv) ?? 0;
  }

  #hold(conv: number): void {
    this.#mailbox.hold(conv);
    this.#heldUntil.set(conv, this.#lastBatchOf(conv));
  }

  /**
   * Releases conversations whose answers are durable: their next event is sent with a fresh load.
   */
  #releaseHeld(): void {
    for (const [conv, until] of this.#heldUntil) {
      if (until > this.#durable) continue;
      this.#heldUntil.delete(conv);
      this.#live.delete(conv);
      this.#mailbox.release(conv);
    }
  }

  #mayBuild(): boolean {
    if (this.#link === null || this.#building) return false;
    if (this.#flight.length >= limits.hostBatchesInFlightMax) return false;
    if (this.#notDurable > 2 * limits.hostBatchesInFlightMax) return false;
    if (this.#durable < this.#loadAfter) return false;
    return this.#mailbox.ready || this.#wantsPassivation;
  }

  async #loadAndSend(sent: Sent, missing: ReadonlyMap<number, HostEntry>): Promise<void> {
    this.#building = true;
    const link = this.#link;
    try {
      const wanted = [...missing.values()];
      const loaded = await Promise.all(
        wanted.map(({ conv, key, seq }) =>
          this.#ports.load(conv, key, seq, this.#unreadable.has(conv)),
        ),
      );
      const activations = new Map<number, Activation>();
      wanted.forEach(({ conv }, index) => {
        activations.set(conv, loaded[index] as Activation);
      });
      this.#building = false;
      this.#loadProblem = null;
      if (this.#link === link && link !== null) this.#send(sent, activations);
      else this.#return(sent);
      this.pump();
    } catch (error) {
      this.#building = false;
      this.#return(sent);
      this.#stalled = true;
      this.#loadProblem = reasonOf(error);
      this.#ports.onLoadFailed(error);
    }
    this.#ports.onChange();
  }

  /** A batch that could not be sent. */
  #return(sent: Sent): void {
    this.#mailbox.putBack(this.#ports.poison.allowed(sent.entries));
    this.#passivations.push(...sent.done);
  }

  #send(sent: Sent, activations: Map<number, Activation>): void {
    const link = this.#link as HostLink;
    const { id } = sent;
    const versions = new Set<number>();
    const entries = sent.entries.map((entry) => {
      versions.add(entry.cfg);
      const loaded = activations.get(entry.conv);
      if (loaded === undefined) return entry;
      // Only the first event of a conversation loads it.
      activations.delete(entry.conv);
      if (this.#unreadable.delete(entry.conv)) this.#rebuilt.add(entry.conv);
      const activation = this.#ports.poison.withoutQuarantined(loaded);
      for (const { cfg } of activation.tail) versions.add(cfg);
      return { ...entry, activation };
    });
    for (const { conv, seq } of entries) {
      this.#live.set(conv, id);
      if (seq > this.#lastSeq) this.#lastSeq = seq;
    }
    const batch: HostBatch = {
      id,
      epoch: link.epoch,
      configs: this.#unsent(versions),
      forget: this.#forget.splice(0),
      entries,
      ...(this.#ports.tight?.() === true ? { records: true } : {}),
      ...(sent.done.length > 0 ? { passivate: true } : {}),
    };
    this.#flight.push(sent);
    link.apply(batch).then(
      (result) => this.#receive(link, result),
      (error: unknown) => {
        if (this.#link === link) this.#ports.onBreach(String(error));
      },
    );
  }

  #unsent(versions: ReadonlySet<number>): HostConfig[] {
    const fresh = [...versions].filter((version) => !this.#sentConfigs.has(version));
    for (const version of fresh) this.#sentConfigs.add(version);
    return fresh.map((version) => this.#ports.configFor(version));
  }

  #receive(link: HostLink, result: HostResult): void {
    if (this.#link !== link) return;
    const sent = this.#flight.find(({ id }) => id === result?.id);
    const problem = this.#problemOf(link, result, sent);
    if (sent === undefined || problem !== null) {
      this.#ports.onBreach(problem ?? "answered nothing");
      return;
    }
    this.#flight.splice(this.#flight.indexOf(sent), 1);
    this.#liveThere = result.live;
    this.#notDurable += 1;
    this.#answered = result.id;
    if (sent.done.length > 0) this.#finishing.set(result.id, sent.done);
    this.#ports.onReply(this.#sort(result, sent));
    this.pump();
    this.#ports.onChange();
  }

  #problemOf({ epoch }: HostLink, result: HostResult, sent: Sent | undefined): string | null {
    if (sent === undefined) return "answered a batch it was not sent";
    const knows = (conv: number) => this.#live.has(conv);
    const asked = { epoch, events: sent.entries.length, lastSeq: this.#lastSeq, knows };
    return resultProblem(result, asked);
  }

  /** Separates what was applied from what must be sent again, which is held back. */
  #sort(result: HostResult, sent: Sent): Answer {
    const { host, poison } = this.#ports;
    const rejected = [...result.rejected];
    const hopeless = this.#unreadableOf(result, sent);
    const again: HostEntry[] = [];
    const entries: HostEntry[] = [];
    const codes: number[] = [];
    sent.entries.forEach((entry, index) => {
      const { conv, seq } = entry;
      let code = result.codes[index] as number;
      const error = hopeless.get(conv);
      if (code === notLiveCode && error !== undefined) {
        code = quarantinedCode;
        rejected.push({ conv, seq, error });
      }
      if (code === notLiveCode) again.push(entry);
      else if (code !== alreadySteppedCode) {
        entries.push(entry);
        codes.push(code);
      }
    });
    for (const { conv, seq } of rejected) {
      poison.quarantine(seq);
      this.#hold(conv);
    }
    for (const { conv } of again) this.#hold(conv);
    this.#mailbox.putBack(poison.allowed(again));
    return { host, result: { ...result, codes, rejected }, entries };
  }

  /** Notes unreadable records; returns those that were rebuilt already and are still unreadable. */
  #unreadableOf(result: HostResult, sent: Sent): ReadonlyMap<number, string> {
    const hopeless = new Map<number, string>();
    for (const { conv, error } of result.unreadable) {
      if (this.#rebuilt.delete(conv)) {
        hopeless.set(conv, error);
        continue;
      }
      this.#unreadable.add(conv);
      const key = sent.entries.find((entry) => entry.conv === conv)?.key ?? "";
      this.#ports.onRebuild(conv, key, error);
    }
    return hopeless;
  }
}
