/**
 * The host's core
 * ===============
 * Applies batches of journalled events to conversations and returns their effects. It is
 * synchronous, opens nothing and cannot act, so the same object runs in a worker thread and
 * in-process, live and in a simulation.
 *
 * A step that throws does not affect other conversations and is always reported: the event is
 * rejected, the actor (whose state may be half changed) is dropped, and later events get
 * `notLiveCode` until the supervisor sends the conversation's record and tail again.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { encodeVerdict } from "../../domain/decision.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { InspectRequest } from "../../domain/ports/index.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { Effect } from "../../machines/events/effects.ts";
import type { ConversationCount, ConversationSummary } from "../protocol/conversation-summary.ts";
import { decodeEvent } from "../protocol/event-codec.ts";
import {
  type Activation,
  alreadySteppedCode,
  type Forgotten,
  type HostBatch,
  type HostCheckpoint,
  type HostEntry,
  type HostResult,
  type HostStep,
  notLiveCode,
  quarantinedCode,
} from "../protocol/host-protocol.ts";
import { ConversationCache, type LiveConversation, type Slot } from "./conversation-cache.ts";
import { HostInspection, type InspectSink } from "./host-inspector.ts";

/** Creates a conversation, from a record or new. @throws EarshotError EAR_RECORD_INVALID */
export type ConversationFactory = (options: {
  readonly key: string;
  readonly settings: ConversationSettings;
  readonly record?: string;
}) => LiveConversation;

export interface ConversationHostOptions {
  readonly create: ConversationFactory;
  readonly settingsFor: (
    config: EarshotConfig,
    key: string,
    version: number,
  ) => ConversationSettings;
  /** Idle conversations that stay live. */
  readonly live: number;
  /** Events of one conversation between two checkpoints. */
  readonly checkpointEvery: number;
  /**
   * Events after its record that an evicted conversation may leave to the journal.
   * @default limits.evictedTailEventsMax
   */
  readonly evictedTail?: number;
  /** Called before each step, and with zeros after a batch: a watchdog reads what was running. */
  readonly mark?: (conv: number, seq: number) => void;
  /** Gets the frames of inspected conversations. @default no inspection */
  readonly onInspect?: InspectSink;
}

export interface ConversationHost {
  apply(batch: HostBatch): HostResult;
  /** The settings of config `version` for a conversation. @throws EarshotError EAR_PROTOCOL */
  settings(key: string, version: number): ConversationSettings;
  /** Summaries; null for a conversation that is not live here. */
  summary(convs: readonly number[], now: Millis): (ConversationSummary | null)[];
  /** The live conversations here. */
  count(): ConversationCount;
  /** Starts one reader of conversations. */
  inspect(order: InspectRequest): void;
  uninspect(reader: number): void;
  stop(): void;
}

/** The part of an error that may leave the host. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 500);

/** The encoded verdict among a step's effects, or 0, and the effects beside it. */
export function splitVerdict(effects: readonly Effect[]): {
  readonly code: number;
  readonly rest: readonly Effect[];
} {
  for (const effect of effects)
    if (effect.type === "decided") {
      const rest = effects.length === 1 ? [] : effects.filter(({ type }) => type !== "decided");
      return { code: encodeVerdict(effect), rest };
    }
  return { code: 0, rest: effects };
}

/** Whether a step has only decided, and pushed older messages out of the memory. */
function isHeard(effects: readonly Effect[]): boolean {
  for (const effect of effects)
    if (effect.type !== "decided" && !(effect.type === "dropped" && effect.why === "context-size"))
      return false;
  return true;
}

export function createHostCore(options: ConversationHostOptions): ConversationHost {
  return new Core(options);
}

/** The results of a batch so far. */
interface Draft {
  readonly codes: number[];
  readonly steps: HostStep[];
  readonly forgotten: Forgotten[];
  readonly checkpoints: HostCheckpoint[];
  readonly evicted: Set<number>;
  readonly due: Set<Slot>;
  readonly rejected: { seq: number; conv: number; error: string }[];
  readonly unreadable: { conv: number; error: string }[];
}

const emptyDraft = (): Draft => ({
  codes: [],
  steps: [],
  forgotten: [],
  checkpoints: [],
  evicted: new Set(),
  due: new Set(),
  rejected: [],
  unreadable: [],
});

class Core implements ConversationHost {
  readonly #options: ConversationHostOptions;
  readonly #configs = new Map<number, EarshotConfig>();
  readonly #live: ConversationCache;
  readonly #mark: (conv: number, seq: number) => void;
  readonly #inspection: HostInspection | null;
  #draft = emptyDraft();
  #records = false;

  constructor(options: ConversationHostOptions) {
    this.#options = options;
    this.#mark = options.mark ?? (() => undefined);
    const { onInspect } = options;
    this.#inspection = onInspect === undefined ? null : new HostInspection(onInspect);
    const tailMax = options.evictedTail ?? limits.evictedTailEventsMax;
    this.#live = new ConversationCache(
      options.live,
      ({ steps }) => this.#records || steps > tailMax,
      (slot, record) => this.#evicted(slot, record),
    );
  }

  apply(batch: HostBatch): HostResult {
    this.#draft = emptyDraft();
    this.#records = batch.records === true;
    for (const { version, config } of batch.configs) this.#configs.set(version, config);
    for (const conv of batch.forget) this.#live.forget(conv);
    for (const entry of batch.entries) this.#draft.codes.push(this.#enter(entry));
    for (const slot of this.#draft.due) this.#checkpoint(slot);
    if (batch.passivate === true) this.#live.passivateIdle();
    this.#inspection?.flush();
    this.#mark(0, 0);
    const { codes, steps, forgotten, checkpoints, evicted, rejected, unreadable } = this.#draft;
    // Otherwise an idle host would keep the records of its last batch.
    this.#draft = emptyDraft();
    return {
      id: batch.id,
      epoch: batch.epoch,
      codes,
      steps,
      forgotten,
      checkpoints,
      passivated: [...evicted].filter((conv) => !this.#live.has(conv)),
      rejected,
      unreadable,
      live: this.#live.size,
    };
  }

  settings(key: string, version: number): ConversationSettings {
    const config = this.#configs.get(version);
    if (config === undefined)
      throw new EarshotError(
        "EAR_PROTOCOL",
        `Cannot resolve a conversation's settings: its config was never sent (version ${version}).`,
      );
    return this.#options.settingsFor(config, key, version);
  }

  summary(convs: readonly number[], now: Millis): (ConversationSummary | null)[] {
    return convs.map((conv) => this.#live.peek(conv)?.actor.summary(now) ?? null);
  }

  count(): ConversationCount {
    return this.#live.count();
  }

  inspect(order: InspectRequest): void {
    this.#inspection?.begin(order, this.#live.slots());
  }

  uninspect(reader: number): void {
    this.#inspection?.stop(reader);
  }

  stop(): void {
    this.#live.passivateIdle();
    this.#configs.clear();
  }

  /** Applies one event to its conversation; returns its code. */
  #enter(entry: HostEntry): number {
    const slot = this.#slotFor(entry);
    if (slot === undefined) return notLiveCode;
    if (entry.seq <= slot.seq) return alreadySteppedCode;
    this.#mark(entry.conv, entry.seq);
    try {
      const effects = slot.actor.step(entry.event, this.#settingsOf(slot, entry.cfg));
      slot.seq = entry.seq;
      slot.steps += 1;
      if (slot.steps >= this.#options.checkpointEvery) this.#draft.due.add(slot);
      this.#live.place(slot);
      return this.#note(slot, entry.seq, entry.event.at, effects, false);
    } catch (error) {
      this.#draft.due.delete(slot);
      this.#inspection?.ended(entry.conv, reasonOf(error));
      this.#live.drop(entry.conv);
      this.#draft.rejected.push({ seq: entry.seq, conv: entry.conv, error: reasonOf(error) });
      return quarantinedCode;
    }
  }

  /** The live conversation of an entry; undefined when it must be sent with its activation. */
  #slotFor(entry: HostEntry): Slot | undefined {
    const { conv, key, cfg, activation } = entry;
    if (activation !== undefined) {
      this.#inspection?.ended(conv);
      this.#live.drop(conv);
      return this.#activate(entry, activation);
    }
    const slot = this.#live.get(conv);
    if (slot !== undefined) return slot;
    const evicted = this.#live.revive(conv);
    if (evicted === undefined) return undefined;
    return this.#activate(
      { conv, key, cfg },
      { record: evicted.record, recordSeq: evicted.seq, tail: [] },
    );
  }

  #activate(
    entry: Pick<HostEntry, "conv" | "key" | "cfg">,
    activation: Activation,
  ): Slot | undefined {
    const poisonous = new Set<number>();
    for (;;) {
      let slot: Slot;
      try {
        slot = this.#restore(entry, activation);
      } catch (error) {
        this.#draft.unreadable.push({ conv: entry.conv, error: reasonOf(error) });
        return undefined;
      }
      const failed = this.#replay(slot, activation, poisonous);
      if (failed === undefined) {
        this.#live.place(slot);
        this.#inspection?.appeared(slot);
        if (slot.steps >= this.#options.checkpointEvery) this.#draft.due.add(slot);
        return slot;
      }
      slot.actor.stop();
      poisonous.add(failed.seq);
      this.#draft.rejected.push({ ...failed, conv: entry.conv });
    }
  }

  #restore(entry: Pick<HostEntry, "conv" | "key" | "cfg">, activation: Activation): Slot {
    const settings = this.settings(entry.key, activation.tail[0]?.cfg ?? entry.cfg);
    const { record, recordSeq } = activation;
    const { conv, key } = entry;
    const actor = this.#options.create({ key, settings, ...(record === null ? {} : { record }) });
    return { conv, key, actor, settings, seq: recordSeq, recordSeq, steps: 0, list: null };
  }

  /**
   * Steps the tail; returns the first event that throws, if any. Its steps count only if all
   * succeed.
   */
  #replay(
    slot: Slot,
    activation: Activation,
    poisonous: ReadonlySet<number>,
  ): { seq: number; error: string } | undefined {
    const before = this.#draft.steps.length;
    for (const { seq, cfg, event: read, body = "", applied } of activation.tail) {
      if (poisonous.has(seq)) continue;
      this.#mark(slot.conv, seq);
      try {
        const event = read ?? decodeEvent({ seq, body });
        const effects = slot.actor.step(event, this.#settingsOf(slot, cfg));
        slot.seq = seq;
        slot.steps += 1;
        if (!applied) this.#note(slot, seq, event.at, effects, true);
      } catch (error) {
        this.#draft.steps.length = before;
        return { seq, error: reasonOf(error) };
      }
    }
    return undefined;
  }

  #settingsOf(slot: Slot, version: number): ConversationSettings {
    if (slot.settings.version !== version) slot.settings = this.settings(slot.key, version);
    return slot.settings;
  }

  /** Records a step's effects and returns its verdict. `always`: also a step without effects. */
  #note(slot: Slot, seq: number, at: number, effects: readonly Effect[], always: boolean): number {
    if (!always && isHeard(effects)) return this.#noteHeard(seq, effects);
    const { code, rest } = splitVerdict(effects);
    if (always || rest.length > 0)
      this.#draft.steps.push({ seq, conv: slot.conv, key: slot.key, at, code, effects: rest });
    return code;
  }

  #noteHeard(seq: number, effects: readonly Effect[]): number {
    let code = 0;
    for (const effect of effects)
      if (effect.type === "decided") code = encodeVerdict(effect);
      else if (effect.type === "dropped")
        this.#draft.forgotten.push([seq, effect.message.seq, effect.message.id]);
    return code;
  }

  #checkpoint(slot: Slot): void {
    this.#draft.checkpoints.push({
      conv: slot.conv,
      recordSeq: slot.seq,
      record: slot.actor.record(),
    });
    slot.recordSeq = slot.seq;
    slot.steps = 0;
  }

  #evicted(slot: Slot, record: string | null): void {
    this.#inspection?.ended(slot.conv);
    this.#draft.evicted.add(slot.conv);
    this.#draft.due.delete(slot);
    if (record !== null && slot.seq > slot.recordSeq)
      this.#draft.checkpoints.push({ conv: slot.conv, recordSeq: slot.seq, record });
  }
}
