/**
 * Channels made elsewhere
 * =======================
 * What a channel of a plugin delivers comes from outside: each event is checked against the schema
 * here, once, before anything reads it. Channels that ship with earshot check their platform's own
 * payloads instead.
 */
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import {
  deletionSchema,
  editSchema,
  historySchema,
  inboundSchema,
  membershipSchema,
  reactionSchema,
} from "../../domain/message.ts";
import type { ChannelContext, ChannelDefinition, ChannelEvent } from "../../domain/ports/index.ts";

/** The events of one account; its channel and account may be left out, and nothing else stands there. */
function eventSchema(channel: string, account: string): z.ZodType<ChannelEvent> {
  const place = {
    channel: z.literal(channel).default(channel),
    account: z.literal(account).default(account),
  };
  return z.discriminatedUnion("type", [
    z.object({ type: z.literal("message"), message: inboundSchema.extend(place) }),
    z.object({ type: z.literal("edit"), edit: editSchema.extend(place) }),
    z.object({ type: z.literal("delete"), deletion: deletionSchema.extend(place) }),
    z.object({ type: z.literal("reaction"), reaction: reactionSchema.extend(place) }),
    z.object({ type: z.literal("membership"), membership: membershipSchema.extend(place) }),
    z.object({
      type: z.literal("history"),
      history: historySchema.extend({ ...place, messages: z.array(inboundSchema.extend(place)) }),
    }),
  ]);
}

/**
 * The same channel with its events checked. `deliver` then rejects with EAR_PROTOCOL, which names the
 * event and the field; none of the events of that call are accepted.
 */
export function checkedChannel(definition: ChannelDefinition): ChannelDefinition {
  const open = (context: ChannelContext<unknown>) => {
    const schema = eventSchema(definition.id, context.accountId);
    return definition.open({
      ...context,
      async deliver(events, cursor) {
        const checked = z.array(schema).safeParse(events);
        if (checked.success) return context.deliver(checked.data, cursor);
        const [{ path = [], message = "" } = {}] = checked.error.issues;
        const [index, ...field] = path;
        const where = [`event ${String(index)}`, field.join(".")].filter((part) => part !== "");
        throw new EarshotError(
          "EAR_PROTOCOL",
          `Cannot accept what the channel "${definition.id}" delivered: ${where.join(": ")}: ` +
            `${message}. Fix the channel; inboundSchema has the form`,
        );
      },
    });
  };
  // Inherits everything else, also from a definition that is an instance of a class.
  return Object.create(definition, { open: { value: open, enumerable: true } });
}
