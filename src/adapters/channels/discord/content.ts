/**
 * What a message says, as text
 * ============================
 * Discord's text is Markdown with ids for people, roles, channels and emoji
 * (https://discord.com/developers/docs/reference#message-formatting). The ids become names, outside
 * code. What is no text (embeds of bots, stickers, polls) becomes lines below it.
 */

import { limits } from "../../../domain/limits.ts";
import { cut } from "../../../domain/sanitize.ts";
import { type DiscordChats, nameOf } from "./chats.ts";
import type { WireComponent, WireContent, WireEmbed } from "./wire.ts";

export interface Said {
  readonly text: string;
  /** Ranges shown as code or quote. */
  readonly verbatim: readonly [number, number][];
}

/** Component type of a text (docs: Components, Text Display). */
const textDisplay = 10;

/** The text of a message with names in place of ids. */
export function saidIn(
  content: WireContent,
  chats: DiscordChats,
  guildId: string | undefined,
): Said {
  const own = withNames(content, chats, guildId);
  const more = [
    ...(content.components ?? []).flatMap(textsOf),
    ...(content.embeds ?? []).flatMap(embedLines),
    ...(content.sticker_items ?? []).map(({ name }) => `[sticker: ${name}]`),
    ...pollLines(content),
  ];
  const text = [own.text, ...more].filter((line) => line !== "").join("\n");
  return { text: cut(text, limits.textUnitsMax), verbatim: own.verbatim };
}

function withNames(
  { content = "", mentions = [] }: WireContent,
  chats: DiscordChats,
  guildId: string | undefined,
): Said {
  const people = new Map(
    mentions.map((user) => [user.id, user.member?.nick || nameOf(user)] as const),
  );
  const name = (whole: string): string => {
    const [, sign = "", id = ""] = /^<(@!?|@&|#)(\d+)>$/.exec(whole) ?? [];
    if (sign === "#") return `#${chats.channel(id)?.name ?? id}`;
    if (sign === "@&") return `@${chats.role(guildId, id)?.name ?? id}`;
    if (sign !== "") return `@${people.get(id) ?? personName(chats, id)}`;
    const emoji = /^<a?(:\w+:)\d+>$/.exec(whole)?.[1];
    if (emoji !== undefined) return emoji;
    const time = /^<t:(-?\d{1,12})/.exec(whole)?.[1];
    if (time !== undefined) return new Date(Number(time) * 1_000).toISOString();
    return /^<(\/[^:]+):/.exec(whole)?.[1] ?? whole;
  };
  const verbatim: [number, number][] = [];
  let text = "";
  for (const { part, isCode } of parts(content)) {
    const from = text.length;
    text += isCode
      ? part
      : part.replace(
          /<(?:@[!&]?|#)\d{1,20}>|<a?:\w{1,64}:\d{1,20}>|<t:-?\d{1,12}(?::[a-zA-Z])?>|<\/[^<>:]{1,200}:\d{1,20}>/g,
          name,
        );
    if (isCode) verbatim.push([from, text.length]);
  }
  return { text, verbatim: [...verbatim, ...quotes(text)] };
}

const personName = (chats: DiscordChats, id: string): string => {
  if (id === chats.self.id) return chats.self.name;
  const known = chats.person(id);
  return known === undefined ? id : nameOf(known);
};

/** The text in pieces, code apart from the rest. Linear: a run that nothing closes is looked for once. */
function parts(text: string): { part: string; isCode: boolean }[] {
  const found: { part: string; isCode: boolean }[] = [];
  const unclosed = new Set<number>();
  let from = 0;
  for (let at = text.indexOf("`"); at >= 0; ) {
    let width = 1;
    while (text[at + width] === "`") width += 1;
    const run = Math.min(width, 3);
    const end = unclosed.has(run) ? -1 : text.indexOf("`".repeat(run), at + run);
    if (end < 0) {
      unclosed.add(run);
      at = text.indexOf("`", at + width);
      continue;
    }
    if (at > from) found.push({ part: text.slice(from, at), isCode: false });
    found.push({ part: text.slice(at, end + run), isCode: true });
    from = end + run;
    at = text.indexOf("`", from);
  }
  if (from < text.length) found.push({ part: text.slice(from), isCode: false });
  return found;
}

/** Lines that begin with `> `, and everything after `>>> `. */
function quotes(text: string): [number, number][] {
  const found: [number, number][] = [];
  for (let at = 0; at < text.length; ) {
    if (text.startsWith(">>> ", at)) return [...found, [at, text.length]];
    const next = text.indexOf("\n", at);
    const end = next < 0 ? text.length : next;
    if (text.startsWith("> ", at)) found.push([at, end]);
    at = end + 1;
  }
  return found;
}

/** Embeds that somebody wrote; a preview of a link says nothing that the link does not. */
function embedLines({
  type = "rich",
  author,
  title,
  description,
  url,
  fields,
  footer,
}: WireEmbed): string[] {
  if (type !== "rich") return [];
  const lines = [
    author?.name,
    url == null || title == null ? title : `${title} (${url})`,
    description,
    ...(fields ?? []).map(({ name, value }) => `${name}: ${value}`),
    footer?.text,
  ];
  return lines.filter((line): line is string => line != null && line !== "");
}

function pollLines({ poll }: WireContent): string[] {
  if (poll == null) return [];
  const answers = poll.answers.map(({ poll_media: { text } }) => text ?? "").join("; ");
  return [`[poll: ${poll.question.text ?? ""}; ${answers}]`];
}

function textsOf({ type, content = "", components = [] }: WireComponent): string[] {
  const own = type === textDisplay && content !== "" ? [content] : [];
  return [...own, ...components.flatMap(textsOf)];
}
