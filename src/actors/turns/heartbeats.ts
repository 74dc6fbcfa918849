/**
 * Heartbeats
 * ==========
 * Wakes agents that the config says are to be woken. A heartbeat that falls due is journalled like
 * anything else that happens to a conversation, which decides when its turn comes; here is only the
 * timer, and what has to be known for it: where the conversation last heard somebody, because the
 * words go there, and when it was last woken, so that a restart neither forgets nor repeats one.
 *
 * A timer is armed from the moment it fires, so a machine that slept wakes its agents once. An
 * agent whose HEARTBEAT.md asks for nothing is not called, and a conversation in which nobody has
 * ever spoken has no place to speak to.
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
import { conversationOf, type NewEvent, newEvent } from "../protocol/event-codec.ts";

export interface HeartbeatPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "meta">;
  readonly configs: Pick<Configs, "current" | "version">;
  /** Null: agents have no folders, and nobody is woken. */
  readonly workspaces: Workspaces | null;
  /** Journals; what cannot be written any more is found out of date at the next start. */
  readonly append: (events: readonly NewEvent[], writes: readonly StoreWrite[]) => void;
  /** One fell due. `why` tells why nobody was woken by it; null: somebody was. */
  readonly onBeat: (key: string, why: string | null) => void;
}

/** What the store keeps of a conversation that may be woken. */
interface StoredBeat {
  /** Where somebody was last heard; null: nobody ever was. */
  route: Route | null;
  /** When it was last woken, or first could have been. */
  at: Millis | null;
}

interface Beat extends StoredBeat {
  readonly agentId: string;
  timer: TimerHandle | null;
  dueAt: Millis | null;
  looking: boolean;
}

export interface Heartbeats {
  /** Reads what is kept. Before the first message. */
  load(): Promise<void>;
  /** Arms the timers. */
  start(): void;
  /** The config changed. */
  retune(): Promise<void>;
  /** Somebody is heard in a conversation: what to store along with it. */
  heard(key: string, route: Route): MetaWrite | null;
  /** What the agent of a conversation looks after, as it stands now; null: nothing. */
  instructions(agentId: string): Promise<string | null>;
  /** Folders that are being looked into. */
  looking(): number;
  /** When each conversation is woken next, the soonest first. */
  next(): readonly { readonly key: string; readonly at: Millis }[];
  stop(): void;
}

export function createHeartbeats(ports: HeartbeatPorts): Heartbeats {
  const { clock, log, configs, workspaces } = ports;
  const beats = new Map<string, Beat>();
  let stopped = false;

  const metaOf = (key: string, { route, at }: StoredBeat): MetaWrite => ({
    kind: "meta",
    name: `heartbeat|${key}`,
    value: JSON.stringify({ route, at }),
  });

  async function loadOne(key: string): Promise<void> {
    if (beats.has(key)) return;
    const { agentId } = parseSessionKey(key);
    const beat: Beat = { agentId, route: null, at: null, timer: null, dueAt: null, looking: false };
    beats.set(key, beat);
    const kept = await ports.store.meta(`heartbeat|${key}`);
    if (kept === null) return;
    const { route, at } = JSON.parse(kept) as StoredBeat;
    // Whoever was heard meanwhile is newer.
    beat.route ??= route;
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

  /** Arms a timer by when it was last woken; never later than a whole period from now. */
  function arm(key: string, beat: Beat): void {
    disarm(beat);
    const every = everyMs(key);
    if (stopped || every === 0) return;
    const now = clock.now();
    if (beat.at === null) {
      beat.at = now;
      ports.append([], [metaOf(key, beat)]);
    }
    beat.dueAt = Math.max(now, Math.min(beat.at + every, now + every));
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
    const keys = new Set(heartbeatKeys(configs.current()));
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
    heard(key, route) {
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

/** What the config says for a conversation's heartbeats. */
export function heartbeatFor(config: EarshotConfig, key: string) {
  const parts = parseSessionKey(key);
  return resolveHeartbeat(config, {
    agentId: parts.agentId,
    key,
    channel: "channel" in parts ? parts.channel : "",
    account: "account" in parts ? parts.account : defaultAccount,
  });
}
