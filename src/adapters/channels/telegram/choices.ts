/**
 * Buttons and polls for Telegram
 * ==============================
 * Choices are buttons under a message. What a button carries is its number; its label comes back with
 * the message that has the buttons, so a press is understood after any restart. A press is a message of
 * the person who pressed: the label, as a reply to the question, under an id of its own. A press that
 * cannot be understood (a message too old to be shown, buttons of another program) only gets an answer.
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type {
  ChannelContext,
  ChannelEvent,
  ChoicesRequest,
  SendReceipt,
} from "../../../domain/ports/index.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import type { TelegramChats } from "./chats.ts";
import { type TelegramClient, target } from "./client.ts";
import type { TelegramAccountConfig } from "./config.ts";
import { eventOf, type Receiver } from "./normalise.ts";
import { replyingTo } from "./outbound-media.ts";
import { messageSchema, userSchema } from "./wire.ts";

/** At the start of what our buttons carry (at most 64 bytes). */
const mark = "earshot:";
const pollQuestionMax = 300;
const answerMsMax = 10_000;
const notOpen = "This question is no longer open.";

const buttonSchema = z.object({
  text: z.string().max(limits.labelUnitsMax),
  callback_data: z.string().max(64).optional(),
});
const pressSchema = z.object({
  update_id: z.number().int(),
  callback_query: z.object({
    id: z.string().min(1).max(64),
    from: userSchema,
    data: z.string().max(64).optional(),
    /** Without its content when it is too old; its date is 0 then. */
    message: messageSchema
      .extend({
        reply_markup: z
          .object({ inline_keyboard: z.array(z.array(buttonSchema).max(100)).max(100) })
          .optional(),
      })
      .optional(),
  }),
});
type Press = z.infer<typeof pressSchema>;

/** Sends choices; null: Telegram has no such poll, or not there. */
export async function sendChoices(
  client: TelegramClient,
  chats: TelegramChats,
  { route, choices, replyTo, signal }: ChoicesRequest,
): Promise<SendReceipt | null> {
  const { text, options, poll } = choices;
  const about = { ...target(route), ...replyingTo(chats, route, replyTo) };
  const call = { kind: "send", signal, msMax: limits.sendMsMax } as const;
  if (poll === true) {
    if (text.length > pollQuestionMax) return null;
    const list = options.map((option) => ({ text: option }));
    try {
      const sent = await client.call("sendPoll", { ...about, question: text, options: list }, call);
      return { messageIds: [String(sent.message_id)] };
    } catch (error) {
      // Some chats take no polls at all; what else is wrong is said of the text.
      if (error instanceof EarshotError && error.code === "EAR_CHANNEL_REJECTED") return null;
      throw error;
    }
  }
  const question = renderMarkdown(text);
  const entities = [...question.entities] as never[];
  const inline_keyboard = options.map((label, index) => [
    { text: label, callback_data: `${mark}${index}` },
  ]);
  const sent = await client.call(
    "sendMessage",
    {
      ...about,
      text: question.text,
      ...(entities.length === 0 ? {} : { entities }),
      reply_markup: { inline_keyboard },
    },
    call,
  );
  return { messageIds: [String(sent.message_id)] };
}

/** A press and the label of its button; null for any other update. */
function readPress(raw: unknown): { readonly press: Press; readonly label: string | null } | null {
  const read = pressSchema.safeParse(raw);
  if (!read.success) return null;
  const { data, message } = read.data.callback_query;
  const buttons = message?.reply_markup?.inline_keyboard.flat() ?? [];
  const button = buttons.find(({ callback_data }) => callback_data === data);
  const isOurs = data?.startsWith(mark) === true;
  return { press: read.data, label: isOurs ? (button?.text ?? null) : null };
}

/** Whether it is a press of a button that earshot has sent. */
export const isOwnPress = (raw: unknown): boolean => (readPress(raw)?.label ?? null) !== null;

/** The press as a message of the person; null: it is none, or cannot be understood. */
export function pressEvent(raw: unknown, receiver: Receiver): ChannelEvent | null {
  const read = readPress(raw);
  const message = read?.press.callback_query.message;
  if (read === null || read.label === null || message === undefined) return null;
  const { id, from } = read.press.callback_query;
  const { chat, date, message_id, message_thread_id, is_topic_message } = message;
  const { direct_messages_topic, business_connection_id } = message;
  const place = { chat, message_thread_id, is_topic_message, business_connection_id };
  const said = { ...place, direct_messages_topic, date, message_id, from, text: read.label };
  const update = {
    update_id: read.press.update_id,
    message: { ...said, reply_to_message: message },
  };
  const event = eventOf(update, receiver);
  if (event?.type !== "message") return null;
  // The date is that of the question.
  const { sentAt: _, ...rest } = event.message;
  return { type: "message", message: { ...rest, id: `${event.message.id}#${id}` } };
}

/** Answers the presses in these updates, so that no button waits. Failures are logged. */
export async function answerPresses(
  client: TelegramClient,
  { log }: ChannelContext<TelegramAccountConfig>,
  updates: readonly unknown[],
  signal: AbortSignal,
): Promise<void> {
  for (const raw of updates) {
    const read = readPress(raw);
    if (read === null) continue;
    const { id } = read.press.callback_query;
    const payload = { callback_query_id: id, text: read.label ?? notOpen };
    try {
      await client.call("answerCallbackQuery", payload, {
        kind: "ask",
        signal,
        msMax: answerMsMax,
      });
    } catch (error) {
      // Telegram takes an answer for a short time only; the press itself is not affected.
      const why = error instanceof EarshotError ? error.code : "unknown";
      log("warn", "telegram.press-unanswered", { error: why });
    }
  }
}
