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
const chatSchema = z.object({ title: label.optional(), username: label.optional() });

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
  gift: z
    .object({
      gift: z
        .object({
          sticker: z.object({ emoji: label.optional() }).optional(),
          star_count: count.optional(),
        })
        .optional(),
      text: text.optional(),
    })
    .optional(),
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
};

const content = z.object(lineContentSchema);
export type LineContent = z.infer<typeof content>;
type Part<Name extends keyof LineContent> = NonNullable<LineContent[Name]>;

/** Null: there is none of these. */
export function lineOf(content: LineContent): string | null {
  for (const name of names) {
    const part = content[name];
    if (part !== undefined) return `[${(lines[name] as (part: unknown) => string)(part)}]`;
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

const lines: { readonly [Name in keyof LineContent]-?: (part: Part<Name>) => string } = {
  poll: ({ question, options = [] }) =>
    join([`poll: ${question}`, options.map(({ text }) => text).join(", ")], " — "),
  // A venue has a location, too.
  venue: ({ title, address }) => `place: ${join([title, address], ", ")}`,
  location: ({ latitude, longitude }) => `location: ${latitude}, ${longitude}`,
  contact: ({ first_name, last_name }) => `contact: ${join([first_name, last_name], " ")}`,
  dice: ({ emoji, value }) => `${emoji} ${value}`,
  story: ({ chat }) => join(["story", chat?.title ?? chat?.username], " of "),
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
  gift: ({ gift, text }) => {
    const worth = gift?.star_count;
    const stars = worth === undefined ? "" : many(worth, "star", "stars");
    return join([named("gift", join([gift?.sticker?.emoji, stars], " ")), text], ". ");
  },
  unique_gift: ({ gift, text }) => {
    const number = gift?.number === undefined ? "" : `#${gift.number}`;
    return join([named("gift", join([gift?.base_name, number], " ")), text], ". ");
  },
  game: ({ title, description }) => join([`game: ${title}`, description], ". "),
  invoice: ({ title, description }) => join([`invoice: ${title}`, description], ". "),
  giveaway: (given) => named("giveaway", prizeOf(given)),
  giveaway_winners: (given) => named("giveaway that is over", prizeOf(given)),
};
const names = Object.keys(lines) as (keyof LineContent)[];
