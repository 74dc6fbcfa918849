/**
 * `access`: who may speak
 * =======================
 * Direct chats and groups have separate lists, and a list that is empty means nobody: `open` has to
 * be spelled. People are named by stable platform ids, never by names that anyone may choose. At
 * the top of the file an id carries its channel (`telegram:123`), because the same number is
 * another person elsewhere; under `channels.<id>` the bare id is enough.
 */
import { z } from "zod";
import { id, section } from "./section.ts";

const everyoneHint = 'lists name people; to let everyone in, set the policy to "open"';

/** Whether an id carries its channel: `telegram:123`. The id itself may hold colons. */
export function isScopedId(value: string): boolean {
  const colon = value.indexOf(":");
  return colon > 0 && colon < value.length - 1 && !/\s/u.test(value.slice(0, colon));
}

/**
 * An id where the channel is already known. `telegram:123` is accepted under `channels.telegram`.
 */
const localId = id.refine((value) => value !== "*", { error: everyoneHint, abort: true });
/** An id that carries its channel. */
export const scopedId = localId.refine(
  isScopedId,
  'an id here needs its channel, for example "telegram:123"',
);

export const dmPolicy = z.enum(["pairing", "allowlist", "open", "disabled"]);
export const groupPolicy = z.enum(["allowlist", "open", "disabled"]);

/** One group that may be heard. */
const group = z.strictObject({
  /** false: not heard, whatever else is listed. */
  enabled: z.boolean().default(true),
  /**
   * Only these senders; left out: `groupAllowFrom` if it names anyone, else everyone in the group.
   */
  allowFrom: z.array(localId).max(10_000).optional(),
});

const people = <Id extends z.ZodType>(one: Id) => z.array(one).max(100_000);

export const access = section(
  {
    dmPolicy,
    groupPolicy,
    /** May speak in direct chats. */
    allowFrom: people(scopedId),
    /** May speak in any group. */
    groupAllowFrom: people(scopedId),
    /** `telegram:-100123` to the group's own rules. */
    groups: z.record(scopedId, group),
  },
  {
    dmPolicy: "pairing",
    groupPolicy: "allowlist",
    allowFrom: [],
    groupAllowFrom: [],
    groups: {},
  },
);

/**
 * The same under `channels.<id>` and its accounts; what is said there replaces the general list.
 */
export const accessFields = {
  dmPolicy: dmPolicy.optional(),
  groupPolicy: groupPolicy.optional(),
  allowFrom: people(localId).optional(),
  groupAllowFrom: people(localId).optional(),
  groups: z.record(localId, group).optional(),
};
export type GroupAccess = z.output<typeof group>;
