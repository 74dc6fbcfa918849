/**
 * `messages`: from a message that engages to the batch that a turn answers
 * ========================================================================
 * Gathering, queueing, acknowledging, and how an answer is attached. `byChannel` is a shorthand for
 * the same value under `channels.<id>.messages`, which wins over it.
 */
import { z } from "zod";
import { count, id, ms, positiveMs, section } from "./section.ts";

const queueMode = z.enum(["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"]);

const inbound = section(
  {
    /** Silence of the sender after which what was gathered becomes one batch. */
    debounceMs: ms,
    /** The batch is cut at this age, silence or not. */
    debounceMaxMs: ms,
    /** Channel id to `debounceMs`. */
    byChannel: z.record(id, ms),
  },
  { debounceMs: 500, debounceMaxMs: 2_000, byChannel: {} },
);
const queue = section(
  {
    /** What happens to a batch while a turn runs. */
    mode: queueMode,
    /** Quiet after a turn before what waits becomes the next. */
    debounceMs: ms,
    /** Batches that may wait. */
    cap: count(1, 1_000),
    /** At the cap: one line about the oldest, the oldest goes, or the newest is refused. */
    drop: z.enum(["summarize", "old", "new"]),
    /** Channel id to `mode`. */
    byChannel: z.record(id, queueMode),
  },
  { mode: "collect", debounceMs: 500, cap: 20, drop: "summarize", byChannel: {} },
);
const dedupe = section(
  {
    /** Message ids kept in memory. */
    entries: count(1, 1_000_000),
    ttlMs: positiveMs,
    /** How long the journal recognises a redelivery; older messages are deleted. */
    retentionMs: positiveMs,
  },
  { entries: 5_000, ttlMs: 1_200_000, retentionMs: 172_800_000 },
);
const own = section(
  {
    /** Put on a message while it is worked on. Empty: none. */
    ackReaction: z.string().max(64),
    /** Which engaged messages get it. */
    ackScope: z.enum(["engaged", "direct", "group", "off"]),
    /** `auto`: the first block replies in groups, none in direct chats. */
    replyTo: z.enum(["auto", "first", "all", "batched", "off"]),
    /** Put before every answer; `{model}`, `{agent}`, `{thinkLevel}` are filled in. */
    responsePrefix: z.string().max(256),
    /** Put before every message as the agent sees it. */
    messagePrefix: z.string().max(256),
  },
  {
    ackReaction: "👀",
    ackScope: "engaged",
    replyTo: "auto",
    responsePrefix: "",
    messagePrefix: "",
  },
);

export const messages = {
  whole: own.whole.extend({
    inbound: inbound.whole.prefault({}),
    queue: queue.whole.prefault({}),
    dedupe: dedupe.whole.prefault({}),
  }),
  override: own.override.extend({
    inbound: inbound.override.optional(),
    queue: queue.override.optional(),
  }),
};
