/**
 * What a program may post: a message, or an edit, a deletion, a reaction or a member count, in the form
 * of a line of a scenario (docs/guide/scenarios.md): `{ "edit": { … } }`, `{ "delete": { … } }`,
 * `{ "reaction": { … } }`, `{ "membership": { … } }`.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import {
  deletionSchema,
  editSchema,
  inboundSchema,
  membershipSchema,
  reactionSchema,
} from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";

/** Whether anything but the schema's own fields may stand for the account of an event. */
export interface PostedPlace {
  readonly channel: z.ZodType<string>;
  readonly account: z.ZodType<string>;
}

/** Schemas of what may be posted to one place, and the choice of one by the form of the body. */
export interface PostedEvents {
  readonly message: z.ZodType<ChannelEvent>;
  /** All forms of one event, for documentation. */
  readonly any: z.ZodType<ChannelEvent>;
  /** The schema of one event or of an array of them. Chosen by its keys, so errors name the field. */
  readonly bodyFor: (value: unknown) => z.ZodType<ChannelEvent[]>;
}

export function postedEvents(place: PostedPlace, outside: boolean): PostedEvents {
  const message = inboundSchema.extend(place).transform(
    (posted): ChannelEvent => ({
      type: "message",
      message: outside ? { ...posted, outside } : posted,
    }),
  );
  const others: Readonly<Record<string, z.ZodType<ChannelEvent>>> = {
    edit: z
      .strictObject({ edit: editSchema.extend(place) })
      .transform(({ edit }): ChannelEvent => ({ type: "edit", edit })),
    delete: z
      .strictObject({ delete: deletionSchema.extend(place) })
      .transform((posted): ChannelEvent => ({ type: "delete", deletion: posted.delete })),
    reaction: z.strictObject({ reaction: reactionSchema.extend(place) }).transform(
      ({ reaction }): ChannelEvent => ({
        type: "reaction",
        reaction: outside ? { ...reaction, outside } : reaction,
      }),
    ),
    membership: z
      .strictObject({ membership: membershipSchema.extend(place) })
      .transform(({ membership }): ChannelEvent => ({ type: "membership", membership })),
  };
  const kinds = Object.keys(others);
  const schemaFor = (value: unknown): z.ZodType<ChannelEvent> => {
    const isRecord = typeof value === "object" && value !== null && !("chat" in value);
    const kind = isRecord ? kinds.find((key) => Object.hasOwn(value, key)) : undefined;
    return (kind === undefined ? undefined : others[kind]) ?? message;
  };
  // Made once: to make a schema costs more than to parse with it.
  const alone = new Map(
    [message, ...Object.values(others)].map((schema) => [
      schema,
      schema.transform((event) => [event]),
    ]),
  );
  const bounds = z.array(z.unknown()).min(1).max(limits.inboundArrayCountMax);
  const alike = z.array(message);
  return {
    message,
    any: z.union([message, ...Object.values(others)]),
    bodyFor(value) {
      if (!Array.isArray(value)) return alone.get(schemaFor(value)) as z.ZodType<ChannelEvent[]>;
      if (!bounds.safeParse(value).success) return bounds.transform((): ChannelEvent[] => []);
      const [first = message, ...rest] = value.map(schemaFor);
      if (first === message && rest.every((schema) => schema === message)) return alike;
      return z.tuple([first, ...rest]);
    },
  };
}
