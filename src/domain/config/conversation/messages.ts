/**
 * `messages`: from an engaged message to the batch that a turn answers
 * ====================================================================
 * Batching, queueing, acknowledging, and how an answer is attached. `byChannel` is a shorthand for
 * the same value under `channels.<id>.messages`, which takes precedence.
 */
import { z } from "zod";
import { count, id, ms, positiveMs, section } from "./section.ts";

export const queueMode = z.enum([
  "collect",
  "followup",
  "queue",
  "steer",
  "steer-backlog",
  "interrupt",
]);

const inbound = section(
  {
    debounceMs: ms.describe(
      "Silence of the author after which the gathered messages become one batch.",
    ),
    debounceMaxMs: ms.describe("A batch is closed at this age in any case."),
    byChannel: z.record(id, ms).describe("Channel id to `debounceMs`."),
  },
  { debounceMs: 500, debounceMaxMs: 2_000, byChannel: {} },
);
const queue = section(
  {
    mode: queueMode.describe("What happens to a batch while a turn runs."),
    debounceMs: ms.describe("Pause after a turn before the waiting batches start the next."),
    cap: count(1, 1_000).describe("Batches that may wait per conversation."),
    drop: z
      .enum(["summarize", "old", "new"])
      .describe(
        "At the cap: summarise the oldest in one line, drop the oldest, or refuse the newest.",
      ),
    byChannel: z.record(id, queueMode).describe("Channel id to `mode`."),
  },
  { mode: "collect", debounceMs: 500, cap: 20, drop: "summarize", byChannel: {} },
);
const dedupe = section(
  {
    entries: count(1, 1_000_000).describe("Message ids kept in memory."),
    ttlMs: positiveMs.describe("How long they are kept there."),
    retentionMs: positiveMs.describe(
      "How long the journal recognises a redelivery; older messages are deleted.",
    ),
  },
  { entries: 5_000, ttlMs: 1_200_000, retentionMs: 172_800_000 },
);
/** Placeholders of `responsePrefix`. */
const placeholders = ["model", "agent", "thinkLevel"];

/** The first unknown placeholder; null: none. */
function unknownPlaceholder(prefix: string): string | null {
  const names = [...prefix.matchAll(/\{([A-Za-z][\w.-]*)\}/g)].map(([, name = ""]) => name);
  return names.find((name) => !placeholders.includes(name)) ?? null;
}

const own = section(
  {
    ackReaction: z
      .string()
      .max(64)
      .describe("Reaction on a message while it is processed. Empty: none."),
    ackScope: z
      .enum(["engaged", "direct", "group", "off"])
      .describe("Which engaged messages get it."),
    replyTo: z
      .enum(["auto", "first", "all", "batched", "off"])
      .describe("`auto`: the first block replies in groups, none in direct chats."),
    responsePrefix: z
      .string()
      .max(256)
      .refine((prefix) => unknownPlaceholder(prefix) === null, {
        error: ({ input }) =>
          `{${unknownPlaceholder(String(input))}} is not known. Use one of {${placeholders.join("}, {")}}`,
      })
      .describe("Prefix of an answer; `{model}`, `{agent}`, `{thinkLevel}` are filled in."),
    messagePrefix: z.string().max(256).describe("Prefix of every message in the agent's prompt."),
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
    inbound: inbound.whole.prefault({}).describe("How messages of one author become one batch."),
    queue: queue.whole
      .prefault({})
      .describe("What happens to batches that arrive while a turn runs."),
    dedupe: dedupe.whole.prefault({}).describe("How a redelivered message is recognised."),
  }),
  override: own.override.extend({
    inbound: inbound.override.optional().describe("How messages of one author become one batch."),
    queue: queue.override
      .optional()
      .describe("What happens to batches that arrive while a turn runs."),
  }),
};
