/**
 * `session`: which chats share a transcript
 * =========================================
 * By default all direct chats of the operator share one session, and every group has its own.
 */
import { z } from "zod";
import { limits } from "../../limits.ts";
import { chatKindSchema } from "../../message.ts";
import { count, id, section } from "../conversation/section.ts";
import { scopedId } from "./access.ts";

const own = section(
  {
    dmScope: z
      .enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"])
      .describe("Which direct chats share a session."),
    mainKey: id
      .refine((key) => key !== "global", 'the name "global" is reserved for session.scope')
      .describe('For `dmScope: "main"`: the name of the session that direct chats share.'),
    scope: z
      .enum(["per-sender", "global"])
      .describe("`global`: one session for everything an agent receives."),
    store: z
      .string()
      .min(1)
      .max(4_096)
      .refine(
        (path) => path.includes("{agentId}"),
        "expected {agentId} in the path: every agent needs its own folder",
      )
      .describe("Folder of an agent's transcripts. `<state>` and `{agentId}` are filled in."),
    identityLinks: z
      .record(id, z.array(scopedId).min(1).max(100))
      .describe("The ids of one person on several channels. Their direct chats share one session."),
    memoryFlush: z
      .union([z.boolean(), z.string().trim().min(1).max(limits.memoryFlushUnitsMax)])
      .describe(
        "Whether the agent is asked to save what matters before its session is summarised. A " +
          "text replaces the built-in request.",
      ),
    resetTriggers: z
      .array(z.string().trim().min(1).max(64))
      .max(20)
      .describe("A message that starts with one of these starts a new session."),
  },
  {
    dmScope: "main",
    mainKey: "main",
    scope: "per-sender",
    store: "<state>/agents/{agentId}/sessions",
    identityLinks: {},
    memoryFlush: false,
    resetTriggers: ["/new", "/reset"],
  },
);
const reset = section(
  {
    mode: z.enum(["none", "daily", "idle"]).describe("When a new session starts automatically."),
    atHour: count(0, 23).describe("For `daily`: the hour, in local time."),
    idleMinutes: count(1, 525_600).describe("For `idle`: minutes without a message."),
  },
  { mode: "none", atHour: 4, idleMinutes: 60 },
);

const resetOverride = reset.override.meta({
  id: "resetOverride",
  description: "As in session.reset, for these sessions only.",
});
const resets = reset.whole.extend({
  byType: z
    .strictObject({
      direct: resetOverride.optional(),
      group: resetOverride.optional(),
      thread: resetOverride.optional(),
    })
    .prefault({})
    .describe("Overrides for a kind of session; a thread of any chat is a thread."),
  byChannel: z
    .record(id, resetOverride)
    .default({})
    .describe("Channel id to overrides there; they take precedence over `byType`."),
});

const policy = z.enum(["allow", "deny"]);
const sendPolicy = section(
  {
    default: policy.describe("The policy if no rule matches."),
    rules: z
      .array(
        z.strictObject({
          action: policy.describe("The policy for matching answers."),
          match: z
            .strictObject({
              channel: id.optional().describe("Channel id."),
              chatKind: chatKindSchema.optional().describe("Kind of chat."),
              keyPrefix: id.optional().describe("Start of the session key."),
            })
            .describe("Where the rule applies."),
        }),
      )
      .max(1_000)
      .describe("The first matching rule decides. All fields of its `match` must match."),
  },
  { default: "allow", rules: [] },
);

export const session = own.whole.extend({
  reset: resets.prefault({}).describe("When a new session begins."),
  sendPolicy: sendPolicy.whole
    .prefault({})
    .describe("Whether answers are sent. With `deny` turns run silently."),
});
