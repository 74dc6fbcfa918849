/**
 * What-if
 * =======
 * The desk behind the page: keeps a few recordings, tries rules on them in a process of their own,
 * and hands what is liked to the layer that lies over the config file, where it counts at once and
 * can be taken back. How the recording was decided under the rules as they are is worked out once
 * and kept beside it.
 */

import type { Why } from "../../actors/protocol/runtime.ts";
import type { RecordingRange, RecordingStore } from "../../actors/recording/types.ts";
import {
  type EarshotConfig,
  overlay,
  scenarioConfig,
  withoutSecrets,
} from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Clock, ConfigLayers, Ids } from "../../domain/ports/index.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type {
  WhatIfApplied,
  WhatIfFrame,
  WhatIfLadders,
  WhatIfRecording,
} from "../api-types/what-if.ts";
import { compare } from "./compare.ts";
import { linesUpTo, ofConversation } from "./conversation-slice.ts";
import { createWhatIfProcesses, type WhatIfProcesses } from "./processes.ts";
import { type Recording, recordingFrom, recordingOf } from "./recording.ts";
import { type EditPlace, readRules, rulesText } from "./rules-text.ts";
import type { Decided } from "./worker.ts";

export interface WhatIfPorts {
  readonly store: RecordingStore;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "next">;
  readonly config: () => EarshotConfig;
  readonly layers: ConfigLayers;
}

export interface WhatIfService {
  record(query: RecordingRange, name: string): Promise<WhatIfRecording>;
  /** @throws EarshotError EAR_SCENARIO_INVALID, EAR_USAGE when it is too large. */
  upload(text: string, name: string): WhatIfRecording;
  /** Tells how it goes, and what comes of it, until it ends or is called off. */
  run(
    recordingId: string,
    rules: string,
    tell: (frame: WhatIfFrame) => void,
    signal: AbortSignal,
  ): Promise<void>;
  ladders(
    recordingId: string,
    rules: string,
    n: number,
    signal: AbortSignal,
  ): Promise<WhatIfLadders>;
  /** Puts what differs from the config in force over it; all of it or nothing. */
  apply(rules: string): Promise<WhatIfApplied>;
  undo(id: string): Promise<{ readonly rules: string }>;
  close(): void;
}

const recordingsMax = 3;
const by = "the What-if page";

interface Kept {
  readonly id: string;
  readonly recording: Recording;
  readonly isOurs: boolean;
  /** Its decisions under a base config, by that config's text. */
  baseline: { readonly config: string; readonly decided: readonly Decided[] } | null;
}

const letIn = { dmPolicy: "open", groupPolicy: "open" };
type Base = Readonly<Record<string, unknown>>;

export function createWhatIf(ports: WhatIfPorts): WhatIfService {
  return new Desk(ports);
}

class Desk implements WhatIfService {
  readonly #ports: WhatIfPorts;
  readonly #kept = new Map<string, Kept>();
  readonly #processes: WhatIfProcesses;
  #applied: { readonly id: string; readonly undo: () => Promise<void> } | null = null;

  constructor(ports: WhatIfPorts) {
    this.#ports = ports;
    this.#processes = createWhatIfProcesses(ports.clock);
  }

  async record(query: RecordingRange, name: string): Promise<WhatIfRecording> {
    return this.#keep(await recordingOf(this.#ports.store, query, name), true);
  }

  upload(text: string, name: string): WhatIfRecording {
    return this.#keep(recordingFrom(text, name), false);
  }

  #keep(recording: Recording, isJournal: boolean): WhatIfRecording {
    const id = this.#ports.ids.next();
    const own = Object.keys(recording.header.config).length > 0;
    const kept: Kept = { id, recording, isOurs: isJournal || !own, baseline: null };
    this.#kept.set(id, kept);
    if (this.#kept.size > recordingsMax)
      this.#kept.delete(this.#kept.keys().next().value as string);
    return {
      id,
      name: recording.name,
      messages: recording.messages.length,
      rooms: recording.rooms,
      from: recording.header.start ?? null,
      rules: rulesText(this.#baseOf(kept)),
      isOurs: kept.isOurs,
    };
  }

  #get(id: string): Kept {
    const kept = this.#kept.get(id);
    if (kept !== undefined) return kept;
    throw new EarshotError(
      "EAR_USAGE",
      "Cannot find that recording as others were loaded since: load it again",
    );
  }

  /**
   * What is changed: the config in force, or what the recording brought of its own. Who may speak at
   * all is no question here unless the recording answers it: rooms of a file without rules are
   * nobody's yet. Of its own journal the recording says which channels are the operator's.
   */
  #baseOf({ isOurs, recording }: Kept): Base {
    if (!isOurs) return scenarioConfig({}, recording.header.config) as unknown as Base;
    const current = withoutSecrets(this.#ports.config()) as unknown as Base;
    const isJournal = Object.keys(recording.header.config).length > 0;
    return isJournal ? current : overlay(current, { access: letIn });
  }

  async run(
    recordingId: string,
    rules: string,
    tell: (frame: WhatIfFrame) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const kept = this.#get(recordingId);
    const base = this.#baseOf(kept);
    const read = readRules(rules, base);
    if (read.problems !== null) return tell({ type: "invalid", problems: read.problems });
    tell({ type: "valid", edits: read.edits });
    const startedAt = this.#ports.clock.monotonic();
    const isKnown = kept.baseline?.config === JSON.stringify(base);
    const parts = isKnown ? 1 : 2;
    const share = (part: number) => (of: number) =>
      tell({ type: "progress", share: (part + of) / parts });
    const before = await this.#baseline(kept, base, share(0), signal);
    const isSame = read.edits.length === 0;
    const after = isSame
      ? before
      : await this.#decide(kept.recording.lines, read.config, kept, share(parts - 1), signal);
    const result = compare(kept.recording, before, after);
    const tookMs = this.#ports.clock.monotonic() - startedAt;
    tell({ type: "result", result: { ...result, tookMs } });
  }

  async #baseline(
    kept: Kept,
    base: Base,
    share: (of: number) => void,
    signal: AbortSignal,
  ): Promise<readonly Decided[]> {
    const config = JSON.stringify(base);
    if (kept.baseline?.config === config) return kept.baseline.decided;
    const decided = await this.#decide(kept.recording.lines, base, kept, share, signal);
    kept.baseline = { config, decided };
    return decided;
  }

  async #decide(
    lines: readonly ScenarioLine[],
    config: Base,
    { recording }: Kept,
    share: (of: number) => void,
    signal: AbortSignal,
  ): Promise<readonly Decided[]> {
    const task = { lines: [headerOf(recording), ...lines], config, explain: null };
    const answer = await this.#processes.run(task, share, signal);
    return answer.type === "decided" ? answer.decided : [];
  }

  async ladders(
    recordingId: string,
    rules: string,
    n: number,
    signal: AbortSignal,
  ): Promise<WhatIfLadders> {
    const kept = this.#get(recordingId);
    const base = this.#baseOf(kept);
    const read = readRules(rules, base);
    const message = kept.recording.messages[n];
    if (read.problems !== null || message === undefined)
      throw new EarshotError(
        "EAR_USAGE",
        "Cannot explain that as the rules or the message are gone",
      );
    const whole = linesUpTo(kept.recording, n);
    const part = ofConversation(whole, await this.#baseline(kept, base, () => undefined, signal));
    const walk = async (lines: readonly ScenarioLine[], config: Base): Promise<Why | null> => {
      const end = { t: message.t, end: true };
      const told = [headerOf(kept.recording), ...lines, end];
      const task = { lines: told, config, explain: message.id };
      const answer = await this.#processes.run(task, () => undefined, signal);
      return answer.type === "why" ? answer.why : null;
    };
    const lines = part ?? whole;
    return { before: await walk(lines, base), after: await walk(lines, read.config) };
  }

  async apply(rules: string): Promise<WhatIfApplied> {
    const { layers, ids } = this.#ports;
    const base = withoutSecrets(this.#ports.config()) as unknown as Base;
    const read = readRules(rules, base);
    if (read.problems !== null)
      throw new EarshotError(
        "EAR_CONFIG_INVALID",
        `Cannot apply the rules as ${read.problems[0]?.message ?? "they are wrong"}`,
      );
    const undo = await put(layers, read.places);
    const id = ids.next();
    this.#applied = { id, undo };
    return { edits: read.edits, undo: id, rules: this.#rulesNow() };
  }

  async undo(id: string): Promise<{ readonly rules: string }> {
    const applied = this.#applied;
    if (applied?.id !== id)
      throw new EarshotError("EAR_USAGE", "Cannot undo that as something else was applied since");
    this.#applied = null;
    await applied.undo();
    return { rules: this.#rulesNow() };
  }

  close(): void {
    this.#processes.close();
  }

  #rulesNow(): string {
    return rulesText(withoutSecrets(this.#ports.config()) as unknown as Base);
  }
}

/** Without its rules: those that are tried count from the first line to the last. */
const headerOf = ({ header: { start, local } }: Recording) => ({
  earshot: 1,
  ...(start !== undefined && { start }),
  ...(local !== undefined && { local }),
});

/**
 * Puts values over the config one by one, and takes back those it has put when one is refused. The
 * answer takes all of them back.
 */
async function put(
  layers: ConfigLayers,
  places: readonly EditPlace[],
): Promise<() => Promise<void>> {
  const was = layers.overrides("set");
  const done: string[] = [];
  const undo = async () => {
    for (const path of done.reverse()) {
      const old = was.find((one) => one.path === path);
      if (old === undefined) await layers.unset("set", path);
      else await layers.set("set", path, JSON.stringify(old.value), old.by);
    }
  };
  for (const { path, after } of places) {
    const name = path.join(".");
    try {
      await layers.set("set", name, JSON.stringify(after), by);
      done.push(name);
    } catch (error) {
      await undo();
      throw error;
    }
  }
  return undo;
}
