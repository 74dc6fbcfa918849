/**
 * `messages`: from a message that engages to the batch that a turn answers
 * ========================================================================
 * Gathering, queueing, acknowledging, and how an answer is attached. `byChannel` is a shorthand for
 * the same value under `channels.<id>.messages`, which wins over it.
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
      "Silence of the sender after which what was gathered becomes one batch.",
    ),
    debounceMaxMs: ms.describe("The batch is cut at this age, silence or not."),
    byChannel: z.record(id, ms).describe("Channel id to `debounceMs`."),
  },
  { debounceMs: 500, debounceMaxMs: 2_000, byChannel: {} },
);
const queue = section(
  {
    mode: queueMode.describe("What happens to a batch while a turn runs."),
    debounceMs: ms.describe("Quiet after a turn before what waits becomes the next."),
    cap: count(1, 1_000).describe("Batches that may wait."),
    drop: z
      .enum(["summarize", "old", "new"])
      .describe(
        "At the cap: one line about the oldest, the oldest goes, or the newest is refused.",
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
/** What `responsePrefix` may name. */
const places = ["model", "agent", "thinkLevel"];

/** The first name in braces that nothing fills in; null: there is none. */
function unknownPlace(prefix: string): string | null {
  const names = [...prefix.matchAll(/\{([A-Za-z][\w.-]*)\}/g)].map(([, name = ""]) => name);
  return names.find((name) => !places.includes(name)) ?? null;
}

const own = section(
  {
    ackReaction: z
      .string()
      .max(64)
      .describe("Put on a message while it is worked on. Empty: none."),
    ackScope: z
      .enum(["engaged", "direct", "group", "off"])
      .describe("Which engaged messages get it."),
    replyTo: z
      .enum(["auto", "first", "all", "batched", "off"])
      .describe("`auto`: the first block replies in groups, none in direct chats."),
    responsePrefix: z
      .string()
      .max(256)
      .refine((prefix) => unknownPlace(prefix) === null, {
        error: ({ input }) =>
          `{${unknownPlace(String(input))}} is not known: there are {${places.join("}, {")}}`,
      })
      .describe("Put before an answer; `{model}`, `{agent}`, `{thinkLevel}` are filled in."),
    messagePrefix: z.string().max(256).describe("Put before every message as the agent sees it."),
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
    inbound: inbound.whole.prefault({}).describe("How lines of one sender become one batch."),
    queue: queue.whole.prefault({}).describe("What happens to what arrives while a turn runs."),
    dedupe: dedupe.whole.prefault({}).describe("How a redelivered message is recognised."),
  }),
  override: own.override.extend({
    inbound: inbound.override.optional().describe("How lines of one sender become one batch."),
    queue: queue.override.optional().describe("What happens to what arrives while a turn runs."),
  }),
};
