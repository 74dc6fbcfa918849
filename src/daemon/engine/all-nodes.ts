/**
 * What a node shows of the conversations of all nodes
 * ===================================================
 * Active conversations of this node are asked; those that are active elsewhere are replayed from the copy, from their
 * records on, and again when it has more of them.
 */
import { LRUCache } from "lru-cache";
import { createConfigHistory } from "../../actors/journal/config-versions.ts";
import { replayConversation } from "../../actors/journal/replayed-conversation.ts";
import type {
  ConversationCount,
  ConversationSummary,
} from "../../actors/protocol/conversation-summary.ts";
import type { Runtime, RuntimeStatus } from "../../actors/protocol/runtime.ts";
import { nextBeats } from "../../actors/turns/heartbeats.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { atMost } from "../../domain/limits.ts";
import type { Clock, MirrorStore } from "../../domain/ports/index.ts";

export interface AllNodesPorts {
  readonly clock: Clock;
  readonly mirror: MirrorStore;
  readonly config: () => EarshotConfig;
  /** Runtimes of conversations that are active here, by their number. */
  readonly active: () => ReadonlyMap<number, Pick<Runtime, "summaries">>;
}

export interface AllNodes extends Pick<Runtime, "summaries" | "count"> {
  /** With what concerns conversations, as it is on all nodes. */
  status(own: RuntimeStatus): RuntimeStatus;
}

const cachedMax = 10_000;
/** Active conversations whose state is counted. */
const countedMax = 500;

export function createAllNodes({ clock, mirror, config, active }: AllNodesPorts): AllNodes {
  const configs = createConfigHistory(mirror, config);
  const cache = new LRUCache<number, { readonly seq: number; readonly now: ConversationSummary }>(
    atMost(cachedMax),
  );

  async function replayed(conv: number): Promise<ConversationSummary | null> {
    const row = await mirror.conversation(conv);
    if (row === null) return null;
    const rows = (await mirror.tail(conv, row.recordSeq)).filter(({ code }) => code !== null);
    const last = rows.at(-1);
    // Its record covers it all: it rests.
    if (last === undefined) return null;
    const known = cache.get(conv);
    if (known?.seq === last.seq) return known.now;
    await configs.load(rows.map(({ cfg }) => cfg));
    const { key, record } = row;
    const version = rows[0]?.cfg ?? 0;
    const { conversation, step } = await replayConversation(configs, { key, record, version });
    try {
      for (const one of rows) step(one);
      const now = conversation.summary(clock.now());
      cache.set(conv, { seq: last.seq, now });
      return now;
    } finally {
      conversation.stop();
    }
  }

  async function summaries(convs: readonly number[]): Promise<Map<number, ConversationSummary>> {
    const here = active();
    const found = new Map<number, ConversationSummary>();
    for (const conv of convs) {
      const own = await here.get(conv)?.summaries([conv]);
      const summary = own?.get(conv) ?? (await replayed(conv));
      if (summary !== null) found.set(conv, summary);
    }
    return found;
  }

  return {
    summaries,
    async count(): Promise<ConversationCount> {
      const open = new Set([...active().keys(), ...mirror.overview().open]);
      const seen = await summaries([...open].slice(0, countedMax));
      const those = (is: (summary: ConversationSummary) => boolean) =>
        [...seen].flatMap(([conv, summary]) => (is(summary) ? [conv] : []));
      return {
        live: open.size,
        engaged: those(({ attention }) => attention !== "observing"),
        guarded: those(({ guard }) => guard !== "clear"),
      };
    },
    status(own) {
      const { outbox, runs, quarantined, open, beats } = mirror.overview();
      const agents = [...new Set(runs.map(({ agentId }) => agentId))].sort();
      const counted = (state: string, agentId?: string) =>
        runs.filter((run) => run.state === state && (agentId ?? run.agentId) === run.agentId)
          .length;
      return {
        ...own,
        conversations: { live: open.length, dirty: open.length },
        turns: { running: counted("running"), waiting: counted("waiting") },
        lanes: agents.map((agentId) => ({
          agentId,
          running: counted("running", agentId),
          waiting: counted("waiting", agentId),
        })),
        outbox,
        heartbeats: nextBeats(config(), beats, clock.now()),
        quarantined: quarantined.flatMap(
          (list) => JSON.parse(list) as RuntimeStatus["quarantined"],
        ),
      };
    },
  };
}
