/**
 * Places of a scenario
 * ====================
 * A line that edits or deletes a message, or that tells members or history, may name its chat by
 * the id alone. Where that is, the scenario's messages say: an edit happens where its message was
 * said, thread and all, and a chat is of the kind its messages have. Made once, before the run;
 * only messages that are edited or deleted are kept.
 */
import type { Inbound } from "../../domain/message.ts";
import {
  chatKey,
  noteChats,
  type Scenario,
  type ScenarioLine,
  said,
} from "../../domain/scenario/scenario.ts";

type Place = Pick<Inbound, "channel" | "account" | "chat">;

export interface Places {
  /** The line, where it belongs; lines that say it themselves and all others are as they were. */
  complete(line: ScenarioLine): ScenarioLine;
}

/** Lines that may leave to others where they belong. */
const placed = ["edit", "delete", "membership", "history"] as const;

/** Walks the scenario as often as needed: twice where anything in it is edited or deleted. */
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
    for (const message of said(line)) {
      const key = messageKey(message, message.id);
      if (wanted.has(key) && !messages.has(key)) messages.set(key, message);
    }

  /** `chat` with its kind, where the line has not said more than an id. */
  const inChat = <Told extends Place>(told: Told): Told => {
    const { id, kind } = chats.get(chatKey(told)) ?? told.chat;
    return told.chat.kind === "group" ? { ...told, chat: { id, kind } } : told;
  };
  const atMessage = <Told extends Place & Pick<Inbound, "id" | "thread">>(told: Told): Told => {
    const { chat, thread } = inChat(told);
    const message = messages.get(messageKey(told, told.id));
    return { ...told, chat, thread: thread ?? message?.thread ?? null };
  };

  return {
    complete(line) {
      if ("edit" in line) {
        const edit = atMessage(line.edit);
        const author = edit.author ?? messages.get(messageKey(edit, edit.id))?.author;
        return { ...line, edit: author === undefined ? edit : { ...edit, author } };
      }
      if ("delete" in line) return { ...line, delete: atMessage(line.delete) };
      if ("membership" in line) return { ...line, membership: inChat(line.membership) };
      if ("history" in line) return { ...line, history: inChat(line.history) };
      return line;
    },
  };
}

const changed = (line: ScenarioLine) =>
  "edit" in line ? line.edit : "delete" in line ? line.delete : null;

const messageKey = (place: Place, id: string): string => `${chatKey(place)}${id}`;
