/**
 * The service behind the What-if page: holds a few recordings, tries rules on them in a separate
 * process, and writes accepted rules to the config file, where they take effect immediately and can be
 * undone. The decisions under the current rules are computed once for each recording.
 */

import type { Why } from "../../actors/protocol/why.ts";
import type { RecordingRange, RecordingStore } from "../../actors/recording/types.ts";
import {
  type EarshotConfig,
  overlay,
  scenarioConfig,
  withoutSecrets,
} from "../../domain/config/index.ts";
import { assertMayOverride } from "../../domain/config/parse/chat-overrides.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Clock, ConfigLayers, Ids } from "../../domain/ports/index.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { SetupPlanAnswer } from "../api-types/setup.ts";
import type {
  WhatIfApplied,
  WhatIfFrame,
  WhatIfLadders,
  WhatIfRecording,
} from "../api-types/what-if.ts";
import type { ConfigChanges, TextChange } from "../config-edit/changes.ts";
import { withValue } from "../config-edit/json5-text.ts";
import { withoutOverrides } from "../config-edit/room-edits.ts";
import { compare } from "./compare.ts";
import { linesUpTo, ofConversation } from "./conversation-slice.ts";
import { createWhatIfProcesses, type WhatIfProcesses } from "./processes.ts";
import type { Recording } from "./recording.ts";
import { readRules, rulesText } from "./rules-text.ts";
import type { Decided } from "./worker.ts";

export interface WhatIfPorts {
  readonly store: RecordingStore;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "next">;
  readonly config: () => EarshotConfig;
  readonly layers: ConfigLayers;
  readonly changes: ConfigChanges;
}

export interface WhatIfService {
  record(query: RecordingRange, name: string): Promise<WhatIfRecording>;
  /** @throws EarshotError EAR_SCENARIO_INVALID, EAR_USAGE when it is too large. */
  upload(text: string, name: string): Promise<WhatIfRecording>;
  /** Sends progress and the result, until it ends or is cancelled. */
  run(
    recordingId: string,
    rules: string,
    send: (frame: WhatIfFrame) => void,
    signal: AbortSignal,
  ): Promise<void>;
  ladders(
    recordingId: string,
    rules: string,
    n: number,
    signal: AbortSignal,
  ): Promise<WhatIfLadders>;
  /** What the differences from the current config would change in its file. */
  plan(rules: string): Promise<SetupPlanAnswer>;
  /** Writes that to the file; all or none. An override of the same value goes. */
  apply(rules: string, token: string): Promise<WhatIfApplied>;
  undo(undo: WhatIfApplied["undo"]): Promise<{ readonly rules: string }>;
  close(): void;
}

/** Loaded with the first recording: a daemon that compares nothing does without what reads and writes them. */
const recordings = () => import("./recording.ts");
const recordingsMax = 3;
interface LoadedRecording {
  readonly id: string;
  readonly recording: Recording;
  readonly isOurs: boolean;
  /** Its decisions under a base config, by that config's text. */
  baseline: { readonly config: string; readonly decided: readonly Decided[] } | null;
}

const letIn = { dmPolicy: "open", groupPolicy: "open" };
type Base = Readonly<Record<string, unknown>>;

export function createWhatIf(ports: WhatIfPorts): WhatIfService {
  return new WhatIfRuns(ports);
}

class WhatIfRuns implements WhatIfService {
  readonly #ports: WhatIfPorts;
  readonly #recordings = new Map<string, LoadedRecording>();
  readonly #processes: WhatIfProcesses;

  constructor(ports: WhatIfPorts) {
    this.#ports = ports;
    this.#processes = createWhatIfProcesses(ports.clock);
  }

  async record(query: RecordingRange, name: string): Promise<WhatIfRecording> {
    const { recordingOf } = await recordings();
    return this.#keep(await recordingOf(this.#ports.store, query, name), true);
  }

  async upload(text: string, name: string): Promise<WhatIfRecording> {
    const { recordingFrom } = await recordings();
    return this.#keep(recordingFrom(text, name), false);
  }

  #keep(recording: Recording, isJournal: boolean): WhatIfRecording {
    const id = this.#ports.ids.next();
    const own = Object.keys(recording.header.config).length > 0;
    const loaded: LoadedRecording = { id, recording, isOurs: isJournal || !own, baseline: null };
    this.#recordings.set(id, loaded);
    if (this.#recordings.size > recordingsMax)
      this.#recordings.delete(this.#recordings.keys().next().value as string);
    return {
      id,
      name: recording.name,
      messages: recording.messages.length,
      rooms: recording.rooms,
      from: recording.header.start ?? null,
      rules: rulesText(this.#baseOf(loaded)),
      isOurs: loaded.isOurs,
    };
  }

  #get(id: string): LoadedRecording {
    const loaded = this.#recordings.get(id);
    if (loaded !== undefined) return loaded;
    throw new EarshotError(
      "EAR_USAGE",
      "Cannot find that recording: others were loaded since. Load it again",
    );
  }

  /**
   * The config that the rules are applied to: the current one, or the recording's own. Access is open
   * for a file without a config, because its rooms are not in the current config.
   */
  #baseOf({ isOurs, recording }: LoadedRecording): Base {
    if (!isOurs) return scenarioConfig({}, recording.header.config) as unknown as Base;
    const current = withoutSecrets(this.#ports.config()) as unknown as Base;
    const isJournal = Object.keys(recording.header.config).length > 0;
    return isJournal ? current : overlay(current, { access: letIn });
  }

  async run(
    recordingId: string,
    rules: string,
    send: (frame: WhatIfFrame) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const loaded = this.#get(recordingId);
    const base = this.#baseOf(loaded);
    const read = readRules(rules, base);
    if (read.problems !== null) return send({ type: "invalid", problems: read.problems });
    send({ type: "valid", edits: read.edits });
    const startedAt = this.#ports.clock.monotonic();
    const isKnown = loaded.baseline?.config === JSON.stringify(base);
    const parts = isKnown ? 1 : 2;
    const share = (part: number) => (of: number) =>
      send({ type: "progress", share: (part + of) / parts });
    const before = await this.#baseline(loaded, base, share(0), signal);
    const isSame = read.edits.length === 0;
    const after = isSame
      ? before
      : await this.#decide(loaded.recording.lines, read.config, loaded, share(parts - 1), signal);
    const result = compare(loaded.recording, before, after);
    const tookMs = this.#ports.clock.monotonic() - startedAt;
    send({ type: "result", result: { ...result, tookMs } });
  }

  async #baseline(
    loaded: LoadedRecording,
    base: Base,
    share: (of: number) => void,
    signal: AbortSignal,
  ): Promise<readonly Decided[]> {
    const config = JSON.stringify(base);
    if (loaded.baseline?.config === config) return loaded.baseline.decided;
    const decided = await this.#decide(loaded.recording.lines, base, loaded, share, signal);
    loaded.baseline = { config, decided };
    return decided;
  }

  async #decide(
    lines: readonly ScenarioLine[],
    config: Base,
    { recording }: LoadedRecording,
    share: (of: number) => void,
    signal: AbortSignal,
  ): Promise<readonly Decided[]> {
    const { linesUnder } = await recordings();
    const judged = linesUnder(lines, recording, config);
    const task = { lines: [headerOf(recording, config), ...judged], config, explain: null };
    const answer = await this.#processes.run(task, share, signal);
    return answer.type === "decided" ? answer.decided : [];
  }

  async ladders(
    recordingId: string,
    rules: string,
    n: number,
    signal: AbortSignal,
  ): Promise<WhatIfLadders> {
    const loaded = this.#get(recordingId);
    const base = this.#baseOf(loaded);
    const read = readRules(rules, base);
    const message = loaded.recording.messages[n];
    if (read.problems !== null || message === undefined)
      throw new EarshotError(
        "EAR_USAGE",
        "Cannot explain that: the rules are invalid, or the message is not in the recording",
      );
    const whole = linesUpTo(loaded.recording, n);
    const part = ofConversation(whole, await this.#baseline(loaded, base, () => undefined, signal));
    const explain = async (lines: readonly ScenarioLine[], config: Base): Promise<Why | null> => {
      const end = { t: message.t, end: true };
      const { linesUnder } = await recordings();
      const judged = linesUnder(lines, loaded.recording, config);
      const scenario = [headerOf(loaded.recording, config), ...judged, end];
      const task = { lines: scenario, config, explain: message.id };
      const answer = await this.#processes.run(task, () => undefined, signal);
      return answer.type === "why" ? answer.why : null;
    };
    const lines = part ?? whole;
    return { before: await explain(lines, base), after: await explain(lines, read.config) };
  }

  async plan(rules: string): Promise<SetupPlanAnswer> {
    const { change } = this.#changeOf(rules);
    return this.#ports.changes.plan(change);
  }

  async apply(rules: string, token: string): Promise<WhatIfApplied> {
    const { changes, layers } = this.#ports;
    const { edits, change } = this.#changeOf(rules);
    const paths = edits.map(({ path }) => path);
    const written = await withoutOverrides(layers, paths, () =>
      changes.write(change, token, `What-if: ${paths.join(", ")}`),
    );
    const undo = { copy: written.copy, token: written.token };
    return { edits, undo, applied: written.applied, rules: this.#rulesNow() };
  }

  /** @throws EarshotError EAR_CONFIG_* when the rules are wrong, or have a value that is not for here. */
  #changeOf(rules: string): {
    readonly edits: WhatIfApplied["edits"];
    readonly change: TextChange;
  } {
    const base = withoutSecrets(this.#ports.config()) as unknown as Base;
    const read = readRules(rules, base);
    if (read.problems !== null)
      throw new EarshotError(
        "EAR_CONFIG_INVALID",
        `Cannot apply the rules: ${read.problems[0]?.message ?? "they are wrong"}`,
      );
    const { edits, places } = read;
    for (const { path, after } of places) assertMayOverride(path.map(String), after);
    const change = (text: string) =>
      places.reduce((now, { path, after }) => withValue(now, path, after), text);
    return { edits, change };
  }

  async undo({ copy, token }: WhatIfApplied["undo"]): Promise<{ readonly rules: string }> {
    await this.#ports.changes.undo(copy, token);
    return { rules: this.#rulesNow() };
  }

  close(): void {
    this.#processes.close();
  }

  #rulesNow(): string {
    return rulesText(withoutSecrets(this.#ports.config()) as unknown as Base);
  }
}

/** The recording's header with the tried rules, which apply to all lines. */
const headerOf = ({ header: { start, local } }: Recording, config: Base) => ({
  earshot: 1,
  config,
  ...(start !== undefined && { start }),
  ...(local !== undefined && { local }),
});
