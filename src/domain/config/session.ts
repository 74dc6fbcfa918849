/**
 * `session`: which chats share a memory
 * =====================================
 * By default all direct chats of the operator are one session and every group its own.
 */
import { z } from "zod";
import { chatKindSchema } from "../message.ts";
import { scopedId } from "./access.ts";
import { count, id, section } from "./section.ts";

const own = section(
  {
    dmScope: z.enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"]),
    mainKey: id.refine((key) => key !== "global", 'the key "global" belongs to session.scope'),
    scope: z.enum(["per-sender", "global"]),
    /** `<state>` and `{agentId}` are filled in. */
    store: z.string().min(1).max(4_096),
    /** One person to their ids on several channels; their direct chats become one. */
    identityLinks: z.record(id, z.array(scopedId).min(1).max(100)),
    /** A message that starts with one of these begins a new session. */
    resetTriggers: z.array(z.string().trim().min(1).max(64)).max(20),
  },
  {
    dmScope: "main",
    mainKey: "main",
    scope: "per-sender",
    store: "<state>/agents/{agentId}/sessions",
    identityLinks: {},
    resetTriggers: ["/new", "/reset"],
  },
);
const reset = section(
  {
    mode: z.enum(["none", "daily", "idle"]),
    /** For `daily`: local hour. */
    atHour: count(0, 23),
    /** For `idle`. */
    idleMinutes: count(1, 525_600),
  },
  { mode: "none", atHour: 4, idleMinutes: 60 },
);

const policy = z.enum(["allow", "deny"]);
const sendPolicy = section(
  {
    /** Where no rule fits. */
    default: policy,
    /** The first that fits counts; every field of `match` that is there has to hold. */
    rules: z
      .array(
        z.strictObject({
          action: policy,
          match: z.strictObject({
            channel: id.optional(),
            chatKind: chatKindSchema.optional(),
            keyPrefix: id.optional(),
          }),
        }),
      )
      .max(1_000),
  },
  { default: "allow", rules: [] },
);

export const session = own.whole.extend({
  reset: reset.whole.prefault({}),
  /** Whether answers leave at all. A turn whose words are denied is silent. */
  sendPolicy: sendPolicy.whole.prefault({}),
});
