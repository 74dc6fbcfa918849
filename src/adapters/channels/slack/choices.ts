/**
 * Buttons and slash commands
 * ==========================
 * Choices are buttons below a message. A press comes with the message that has the button, so it is
 * understood after any restart: it is a message of the person who pressed, whose text is the label. A
 * slash command is a message, too: `/status` of an app that has it, or `/earshot status` of one that has
 * one command for all; anything else after the command is said to the bot.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { Inbound } from "../../../domain/message.ts";
import type { OutgoingChoices } from "../../../domain/outgoing.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { cut } from "../../../domain/sanitize.ts";
import { inboundOf, placeOf, type Receiver } from "./normalise.ts";
import { readText } from "./text.ts";
import { pressSchema, slashCommandSchema } from "./wire.ts";

/** At the start of the ids of our buttons (at most 255 characters). */
const mark = "earshot:";

/** The buttons of a message (https://docs.slack.dev/reference/block-kit/blocks/actions-block). */
export const buttonsOf = ({ options }: OutgoingChoices) => ({
  type: "actions",
  block_id: `${mark}choices`,
  elements: options.map((label, index) => ({
    type: "button",
    action_id: `${mark}${index}`,
    text: { type: "plain_text", text: label, emoji: false },
    value: String(index),
  })),
});

const ownPressSchema = z.object({
  type: z.literal("block_actions"),
  actions: z.array(z.object({ action_id: z.string() })).min(1),
});

/** Whether it is a press of a button that earshot has sent. */
export function isOwnPress(raw: unknown): boolean {
  const read = ownPressSchema.safeParse(raw);
  return read.success && read.data.actions.some(({ action_id: id }) => id.startsWith(mark));
}

/** A press as a message; none: it is no button of ours. @throws ZodError */
export async function pressEvent(
  raw: unknown,
  receiver: Receiver,
): Promise<readonly ChannelEvent[]> {
  if ((raw as { type?: unknown }).type !== "block_actions") return [];
  const { user, team, channel, message, actions } = pressSchema.parse(raw);
  const { self, directory, signal } = receiver;
  const [action] = actions;
  if (action === undefined || !action.action_id.startsWith(mark) || !action.text) return [];
  if (team != null && team.id !== self.teamId) return [];
  const question = await inboundOf(message, channel.id, receiver);
  if (question === null || !question.author.isSelf) return [];
  const { sentAt: _asked, quote: _quote, verbatim: _code, ...about } = question;
  const said: Inbound = {
    ...about,
    id: `${message.ts}#${action.action_ts ?? user.id}`,
    author: await authorOf(user.id, user.username ?? user.name ?? null, receiver),
    text: action.text.text,
    mentions: [],
    mentionsEveryone: false,
    replyTo: { id: message.ts, authorId: self.id, authorIsSelf: true, text: question.text },
    attachments: [],
    explicitOnly: false,
  };
  await directory.title(channel.id, signal);
  return [{ type: "message", message: said }];
}

/** A slash command as a message. @throws ZodError */
export async function slashEvent(
  raw: unknown,
  receiver: Receiver,
  { commands = [], isCommand }: Pick<ChannelContext<unknown>, "commands" | "isCommand">,
): Promise<readonly ChannelEvent[]> {
  const command = slashCommandSchema.parse(raw);
  const { account, self, directory, signal } = receiver;
  if (command.team_id != null && command.team_id !== self.teamId) return [];
  const names = {
    selfId: self.id,
    person: (id: string) => directory.personNow(id)?.name ?? null,
    chat: directory.titleNow,
  };
  const said = readText(command.text ?? "", names);
  const isOurs = (word: string) => commands.some(({ name }) => name === word);
  const name = command.command.slice(1);
  const first = /^\/?([a-z0-9_]{1,32})(?=\s|$)/.exec(said.text)?.[1] ?? "";
  const spoken = `/${said.text.replace(/^\//, "")}`;
  const isOrder = isOurs(name) || isOurs(first) || isCommand?.(spoken) === true;
  const line = isOurs(name) ? `/${name} ${said.text}`.trimEnd() : isOrder ? spoken : said.text;
  if (line.trim() === "") return [];
  await directory.title(command.channel_id, signal);
  const us = { id: self.id, name: self.name, isSelf: true };
  const message: Inbound = {
    channel: "slack",
    account,
    ...placeOf(command.channel_id, null, directory),
    scope: { teamId: self.teamId },
    id: `slash:${command.trigger_id}`,
    author: await authorOf(command.user_id, command.user_name ?? null, receiver),
    text: cut(line, limits.textUnitsMax),
    // It was given to this app and to no other.
    mentions: isOrder ? [us] : [us, ...said.mentions.filter(({ isSelf }) => !isSelf)],
    mentionsEveryone: false,
    replyTo: null,
    attachments: [],
    explicitOnly: false,
  };
  return [{ type: "message", message }];
}

async function authorOf(
  id: string,
  fallback: string | null,
  { directory, self, signal }: Receiver,
): Promise<Inbound["author"]> {
  const person = await directory.person(id, signal);
  return {
    id,
    name: person?.name ?? fallback ?? id,
    ...(person?.username !== undefined && { username: person.username }),
    isBot: person?.isBot === true,
    isSelf: id === self.id,
  };
}
