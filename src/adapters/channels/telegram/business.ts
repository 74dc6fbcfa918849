/**
 * Business accounts
 * =================
 * Somebody may connect the bot to their business account. Telegram then reports what is written in
 * that person's private chats, and the bot writes there in that person's name. Each of those chats
 * is a direct chat with the customer, as a thread of its own (`chats.ts`): the customer may have a
 * chat with the bot as well, whose id is the same.
 *
 * What the bot may do there changes at any time. The last report counts; without one, Telegram is
 * asked before the first message.
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { type BusinessAccess, businessIn, type TelegramChats } from "./chats.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccountConfig } from "./config.ts";
import { eventOf, placeOf, type Receiver, type TelegramSelf } from "./normalise.ts";
import { chatSchema, messageSchema, updateIdSchema, userSchema } from "./wire.ts";

type Context = ChannelContext<TelegramAccountConfig>;

const askMsMax = 10_000;

/** The kinds of updates about business accounts. */
const kinds = [
  "business_connection",
  "business_message",
  "edited_business_message",
  "deleted_business_messages",
] as const;

const connectionSchema = z.object({
  id: z.string().min(1).max(limits.idUnitsMax),
  user: userSchema,
  rights: z.object({ can_reply: z.boolean().optional() }).optional(),
  is_enabled: z.boolean(),
});
const updateSchema = updateIdSchema.extend({
  business_connection: connectionSchema.optional(),
  business_message: messageSchema.optional(),
  edited_business_message: messageSchema.optional(),
  deleted_business_messages: z
    .object({
      business_connection_id: z.string().min(1).max(limits.idUnitsMax),
      chat: chatSchema,
      message_ids: z.array(z.number().int()).max(limits.businessDeletionsMax),
    })
    .optional(),
});

/** The kinds of updates that an account asks for. */
export function requestedUpdates({ allowedUpdates, business }: TelegramAccountConfig): string[] {
  return business ? [...new Set([...allowedUpdates, ...kinds])] : [...allowedUpdates];
}

/** Whether an update is about a business account, of an account that wants to hear of those. */
export function isBusinessUpdate(raw: unknown, { config }: Context): raw is object {
  if (!config.business || typeof raw !== "object" || raw === null) return false;
  return kinds.some((kind) => kind in raw);
}

/** What the update says. @throws ZodError for an unknown form. */
export function businessEvents(
  raw: object,
  receiver: Receiver,
  { log }: Context,
): readonly ChannelEvent[] {
  const update = updateSchema.parse(raw);
  const { update_id, business_connection: connection, deleted_business_messages: gone } = update;
  const { chats, account } = receiver;
  if (connection !== undefined) {
    const access = accessOf(connection);
    chats.business.set(connection.id, access);
    log("info", "telegram.business-connection", { ...access });
  }
  const message = update.business_message;
  const edited_message = update.edited_business_message;
  const event = eventOf({ update_id, message, edited_message }, receiver);
  const deletions = (gone?.message_ids ?? []).map((id): ChannelEvent => {
    const { chat, business_connection_id } = gone as NonNullable<typeof gone>;
    const place = placeOf({ chat, business_connection_id }, chats);
    return {
      type: "delete",
      deletion: { channel: "telegram", account, ...place, id: chats.messageId(chat.id, id) },
    };
  });
  return event === null ? deletions : [event, ...deletions];
}

const accessOf = ({ user, rights, is_enabled }: z.infer<typeof connectionSchema>) => ({
  owner: String(user.id),
  enabled: is_enabled,
  mayReply: rights?.can_reply === true,
});

/**
 * Makes sure that the bot may write there, if it is a chat of a business account.
 * @throws EarshotError EAR_CHANNEL_REJECTED if it may not.
 */
export async function requireReplies(
  client: TelegramClient,
  chats: TelegramChats,
  route: Route,
  signal: AbortSignal,
): Promise<void> {
  const id = businessIn(route);
  if (id === null) return;
  const { enabled, mayReply } = chats.business.get(id) ?? (await ask(client, chats, id, signal));
  if (enabled && mayReply) return;
  const why = enabled
    ? "its owner has not given the bot the right to reply. Give it in Telegram under Business, Chatbots"
    : "the bot is not connected to it any more. Connect it in Telegram under Business, Chatbots";
  throw new EarshotError(
    "EAR_CHANNEL_REJECTED",
    `Cannot write on behalf of the business account: ${why}`,
  );
}

async function ask(
  client: TelegramClient,
  chats: TelegramChats,
  id: string,
  signal: AbortSignal,
): Promise<BusinessAccess> {
  const options = { kind: "ask", signal, msMax: askMsMax } as const;
  const answer = await client.call(
    "getBusinessConnection",
    { business_connection_id: id },
    options,
  );
  const found = connectionSchema.safeParse(answer);
  if (!found.success)
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot read a business connection: Telegram's answer has an unexpected form",
    );
  const access = accessOf(found.data);
  chats.business.set(id, access);
  return access;
}

/** What the state of a connection says about business accounts; undefined: nothing is amiss. */
export function businessHint(
  { business }: TelegramAccountConfig,
  { isConnectable }: TelegramSelf,
): string | undefined {
  if (business && isConnectable === false)
    return (
      "the bot cannot be connected to business accounts although `business` is on: switch on " +
      "Business Mode at @BotFather"
    );
  if (!business && isConnectable === true)
    return (
      "messages of business accounts are not heard: set `business: true` for the account, or " +
      "switch off Business Mode at @BotFather"
    );
  return undefined;
}
