/**
 * JSON Lines, one event per line, `t` in ms from the start and never decreasing. One format for
 * recordings, simulations, fixtures and the simulator page. This file defines the lines;
 * read-scenario.ts reads them.
 */
import { z } from "zod";
import { queueMode } from "../config/conversation/messages.ts";
import { localChannels } from "../config/daemon/channels.ts";
import { activations, expectedSchema, judgeFailures } from "../decision.ts";
import { isSessionKey } from "../key.ts";
import { limits } from "../limits.ts";
import {
  deletionSchema,
  editSchema,
  historySchema,
  type Inbound,
  inboundSchema,
  membershipSchema,
  reactionSchema,
} from "../message.ts";
import { scriptedRunSchema } from "./script.ts";

const t = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const name = z.string().min(1).max(limits.idUnitsMax);

const sessionKey = z
  .string()
  .min(1)
  .max(limits.labelUnitsMax)
  .refine(isSessionKey, "expected a session key, as agent:main:irc:group:kitchen");
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const overrideSchema = z.strictObject({
  queue: z
    .strictObject({
      mode: queueMode.exactOptional(),
      debounceMs: count.exactOptional(),
      cap: count.min(1).exactOptional(),
      drop: z.enum(["summarize", "old", "new"]).exactOptional(),
    })
    .nullable(),
  send: z.enum(["allow", "deny"]).nullable(),
  activation: z.enum(activations).nullable(),
});

/** The optional first line: format version, config overlay, the epoch ms of `t` 0. */
export const headerSchema = z.strictObject({
  earshot: z.literal(1),
  config: z.record(z.string(), z.unknown()).default({}),
  start: z.number().int().min(0).optional(),
  /** Channels whose author is the operator, as in the recorded daemon. */
  local: z.array(z.enum(localChannels)).optional(),
});
export type ScenarioHeader = z.infer<typeof headerSchema>;

export const lineSchemas = {
  in: z.strictObject({ t, in: inboundSchema }),
  edit: z.strictObject({ t, edit: editSchema }),
  delete: z.strictObject({ t, delete: deletionSchema }),
  reaction: z.strictObject({ t, reaction: reactionSchema }),
  membership: z.strictObject({
    t,
    // With an age it only restores what the channel already knew; no conversation receives it.
    membership: membershipSchema.extend({ ageMs: z.number().int().min(0).optional() }),
  }),
  history: z.strictObject({ t, history: historySchema }),
  agent: z.strictObject({
    t,
    agent: z.strictObject({
      agentId: name.default("main"),
      /** Session key: only for runs in this conversation; these are used first. */
      key: z.string().min(1).max(limits.labelUnitsMax).optional(),
      runs: z.array(scriptedRunSchema).min(1).max(10_000),
    }),
  }),
  platform: z.strictObject({
    t,
    platform: z.strictObject({
      channel: name,
      /** Only for sends to this chat (or this thread of it); these are used first. */
      chat: name.optional(),
      thread: name.optional(),
      send: z.enum(["ok", "fail", "hang", "429"]),
      retryAfterMs: z.number().int().min(0).max(86_400_000).default(1_000),
      count: z.number().int().min(1).max(1_000_000).default(1),
    }),
  }),
  /** The complete config from here on, in the form of the header's. */
  config: z.strictObject({ t, config: z.record(z.string(), z.unknown()) }),
  approve: z.strictObject({
    t,
    approve: z.union([
      // By the pairing code, or by the platform id of the person who got the newest one.
      z.strictObject({ code: name }),
      z.strictObject({ sender: name }),
      // Known from here on, as recordings have it: no one asked.
      z.strictObject({
        channel: name,
        account: name.default("default"),
        id: name,
        as: z.enum(["paired", "direct", "group", "owner", "member"]),
      }),
      // An open claim code: the next person whose redacted code is redeemed gets this role.
      z.strictObject({ claim: z.enum(["owner", "member"]) }),
    ]),
  }),
  /** An operator's action on a conversation. */
  operator: z.strictObject({
    t,
    operator: z.union([
      z.strictObject({ key: sessionKey, does: z.enum(["reset", "disengage", "abort"]) }),
      // Null fields: as configured.
      z.strictObject({ key: sessionKey, override: overrideSchema }),
    ]),
  }),
  /** Somebody said what would have been right about a message; null: took that back. No event. */
  label: z.strictObject({
    t,
    label: z.strictObject({ key: sessionKey, id: name, expected: expectedSchema.nullable() }),
  }),
  /** What the judge of a conversation answered about a message. */
  judge: z.strictObject({
    t,
    judge: z.strictObject({
      key: sessionKey,
      id: name,
      engage: z.boolean(),
      confidence: z.number().min(0).max(1),
      why: z.string().max(limits.labelUnitsMax).default(""),
      failed: z.enum(judgeFailures).exactOptional(),
    }),
  }),
  crash: z.strictObject({ t, crash: z.enum(["host", "process"]) }),
  passivate: z.strictObject({ t, passivate: z.literal(true) }),
  end: z.strictObject({ t, end: z.literal(true) }),
} as const;
type LineSchemas = typeof lineSchemas;
export type LineKind = keyof LineSchemas;
const lineKinds = Object.keys(lineSchemas) as LineKind[];

/** One parsed line; its kind is the key beside `t`. */
export type ScenarioLine = { [Kind in LineKind]: z.infer<LineSchemas[Kind]> }[LineKind];

export const kindOf = (line: object): LineKind | undefined =>
  lineKinds.find((kind) => Object.hasOwn(line, kind));

/** For the published JSON Schema. */
export const scenarioLineSchema = z.union([
  headerSchema,
  ...(Object.values(lineSchemas) as [LineSchemas["in"], ...LineSchemas[LineKind][]]),
]);

/** A scenario that can be run, from memory or from a file. */
export interface Scenario {
  readonly header: ScenarioHeader;
  /** Every line after the header, validated. May be iterated more than once. */
  readonly lines: Iterable<ScenarioLine>;
  /** How many there are. */
  readonly count: number;
  readonly last: ScenarioLine | null;
  /** The kinds of lines it contains. */
  readonly kinds: ReadonlySet<LineKind>;
  /** Every chat as its first message has it, by `chatKey`. Absent: derive it from the lines. */
  readonly chats?: ReadonlyMap<string, Inbound["chat"]>;
  /** Location of the header for errors: `file:line`. Absent without a header. */
  readonly headerAt?: string;
  /** Locations of the config lines, in order. */
  readonly configsAt?: readonly string[];
}

export const messagesOf = (line: ScenarioLine): readonly Inbound[] =>
  "in" in line ? [line.in] : "history" in line ? line.history.messages : [];

/** A key that identifies a chat. */
export const chatKey = ({
  channel,
  account,
  chat,
}: Pick<Inbound, "channel" | "account" | "chat">): string =>
  JSON.stringify([channel, account, chat.id]);

/** Adds the chats that first appear in this line. */
export function noteChats(chats: Map<string, Inbound["chat"]>, line: ScenarioLine): void {
  for (const message of messagesOf(line)) {
    const key = chatKey(message);
    if (!chats.has(key)) chats.set(key, message.chat);
  }
}

/** A scenario held in memory. */
export interface WholeScenario extends Scenario {
  readonly lines: readonly ScenarioLine[];
}
