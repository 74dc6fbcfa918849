/**
 * Slash commands and buttons
 * ==========================
 * What somebody picks from the menu or presses comes as an interaction
 * (https://discord.com/developers/docs/interactions/receiving-and-responding). It becomes a message of that
 * person, so it passes the same access rules as a text: `/status` with what was typed after it, or the
 * button's label as a reply to the question. Discord wants an answer within 3 s, which only the person sees.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { Inbound } from "../../../domain/message.ts";
import type { ChannelContext, ChoicesRequest } from "../../../domain/ports/index.ts";
import { nameOf } from "./chats.ts";
import type { DiscordClient } from "./client.ts";
import type { DiscordAccountConfig } from "./config.ts";
import { saidIn } from "./content.ts";
import { authorOf, type Receiver } from "./normalise.ts";
import { escaped } from "./rendering.ts";
import { commandsSchema, momentOf, type WireComponent, type WireInteraction } from "./wire.ts";

/** At the start of what our buttons carry (at most 100 characters). */
const mark = "earshot:";
const command = 2;
const component = 3;
/** Component types. */
const row = 1;
const button = 2;
const secondary = 2;
const rowMax = 5;
const pollQuestionMax = 300;
const pollAnswerMax = 55;
const pollHours = 24;
/** The option of each command: what is typed after it. */
const argument = { name: "text", description: "What comes after the command", type: 3 };
/** Shown to the person only. */
const ephemeral = 64;
const answerMsMax = 3_000;
const menuMsMax = 10_000;
const notOpen = "This question is no longer open.";

/** The buttons or the poll of a question, as fields of a message; null: Discord has no such poll. */
export function choiceFields({ choices }: Pick<ChoicesRequest, "choices">): object | null {
  const { text, options, poll } = choices;
  if (poll === true) {
    if (text.length > pollQuestionMax || options.some((label) => label.length > pollAnswerMax))
      return null;
    const answers = options.map((label) => ({ poll_media: { text: label } }));
    return { poll: { question: { text }, answers, duration: pollHours } };
  }
  const buttons = options.map((label, index) => ({
    type: button,
    style: secondary,
    label,
    custom_id: `${mark}${index}`,
  }));
  const rows: object[] = [];
  for (let from = 0; from < buttons.length; from += rowMax)
    rows.push({ type: row, components: buttons.slice(from, from + rowMax) });
  return { components: rows };
}

/** Whether a button with this id is one that earshot has sent. */
export const isOwnButton = (id: unknown): boolean => typeof id === "string" && id.startsWith(mark);

/** What was picked or pressed, as text; null: nothing of ours. */
function wordsOf({ type, data, message }: WireInteraction, selfId: string): string | null {
  if (type === command && data?.name !== undefined) {
    const typed = (data.options ?? []).map(({ value }) => String(value ?? "")).join(" ");
    return `/${data.name} ${typed}`.trim();
  }
  const pressed = data?.custom_id;
  if (type !== component || message?.author.id !== selfId || !isOwnButton(pressed)) return null;
  return flat(message.components ?? []).find(({ custom_id: id }) => id === pressed)?.label ?? null;
}

const flat = (components: readonly WireComponent[]): WireComponent[] =>
  components.flatMap((one) => [one, ...flat(one.components ?? [])]);

/** The interaction as a message of the person; null: it is none. */
export function interactionMessage(
  interaction: WireInteraction,
  { account, chats }: Receiver,
): Inbound | null {
  const { id, guild_id: guildId, channel_id: channel, member, message } = interaction;
  const text = wordsOf(interaction, chats.self.id);
  const user = member?.user ?? interaction.user;
  if (text === null || user === undefined || channel === undefined) return null;
  chats.meet(user, member);
  const { self } = chats;
  const asked = message === undefined ? "" : saidIn(message, chats, guildId).text;
  const roles = member?.roles;
  return {
    channel: "discord",
    account,
    ...chats.placeOf(channel, guildId),
    ...(guildId === undefined
      ? {}
      : { scope: { guildId, ...(roles === undefined ? {} : { roles: [...roles] }) } }),
    id: message === undefined ? `${slashMark}${id}` : `${message.id}#${id}`,
    author: authorOf({ author: user, member }, chats),
    text,
    // A command is picked from the bot's own menu.
    mentions: message === undefined ? [{ id: self.id, name: self.name, isSelf: true }] : [],
    mentionsEveryone: false,
    replyTo:
      message === undefined
        ? null
        : {
            id: message.id,
            authorId: self.id,
            authorName: nameOf(message.author),
            authorIsSelf: true,
            ...(asked === "" ? {} : { text: asked }),
          },
    attachments: [],
    explicitOnly: false,
    sentAt: momentOf(id),
  };
}

const slashMark = "slash:";

/** The message of Discord that an id of ours names; null: a command, which has none. */
export const messageIn = (id: string): string | null =>
  id.startsWith(slashMark) ? null : (id.split("#")[0] as string);

/** Answers, so that nothing waits. Never rejects: a failure is logged. */
export async function answerInteraction(
  client: DiscordClient,
  { log }: ChannelContext<DiscordAccountConfig>,
  interaction: WireInteraction,
  selfId: string,
  signal: AbortSignal,
): Promise<void> {
  const { id, token, type } = interaction;
  if (type !== command && type !== component) return;
  const content = escaped(wordsOf(interaction, selfId) ?? notOpen);
  const data = { content, flags: ephemeral, allowed_mentions: { parse: [] } };
  const body = { type: 4, data };
  const path = `/interactions/${id}/${encodeURIComponent(token)}/callback` as const;
  try {
    await client.do("POST", path, { what: "answer a press", body, signal, msMax: answerMsMax });
  } catch (error) {
    // What was pressed is heard all the same.
    const why = error instanceof EarshotError ? error.code : "unknown";
    if (!signal.aborted) log("warn", "discord.press-unanswered", { error: why });
  }
}

/** Offers the context's commands, where they differ from those there. Never rejects. */
export async function offerCommands(
  client: DiscordClient,
  { commands = [], config, log }: ChannelContext<DiscordAccountConfig>,
  applicationId: string,
  signal: AbortSignal,
): Promise<void> {
  if (commands.length === 0 || !config.slashCommands) return;
  const path = `/applications/${applicationId}/commands` as const;
  const options = { what: "set the menu", signal, msMax: menuMsMax };
  try {
    const there = await client.ask("GET", path, commandsSchema, options);
    const isThere = (name: string, description: string) =>
      there.some(
        (one) =>
          one.name === name &&
          one.description === description &&
          one.options?.[0]?.name === argument.name,
      );
    const missing = commands.filter(({ name, description }) => !isThere(name, description));
    // One by one: setting all at once would remove those of other programs.
    for (const { name, description } of missing)
      await client.do("POST", path, {
        ...options,
        body: { name, description, type: 1, options: [argument] },
      });
    if (missing.length > 0) log("info", "discord.menu", { commands: missing.length });
  } catch (error) {
    const why = error instanceof EarshotError ? error.code : "unknown";
    if (!signal.aborted) log("warn", "discord.menu-failed", { error: why });
  }
}
