/** Events as intake offers them to a conversation. */
import type { OfferedEvent } from "../../../src/engines/restate/wire.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { message } from "../runtime/supervised.ts";

/** As intake offers an event of a platform. */
export const offered = (event: ConversationEvent, identity: string): OfferedEvent => ({
  identity,
  sentAt: 0,
  cfg: 1,
  event,
});

/** A message to the agent in a group, which it will answer. */
export const called = (room: string, id: string, at = Date.now()): OfferedEvent => {
  const said = message(room, id, "earshot, are you there?", {
    mentions: [{ id: "we", isSelf: true }],
  });
  return offered({ ...said, at } as ConversationEvent, `message|${id}`);
};
