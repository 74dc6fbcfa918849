/**
 * Starts turns on the configured schedule. A due heartbeat is journalled like any other event of a
 * conversation, which decides when its turn runs; this file holds the timer and its state: the
 * route of the conversation's last message, where the answer goes, and the time of the last
 * heartbeat, so that a restart neither loses nor repeats one.
 *
 * A timer is rearmed when it fires, so a machine that slept starts one turn each. An agent whose
 * HEARTBEAT.md has no instructions is not called, and a conversation without any message has no
 * route. One that spoke before the config woke anybody there has it in the journal.
 */
import {
  agentOf,
  type EarshotConfig,
  heartbeatKeys,
  resolveHeartbeat,
} from "../../domain/config/index.ts";
import { defaultAccount, parseSessionKey } from "../../domain/key.ts";
import { type Millis, type Route, sameRoute } from "../../domain/message.ts";
import {
  type Clock,
  heartbeatFile,
  type Log,
  type MetaWrite,
  type Store,
  type StoreWrite,
  type TimerHandle,
  type Workspaces,
} from "../../domain/ports/index.ts";
import { hasInstructions } from "../../machines/prompt/heartbeat.ts";
import type { Configs } from "../journal/config-versions.ts";
import { newestRoute } from "../journal/newest-route.ts";
import { conversationOf, type NewEvent, newEvent } from "../protocol/event-codec.ts";

export interface HeartbeatPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "meta" | "tail" | "lastSeqOf">;
  readonly configs: Pick<Configs, "current" | "version">;
  /** Whether the heartbeats of a conversation start here. */
  readonly starts: (key: string) => boolean;
  /** Null: agents have no folders, and there are no heartbeats. */
  readonly workspaces: Pick<Workspaces, "read"> | null;
  /** Journals events; a write lost at shutdown is detected as outdated at the next start. */
  readonly append: (events: readonly NewEvent[], writes: readonly StoreWrite[]) => void;
  /** Called for each due heartbeat. `why`: why it was skipped; null: it was not. */
  readonly onBeat: (key: string, why: string | null) => void;
}

/** The stored state of a conversation with heartbeats. */
interface StoredBeat {
  /** Route of the last message; null: none yet. */
  route: Route | null;
  /** Time of the last heartbeat, or of the first possible one. */
  at: Millis | null;
}

const noBeat: StoredBeat = { route: null, at: null };

interface Beat extends StoredBeat {
  readonly agentId: string;
  timer: TimerHandle | null;
  dueAt: Millis | null;
  looking: boolean;
}

export interface Heartbeats {
  /** Loads the stored state, before the first message. */
  load(): Promise<void>;
  /** Arms the timers. */
  start(): void;
  /** Applies a changed config. */
  retune(): Promise<void>;
  /** The write to commit with a conversation's message. */
  noteRoute(key: string, route: Route): MetaWrite | null;
  /** An agent's current heartbeat instructions; null: none. */
  instructions(agentId: string): Promise<string | null>;
  /** Number of folders being read. */
  looking(): number;
  /** Next heartbeat of each conversation, soonest first. */
  next(): readonly { readonly key: string; readonly at: Millis }[];
  stop(): void;
}

export function createHeartbeats(ports: HeartbeatPorts): Heartbeats {
  const { clock, log, configs, workspaces } = ports;
  const beats = new Map<string, Beat>();
  let stopped = false;

  const metaOf = (key: string, { route, at }: StoredBeat): MetaWrite => ({
    kind: "meta",
    name: beatName(key),
    value: JSON.stringify({ route, at }),
  });

  async function loadOne(key: string): Promise<void> {
    if (beats.has(key)) return;
    const { agentId } = parseSessionKey(key);
    const beat: Beat = { ...noBeat, agentId, timer: null, dueAt: null, looking: false };
    beats.set(key, beat);
    const { store } = ports;
    const stored = await store.meta(beatName(key));
    const { route, at }: StoredBeat = stored === null ? noBeat : JSON.parse(stored);
    const found = route ?? (await newestRoute(store, conversationOf(key).conv));
    // A message received meanwhile is newer.
    beat.route ??= found;
    beat.at ??= at;
  }

  function everyMs(key: string): number {
    return heartbeatFor(configs.current(), key).everyMs;
  }

  function disarm(beat: Beat): void {
    if (beat.timer !== null) clock.clearTimer(beat.timer);
    beat.timer = null;
    beat.dueAt = null;
  }

  /** Arms a timer relative to the last heartbeat, at most one period from now. */
  function arm(key: string, beat: Beat): void {
    disarm(beat);
    const every = everyMs(key);
    if (stopped || every === 0) return;
    const now = clock.now();
    if (beat.at === null) {
      beat.at = now;
      ports.append([], [metaOf(key, beat)]);
    }
    beat.dueAt = dueAfter(beat.at, every, now);
    beat.timer = clock.setTimer(beat.dueAt, () => fire(key, beat));
  }

  function fire(key: string, beat: Beat): void {
    beat.at = clock.now();
    arm(key, beat);
    if (beat.looking) return;
    if (beat.route === null) pass(key, beat, "nobody has spoken there");
    else void look(key, beat);
  }

  async function look(key: string, beat: Beat): Promise<void> {
    beat.looking = true;
    try {
      const asked = await instructions(beat.agentId);
      if (asked === null) pass(key, beat, `${heartbeatFile} asks for nothing`);
      else if (!stopped) wake(key, beat);
    } catch (error) {
      log("warn", "heartbeat.unread", { key, error: String((error as Error).message) });
      pass(key, beat, `${heartbeatFile} could not be read`);
    } finally {
      beat.looking = false;
    }
  }

  function wake(key: string, beat: Beat): void {
    const { route, at } = beat;
    if (route === null || at === null) return;
    const event = { type: "heartbeat.due", at: clock.now(), route } as const;
    const identity = `heartbeat|${at}`;
    const due = newEvent(conversationOf(key), configs.version(), event, { identity });
    ports.append([due], [metaOf(key, beat)]);
    ports.onBeat(key, null);
  }

  function pass(key: string, beat: Beat, why: string): void {
    if (stopped) return;
    log("debug", "heartbeat.skipped", { key, why });
    ports.append([], [metaOf(key, beat)]);
    ports.onBeat(key, why);
  }

  async function instructions(agentId: string): Promise<string | null> {
    if (workspaces === null) return null;
    const { workspace } = agentOf(configs.current(), agentId);
    const text = await workspaces.read(workspace, heartbeatFile);
    return text === null || !hasInstructions(text) ? null : text;
  }

  async function load(): Promise<void> {
    if (workspaces === null) return;
    const keys = new Set(heartbeatKeys(configs.current()).filter(ports.starts));
    for (const [key, beat] of beats)
      if (!keys.has(key)) {
        disarm(beat);
        beats.delete(key);
      }
    for (const key of keys) await loadOne(key);
  }

  function start(): void {
    for (const [key, beat] of beats) arm(key, beat);
  }

  return {
    load,
    start,
    async retune() {
      await load();
      start();
    },
    noteRoute(key, route) {
      const beat = beats.get(key);
      if (beat === undefined) return null;
      if (beat.route !== null && sameRoute(beat.route, route)) return null;
      beat.route = route;
      return metaOf(key, beat);
    },
    instructions,
    looking: () => [...beats.values()].filter(({ looking }) => looking).length,
    next() {
      const due = [...beats].flatMap(([key, { dueAt }]) =>
        dueAt === null ? [] : [{ key, at: dueAt }],
      );
      return due.sort((a, b) => a.at - b.at);
    },
    stop() {
      stopped = true;
      for (const beat of beats.values()) disarm(beat);
    },
  };
}

/** At most one period from now, as the clock may have been set back. */
const dueAfter = (last: Millis, every: Millis, now: Millis): Millis =>
  Math.max(now, Math.min(last + every, now + every));

const namePrefix = "heartbeat|";
const beatName = (key: string) => namePrefix + key;

/** When the conversations of which these are the stored states are woken next, soonest first. */
export function nextBeats(
  config: EarshotConfig,
  stored: readonly { readonly name: string; readonly value: string }[],
  now: Millis,
): ReturnType<Heartbeats["next"]> {
  const states = new Map(stored.map(({ name, value }) => [name, value]));
  const due = wokenKeys(config).flatMap((key) => {
    const state = states.get(beatName(key));
    const { at } = state === undefined ? { at: null } : (JSON.parse(state) as StoredBeat);
    return at === null ? [] : [{ key, at: dueAfter(at, heartbeatFor(config, key).everyMs, now) }];
  });
  return due.sort((a, b) => a.at - b.at);
}

/** The conversations that the config wakes. */
export const wokenKeys = (config: EarshotConfig): readonly string[] =>
  heartbeatKeys(config).filter((key) => heartbeatFor(config, key).everyMs > 0);

/** The heartbeat settings of a conversation. */
export function heartbeatFor(config: EarshotConfig, key: string) {
  const parts = parseSessionKey(key);
  return resolveHeartbeat(config, {
    agentId: parts.agentId,
    key,
    channel: "channel" in parts ? parts.channel : "",
    account: "account" in parts ? parts.account : defaultAccount,
  });
}
