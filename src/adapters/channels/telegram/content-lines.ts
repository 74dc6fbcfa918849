/**
 * What Telegram can show and a prompt cannot, each as one line in brackets, so that the agent knows
 * that something was posted and what it was (https://core.telegram.org/bots/api#message). A field
 * that is missing is left out of its line.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";

const label = z.string().max(limits.labelUnitsMax);
const text = z.string().max(limits.textUnitsMax);
const count = z.number().int();
/** Bot API: a checklist has up to 30 tasks; more are read, not all are shown. */
const listMax = 256;
const shownMax = 30;

const taskSchema = z.object({
  id: count.optional(),
  text: text.default(""),
  completion_date: count.optional(),
});
const checklistSchema = z.object({
  title: label.default(""),
  tasks: z.array(taskSchema).max(listMax).default([]),
});
const chatSchema = z.object({
  title: label.optional(),
  username: label.optional(),
  first_name: label.optional(),
});
const personSchema = z.object({ first_name: label.optional(), last_name: label.optional() });
const giftSchema = z.object({
  gift: z
    .object({
      sticker: z.object({ emoji: label.optional() }).optional(),
      star_count: count.optional(),
    })
    .optional(),
  text: text.optional(),
});
/** Stars, or the smallest unit of a currency. */
const sumSchema = z.object({ currency: label, total_amount: count });
/** More of a web app's data is cut. */
const webAppUnitsMax = 1_000;
/** Formatting within formatting: Telegram allows 16 levels, each two objects deep. */
const richDepthMax = 64;
/** Blocks of one rich message that are read. */
const richBlocksMax = 4_096;

/** The fields of a message that become lines. */
export const lineContentSchema = {
  poll: z
    .object({
      question: label,
      options: z
        .array(z.object({ text: label.default("") }))
        .max(listMax)
        .optional(),
    })
    .optional(),
  location: z.object({ latitude: z.number(), longitude: z.number() }).optional(),
  venue: z.object({ title: label, address: label.optional() }).optional(),
  contact: z.object({ first_name: label, last_name: label.optional() }).optional(),
  dice: z.object({ emoji: label, value: count }).optional(),
  story: z.object({ chat: chatSchema.optional() }).optional(),
  checklist: checklistSchema.optional(),
  checklist_tasks_done: z
    .object({
      checklist_message: z.object({ checklist: checklistSchema.optional() }).optional(),
      marked_as_done_task_ids: z.array(count).max(listMax).optional(),
      marked_as_not_done_task_ids: z.array(count).max(listMax).optional(),
    })
    .optional(),
  checklist_tasks_added: z
    .object({
      checklist_message: z.object({ checklist: checklistSchema.optional() }).optional(),
      tasks: z.array(taskSchema).max(listMax).default([]),
    })
    .optional(),
  paid_media: z
    .object({
      star_count: count.optional(),
      paid_media: z
        .array(z.object({ type: label.optional() }))
        .max(listMax)
        .default([]),
    })
    .optional(),
  gift: giftSchema.optional(),
  gift_upgrade_sent: giftSchema.optional(),
  unique_gift: z
    .object({
      gift: z.object({ base_name: label.optional(), number: count.optional() }).optional(),
      text: text.optional(),
    })
    .optional(),
  game: z.object({ title: label, description: text.optional() }).optional(),
  invoice: z.object({ title: label, description: text.optional() }).optional(),
  giveaway: z
    .object({ winner_count: count.optional(), prize_description: label.optional() })
    .optional(),
  giveaway_winners: z
    .object({ winner_count: count.optional(), prize_description: label.optional() })
    .optional(),
  successful_payment: sumSchema.optional(),
  refunded_payment: sumSchema.optional(),
  users_shared: z.object({ users: z.array(personSchema).max(listMax) }).optional(),
  chat_shared: chatSchema.optional(),
  web_app_data: z.object({ button_text: label.default(""), data: text.default("") }).optional(),
  rich_message: z.object({ blocks: z.array(z.unknown()).max(richBlocksMax) }).optional(),
};

/** What Telegram itself says in a chat: lines for the context, which ask nobody for anything. */
export const noticeSchema = {
  giveaway_created: z.object({}).optional(),
  giveaway_completed: z.object({ winner_count: count.optional() }).optional(),
  boost_added: z.object({ boost_count: count.default(1) }).optional(),
  suggested_post_approved: z.object({}).optional(),
  suggested_post_approval_failed: z.object({}).optional(),
  suggested_post_declined: z.object({ comment: text.optional() }).optional(),
  suggested_post_paid: z.object({}).optional(),
  suggested_post_refunded: z.object({}).optional(),
  forum_topic_created: z.object({ name: label.optional() }).optional(),
  forum_topic_edited: z.object({ name: label.optional() }).optional(),
  forum_topic_closed: z.object({}).optional(),
  forum_topic_reopened: z.object({}).optional(),
};

const content = z.object(lineContentSchema);
export type LineContent = z.infer<typeof content>;
type Part<Name extends keyof LineContent> = NonNullable<LineContent[Name]>;
const notice = z.object(noticeSchema);
export type Notice = z.infer<typeof notice>;

/** Null: there is none of these. A rich message is its text, on as many lines as it has. */
export function lineOf(content: LineContent): string | null {
  if (content.rich_message !== undefined) return richText(content.rich_message) || null;
  return bracketed(lines, content);
}

/** What Telegram itself says; null: nothing. */
export const noticeOf = (message: Notice): string | null => bracketed(notices, message);

type LinesOf<Content> = {
  readonly [Name in keyof Content]-?: (part: NonNullable<Content[Name]>) => string;
};

function bracketed<Content extends object>(
  lines: LinesOf<Content>,
  content: Content,
): string | null {
  for (const name of Object.keys(lines) as (keyof Content)[]) {
    const part = content[name];
    if (part === undefined || part === null) continue;
    return `[${lines[name](part).replace(/\s+/g, " ").trim()}]`;
  }
  return null;
}

const join = (parts: readonly (string | undefined)[], between: string) =>
  parts.filter((part) => part !== undefined && part !== "").join(between);
const named = (kind: string, name: string | undefined) => join([kind, name], ": ");
const many = (number: number, one: string, several: string) =>
  `${number} ${number === 1 ? one : several}`;
const textsOf = (tasks: readonly z.infer<typeof taskSchema>[]) =>
  tasks
    .slice(0, shownMax)
    .map(({ text }) => text)
    .join(", ");
const isDone = ({ completion_date }: z.infer<typeof taskSchema>) => (completion_date ?? 0) > 0;

const prizeOf = ({ winner_count: winners, prize_description }: Part<"giveaway">) =>
  join([prize_description, winners === undefined ? "" : many(winners, "winner", "winners")], ", ");

const nameOf = ({ first_name, last_name }: z.infer<typeof personSchema>) =>
  join([first_name, last_name], " ");
const chatName = (chat: z.infer<typeof chatSchema> | undefined) =>
  chat?.title ?? chat?.first_name ?? chat?.username;

const giftLine = (kind: string, { gift, text }: z.infer<typeof giftSchema>) => {
  const worth = gift?.star_count;
  const stars = worth === undefined ? "" : many(worth, "star", "stars");
  return join([named(kind, join([gift?.sticker?.emoji, stars], " ")), text], ". ");
};

/** Amounts are in the currency's smallest unit; stars have none. */
function amountOf({ currency, total_amount: amount }: z.infer<typeof sumSchema>): string {
  if (currency === "XTR") return many(amount, "star", "stars");
  // A currency without an ISO code: its unit is unknown.
  if (!/^[A-Z]{3}$/.test(currency)) return `${amount} ${currency}`;
  const style = { style: "currency", currency, currencyDisplay: "code" } as const;
  const format = new Intl.NumberFormat("en", style);
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

const lines: LinesOf<Omit<LineContent, "rich_message">> = {
  poll: ({ question, options = [] }) =>
    join([`poll: ${question}`, options.map(({ text }) => text).join(", ")], " — "),
  // A venue has a location, too.
  venue: ({ title, address }) => `place: ${join([title, address], ", ")}`,
  location: ({ latitude, longitude }) => `location: ${latitude}, ${longitude}`,
  contact: ({ first_name, last_name }) => `contact: ${join([first_name, last_name], " ")}`,
  dice: ({ emoji, value }) => `${emoji} ${value}`,
  story: ({ chat }) => join(["story", chatName(chat)], " of "),
  checklist: ({ title, tasks }) => {
    const [done, open] = [tasks.filter(isDone), tasks.filter((task) => !isDone(task))];
    return join(
      [
        `checklist: ${title}`,
        open.length === 0 ? "" : `open: ${textsOf(open)}`,
        done.length === 0 ? "" : `done: ${textsOf(done)}`,
      ],
      "; ",
    );
  },
  checklist_tasks_done: (changed) => {
    const { title = "", tasks = [] } = changed.checklist_message?.checklist ?? {};
    const nameOf = (id: number) => tasks.find((task) => task.id === id)?.text || `task ${id}`;
    const list = (ids: readonly number[] = []) => ids.slice(0, shownMax).map(nameOf).join(", ");
    const [done, undone] = [
      list(changed.marked_as_done_task_ids),
      list(changed.marked_as_not_done_task_ids),
    ];
    const marked = [done && `now done: ${done}`, undone && `no longer done: ${undone}`];
    return join([named("checklist", title), ...marked], "; ");
  },
  checklist_tasks_added: ({ checklist_message, tasks }) =>
    join(
      [named("checklist", checklist_message?.checklist?.title), `added: ${textsOf(tasks)}`],
      "; ",
    ),
  paid_media: ({ star_count, paid_media }) =>
    join(
      [
        `paid media: ${many(paid_media.length, "item", "items")}`,
        star_count === undefined ? "" : many(star_count, "star", "stars"),
      ],
      " for ",
    ),
  gift: (part) => giftLine("gift", part),
  gift_upgrade_sent: (part) => giftLine("upgrade of a gift", part),
  unique_gift: ({ gift, text }) => {
    const number = gift?.number === undefined ? "" : `#${gift.number}`;
    return join([named("gift", join([gift?.base_name, number], " ")), text], ". ");
  },
  game: ({ title, description }) => join([`game: ${title}`, description], ". "),
  invoice: ({ title, description }) => join([`invoice: ${title}`, description], ". "),
  giveaway: (given) => named("giveaway", prizeOf(given)),
  giveaway_winners: (given) => named("giveaway that is over", prizeOf(given)),
  successful_payment: (sum) => `paid: ${amountOf(sum)}`,
  refunded_payment: (sum) => `refunded: ${amountOf(sum)}`,
  users_shared: ({ users }) => {
    const shown = join(users.slice(0, shownMax).map(nameOf), ", ");
    return named(`shared ${many(users.length, "person", "persons")}`, shown);
  },
  chat_shared: (chat) => named("shared a chat", chatName(chat)),
  web_app_data: ({ button_text, data }) =>
    named(join(["web app", button_text], " "), data.slice(0, webAppUnitsMax)),
};

const notices: LinesOf<Notice> = {
  giveaway_created: () => "giveaway created",
  giveaway_completed: (ended) => named("giveaway that is over", prizeOf(ended)),
  boost_added: ({ boost_count }) => `boosted this chat ${many(boost_count, "time", "times")}`,
  suggested_post_approved: () => "suggested post approved",
  suggested_post_approval_failed: () => "suggested post not approved: its price could not be paid",
  suggested_post_declined: ({ comment }) => named("suggested post declined", comment),
  suggested_post_paid: () => "suggested post paid",
  suggested_post_refunded: () => "suggested post refunded",
  forum_topic_created: ({ name }) => named("topic created", name),
  // Without a name its icon has changed.
  forum_topic_edited: ({ name }) =>
    name === undefined ? "topic edited" : `topic renamed: ${name}`,
  forum_topic_closed: () => "topic closed",
  forum_topic_reopened: () => "topic reopened",
};

const richText = ({ blocks }: Part<"rich_message">): string =>
  blocks
    .map((block) => plain(block))
    .join("\n")
    .trim()
    .slice(0, limits.textUnitsMax);

const inlineFields = new Set(["text", "alternative_text", "expression", "summary", "caption"]);
const blockFields = new Set(["blocks", "items", "cells"]);

/** The text of a rich block or of rich text (Bot API: RichBlock, RichText). */
function plain(node: unknown, depth = 0): string {
  if (typeof node === "string") return node;
  if (typeof node !== "object" || node === null || depth > richDepthMax) return "";
  const below = (child: unknown) => plain(child, depth + 1);
  if (Array.isArray(node)) return node.map(below).join("");
  return join(
    Object.entries(node).map(([field, value]) => {
      if (inlineFields.has(field)) return below(value);
      return blockFields.has(field) && Array.isArray(value) ? value.map(below).join("\n") : "";
    }),
    "\n",
  );
}
