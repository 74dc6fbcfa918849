/**
 * Rooms as data
 * =============
 * A room is a list of scenario lines without their header (docs/guide/scenarios.md): who wrote what
 * and when, what was edited, what the member list contained. It prints as a chat, so a failing test
 * is easy to read, and it can be saved for `earshot replay`.
 */
import type { ChatKind, InboundInput } from "../domain/message.ts";
import type { RoomLine } from "./room-line.ts";
import { formatRoom } from "./room-text.ts";

/** The agent, as the one that is mentioned or answered. */
export const us = "us";

/** A chat of a room. */
export interface RoomChat {
  readonly id: string;
  /** @default "group" */
  readonly kind?: ChatKind;
}

/** A message, as a test describes it. */
export interface Speech {
  readonly by: string;
  /** @default false */
  readonly isBot?: boolean;
  readonly text: string;
  /** Ids of people and bots; `us` is the agent. */
  readonly mentions?: readonly string[];
  /** `@everyone` and similar. @default false */
  readonly mentionsEveryone?: boolean;
  /** The author of the message that this one replies to; `us`: the agent. */
  readonly repliesTo?: string | null;
  readonly thread?: string | null;
  /** @default the group `kitchen` */
  readonly chat?: RoomChat;
  /** @default "irc" */
  readonly channel?: string;
}

/** The chat of everything that names no other. */
export const homeChat: RoomChat & { readonly kind: "group" } = { id: "kitchen", kind: "group" };
/** The channel of a simulated room; nothing depends on which one it is. */
export const homeChannel = "irc";

/** The message that a channel delivers for this. */
export function messageOf(id: string, speech: Speech): InboundInput {
  const { by, isBot = false, text, mentions = [], mentionsEveryone = false } = speech;
  const { repliesTo = null, thread = null, chat = homeChat, channel = homeChannel } = speech;
  const kind = chat.kind ?? "group";
  return {
    channel,
    chat: { id: chat.id, kind },
    id,
    author: isBot ? { id: by, name: by, isBot } : { id: by, name: by },
    text,
    ...(thread === null || kind === "direct" ? {} : { thread: { id: thread } }),
    ...(mentions.length === 0 ? {} : { mentions: mentions.map(mentionOf) }),
    ...(mentionsEveryone ? { mentionsEveryone } : {}),
    ...(repliesTo === null ? {} : { replyTo: parentOf(repliesTo) }),
  };
}

const mentionOf = (id: string) => (id === us ? { id: "self", isSelf: true } : { id, name: id });
const parentOf = (author: string) => ({
  id: `earlier-of-${author}`,
  authorId: author === us ? "self" : author,
  authorIsSelf: author === us,
});

/** The lines of a room, in order. */
export class Room {
  readonly lines: readonly RoomLine[];

  constructor(lines: readonly RoomLine[]) {
    this.lines = lines;
  }

  /** The lines that are messages. */
  get messages(): readonly Extract<RoomLine, { in: unknown }>[] {
    return this.lines.filter((line) => "in" in line);
  }

  /**
   * The same room with another line before the one at `index`, at that line's moment; beyond the
   * last line, at its end. Counts from 0, and starts over after the end.
   */
  with(index: number, extra: Untimed<RoomLine>): Room {
    const at = index % (this.lines.length + 1);
    const t = (this.lines[at] ?? this.lines.at(-1))?.t ?? 0;
    const line = { t, ...extra } as RoomLine;
    return new Room([...this.lines.slice(0, at), line, ...this.lines.slice(at)]);
  }

  /** The room under a config as JSON Lines, for a file and `earshot replay`. */
  scenario(config: unknown = {}): string {
    const lines = [{ earshot: 1, config }, ...this.lines];
    return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
  }

  /** For reading: one line of text each. */
  toString(): string {
    return `\n${formatRoom(this.lines)}\n`;
  }
}

type Untimed<Line> = Line extends unknown ? Omit<Line, "t"> : never;
