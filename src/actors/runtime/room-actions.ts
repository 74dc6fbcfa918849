/**
 * Actions on a room
 * =================
 * What an operator does to a conversation from outside its chat: each is an event of it, journalled
 * with who did it before the caller is answered. None of them is announced in the chat, except for
 * what the agent is made to say.
 */
import type { Store } from "../../domain/ports/index.ts";
import { newestRoute } from "../journal/newest-route.ts";
import { conversationOf } from "../protocol/event-codec.ts";
import type { RoomActed, RoomOperator, RoomOrder, RoomRefusal } from "../protocol/room-actions.ts";
import type { Runtime } from "../protocol/runtime.ts";
import type { Speech } from "../protocol/speech.ts";

type Ways = Pick<Runtime, "abortTurn" | "disengage" | "resetSession" | "updateSession" | "say">;

export function createRoomActions(
  store: () => Pick<Store, "conversation" | "tail" | "lastSeqOf">,
  ways: Ways,
): RoomOperator["act"] {
  async function say({ key, by }: RoomOrder, speech: Pick<Speech, "text" | "id">) {
    const place = await newestRoute(store(), conversationOf(key).conv);
    if (place === null) return refused("no-place");
    const { text, id } = speech;
    const named = id === undefined ? {} : { id };
    const room = { key, by };
    const taken = await ways.say({ ...named, place, text, turn: false, replyTo: null, by, room });
    return taken === "conflict" ? refused("conflict") : done(taken.parts);
  }

  return async (order) => {
    const { key, by, action } = order;
    const known = await store().conversation(conversationOf(key).conv);
    if (known?.key !== key) return refused("unknown");
    switch (action.does) {
      case "stop":
        return (await ways.abortTurn(key, by)) ? done() : refused("no-turn");
      case "disengage":
        await ways.disengage(key, by);
        return done();
      case "new":
        return (await ways.resetSession(key, { by })) === null ? refused("no-session") : done();
      case "say":
        return say(order, action);
      case "activation":
        await ways.updateSession(key, { override: { activation: action.level } }, by);
        return done();
    }
  };
}

const refused = (why: RoomRefusal): RoomActed => ({ refused: why });
const done = (messages: readonly string[] = []): RoomActed => ({ refused: null, messages });
