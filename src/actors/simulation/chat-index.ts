/**
 * Chats of a scenario
 * ===================
 * A line that edits or deletes a message, or that reports a reaction, members or history, may name its chat by
 * the id alone. The rest follows from the scenario's messages: an edit happens in the chat and
 * thread of its message, and a chat has the kind that its messages give. Built once, before the
 * run; it holds only messages that are edited or deleted.
 */
import type { Inbound } from "../../domain/message.ts";
import {
  chatKey,
  messagesOf,
  noteChats,
  type Scenario,
  type ScenarioLine,
} from "../../domain/scenario/scenario.ts";

type Place = Pick<Inbound, "channel" | "account" | "chat">;

export interface Places {
  /** The line with its whole chat; unchanged if it is complete or of another kind. */
  complete(line: ScenarioLine): ScenarioLine;
}

/** Kinds of lines that may name a chat by its id alone. */
const placed = ["edit", "delete", "reaction", "membership", "history"] as const;

/** Reads the scenario as often as needed: twice if it edits or deletes messages. */
export function indexChats(scenario: Pick<Scenario, "lines" | "kinds" | "chats">): Places {
  const { lines, kinds } = scenario;
  const wanted = new Set<string>();
  const messages = new Map<string, Inbound>();
  const isChanged = kinds.has("edit") || kinds.has("delete");
  const isNeeded = placed.some((kind) => kinds.has(kind));
  const noted = new Map<string, Inbound["chat"]>();
  const chats = scenario.chats ?? noted;
  for (const line of isChanged || (isNeeded && chats === noted) ? lines : []) {
    const named = changed(line);
    if (named !== null) wanted.add(messageKey(named, named.id));
    if (chats === noted) noteChats(noted, line);
  }
  for (const line of wanted.size > 0 ? lines : [])
    for (const message of messagesOf(line)) {
      const key = messageKey(message, message.id);
      if (wanted.has(key) && !messages.has(key)) messages.set(key, message);
    }

  /** `chat` with its kind, where the line has only an id. */
  const inChat = <Line extends Place>(line: Line): Line => {
    const { id, kind } = chats.get(chatKey(line)) ?? line.chat;
    return line.chat.kind === "group" ? { ...line, chat: { id, kind } } : line;
  };
  const atMessage = <Line extends Place & Pick<Inbound, "id" | "thread">>(line: Line): Line => {
    const { chat, thread } = inChat(line);
    const message = messages.get(messageKey(line, line.id));
    return { ...line, chat, thread: thread ?? message?.thread ?? null };
  };

  return {
    complete(line) {
      if ("edit" in line) {
        const edit = atMessage(line.edit);
        const author = edit.author ?? messages.get(messageKey(edit, edit.id))?.author;
        return { ...line, edit: author === undefined ? edit : { ...edit, author } };
      }
      if ("delete" in line) return { ...line, delete: atMessage(line.delete) };
      if ("reaction" in line) return { ...line, reaction: inChat(line.reaction) };
      if ("membership" in line) return { ...line, membership: inChat(line.membership) };
      if ("history" in line) return { ...line, history: inChat(line.history) };
      return line;
    },
  };
}

const changed = (line: ScenarioLine) =>
  "edit" in line ? line.edit : "delete" in line ? line.delete : null;

const messageKey = (place: Place, id: string): string => `${chatKey(place)}${id}`;
