/**
 * Rooms as data
 * =============
 * A room is a list of scenario lines without their header (docs/guide/scenarios.md):
 * who said what and when, what was edited, what the member list held. It prints as a chat, so that
 * a failing test is read and not decoded, and it can be saved for `earshot replay`.
 */
import type { ChatKind, InboundInput } from "../domain/message.ts";
import type { RoomLine } from "./room-line.ts";
import { formatRoom } from "./room-text.ts";

/** The agent, where somebody is named who is mentioned or answered. */
export const us = "us";

/** Somewhere to speak. */
export interface RoomChat {
  readonly id: string;
  /** @default "group" */
  readonly kind?: ChatKind;
}

/** Something that somebody says, in the words of a test. */
export interface Speech {
  readonly by: string;
  /** @default false */
  readonly isBot?: boolean;
  readonly text: string;
  /** Ids of people and bots; `us` is the agent. */
  readonly mentions?: readonly string[];
  /** `@everyone` and its like. @default false */
  readonly mentionsEveryone?: boolean;
  /** Whose message this one replies to; `us`: a message of the agent's. */
  readonly repliesTo?: string | null;
  readonly thread?: string | null;
  /** @default the group `kitchen` */
  readonly chat?: RoomChat;
  /** @default "irc" */
  readonly channel?: string;
}

/** Where things happen unless something else is said. */
export const homeChat: RoomChat & { readonly kind: "group" } = { id: "kitchen", kind: "group" };
/** The channel of a simulated room; nothing of it depends on which one it is. */
export const homeChannel = "irc";

/** The message that a channel would hand over for this. */
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

const mentionOf = (who: string) =>
  who === us ? { id: "self", isSelf: true } : { id: who, name: who };
const parentOf = (who: string) => ({
  id: `earlier-of-${who}`,
  authorId: who === us ? "self" : who,
  authorIsSelf: who === us,
});

/** What happens in a room, in order. */
export class Room {
  readonly lines: readonly RoomLine[];

  constructor(lines: readonly RoomLine[]) {
    this.lines = lines;
  }

  /** Lines in which somebody says something. */
  get messages(): readonly Extract<RoomLine, { in: unknown }>[] {
    return this.lines.filter((line) => "in" in line);
  }

  /**
   * The same room with something more before the line at `index`, at that line's moment; beyond the
   * last line, at its end. Counts from 0, and anew after the end.
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

  /** Somebody reads this: one line of words each. */
  toString(): string {
    return `\n${formatRoom(this.lines)}\n`;
  }
}

type Untimed<Line> = Line extends unknown ? Omit<Line, "t"> : never;
