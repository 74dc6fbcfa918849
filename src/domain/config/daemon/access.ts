/**
 * `access`: who may speak
 * =======================
 * Direct chats and groups have separate lists, and an empty list allows no one: `open` has to be
 * set explicitly. People are named by stable platform ids, never by names that anyone may choose.
 * At the top of the file an id carries its channel (`telegram:123`), because the same number is
 * another person elsewhere; under `channels.<id>` the bare id is enough.
 */
import { z } from "zod";
import { id, section } from "../conversation/section.ts";

const everyoneHint = 'expected a person\'s id. To allow everyone, set the policy to "open"';

/** Whether an id carries its channel: `telegram:123`. The id itself may contain colons. */
export function isScopedId(value: string): boolean {
  const colon = value.indexOf(":");
  return colon > 0 && colon < value.length - 1 && !/\s/u.test(value.slice(0, colon));
}

/**
 * An id where the channel is already known. `telegram:123` is accepted under `channels.telegram`.
 */
export const localId = id.refine((value) => value !== "*", { error: everyoneHint, abort: true });
/** An id that carries its channel. */
export const scopedId = localId.refine(
  isScopedId,
  'an id here needs its channel, for example "telegram:123"',
);

export const dmPolicy = z.enum(["pairing", "allowlist", "open", "disabled"]);
export const groupPolicy = z.enum(["allowlist", "open", "disabled"]);

const everybody = {
  group: "`groupAllowFrom` if it is not empty, otherwise everyone in the group.",
  topic: "as in its group.",
} as const;
/** Who is heard in one group, or in one of its topics. */
export const groupAccessFields = (of: keyof typeof everybody) => ({
  enabled: z.boolean().default(true).describe("false ignores it, whatever else is listed."),
  allowFrom: z
    .array(localId)
    .max(10_000)
    .optional()
    .describe(`Only these authors. Left out: ${everybody[of]}`),
});
/** One group that may be heard. */
const group = z.strictObject(groupAccessFields("group"));

const people = <Id extends z.ZodType>(personId: Id) => z.array(personId).max(100_000);

export const access = section(
  {
    dmPolicy: dmPolicy.describe(
      "Who may write to the agent directly: people you approved by pairing code, people on the " +
        "list, anyone, or no one.",
    ),
    groupPolicy: groupPolicy.describe(
      "Which groups the agent listens to: those on the list, any, or none.",
    ),
    allowFrom: people(scopedId).describe("People who may write in direct chats."),
    groupAllowFrom: people(scopedId).describe("People who may write to the agent in any group."),
    groups: z.record(scopedId, group).describe("`telegram:-100123` to the group's own rules."),
  },
  {
    dmPolicy: "pairing",
    groupPolicy: "allowlist",
    allowFrom: [],
    groupAllowFrom: [],
    groups: {},
  },
);

/** The same under `channels.<id>` and its accounts, where they replace the general list. */
export const accessFields = {
  dmPolicy: dmPolicy
    .optional()
    .describe(
      "Who may write to the agent directly: people you approved by pairing code, people on the " +
        "list, anyone, or no one.",
    ),
  groupPolicy: groupPolicy
    .optional()
    .describe("Which groups the agent listens to: those on the list, any, or none."),
  allowFrom: people(localId).optional().describe("People who may write in direct chats."),
  groupAllowFrom: people(localId)
    .optional()
    .describe("People who may write to the agent in any group."),
};
export type GroupAccess = z.output<typeof group>;
