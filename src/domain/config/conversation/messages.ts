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
      "How long the author must be silent before their messages are taken as one batch.",
    ),
    debounceMaxMs: ms.describe("Longest time a batch collects messages."),
    byChannel: z.record(id, ms).describe("`debounceMs` for this channel."),
  },
  { debounceMs: 500, debounceMaxMs: 2_000, byChannel: {} },
);
const queue = section(
  {
    mode: queueMode.describe("What happens to a batch that arrives during a turn."),
    debounceMs: ms.describe("Pause after a turn before waiting batches start the next one."),
    cap: count(1, 1_000).describe("How many batches may wait in a conversation."),
    drop: z
      .enum(["summarize", "old", "new"])
      .describe(
        "At the cap: summarise the oldest batch in one line, drop it, or refuse the newest.",
      ),
    byChannel: z.record(id, queueMode).describe("`mode` for this channel."),
  },
  { mode: "collect", debounceMs: 500, cap: 20, drop: "summarize", byChannel: {} },
);
const dedupe = section(
  {
    entries: count(1, 1_000_000).describe(
      "How many message ids are kept in memory to detect duplicates.",
    ),
    ttlMs: positiveMs.describe("How long message ids are kept in memory."),
    retentionMs: positiveMs.describe(
      "How long the journal detects a redelivered message. Older messages are deleted.",
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
      .describe("Reaction on a message while it is being answered. Empty: none."),
    ackScope: z
      .enum(["engaged", "direct", "group", "off"])
      .describe("Which messages that engage the agent get the reaction."),
    replyTo: z
      .enum(["auto", "first", "all", "batched", "off"])
      .describe(
        "Which blocks of an answer are sent as a reply. `auto`: the first one in groups, none " +
          "in direct chats.",
      ),
    responsePrefix: z
      .string()
      .max(256)
      .refine((prefix) => unknownPlaceholder(prefix) === null, {
        error: ({ input }) =>
          `unknown placeholder {${unknownPlaceholder(String(input))}}. Known: ` +
          `{${placeholders.join("}, {")}}`,
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
