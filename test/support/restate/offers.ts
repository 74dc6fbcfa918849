/** Events as intake offers them to a conversation, and calls of objects as any client can make them. */
import type { OfferedEvent } from "../../../src/engines/restate/wire.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { message } from "../runtime/supervised.ts";

/** A message to the agent in a group, which it will answer. */
export function called(room: string, id: string): OfferedEvent {
  const said = message(room, id, "earshot, are you there?", {
    mentions: [{ id: "we", isSelf: true }],
  });
  const event = { ...said, at: Date.now() } as ConversationEvent;
  return { identity: `message|${id}`, sentAt: 0, messageId: id, event };
}

export async function askObject(
  ingress: string,
  object: string,
  key: string,
  handler: string,
  input?: unknown,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(`${ingress}/${object}/${encodeURIComponent(key)}/${handler}`, {
    method: "POST",
    headers: input === undefined ? {} : { "content-type": "application/json" },
    ...(input === undefined ? {} : { body: JSON.stringify(input) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
}
