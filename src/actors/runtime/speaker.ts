/**
 * Words that nobody in a room asked for
 * =====================================
 * A text, or a prompt that the agent answers with a turn, for a chat that the caller names. It is
 * one event of the conversation of that chat, journalled before the caller is answered: from there
 * it takes the way of everything else, so it is sent in order, once, and over a crash.
 *
 * The caller's id makes it safe to ask again: the same order gets the same answer, and another order
 * under the same id is refused. That holds as long as the journal keeps the event.
 */
import { isDeepStrictEqual } from "node:util";
import { EarshotError } from "../../domain/errors.ts";
import type { ChatKind, Route } from "../../domain/message.ts";
import { textName } from "../../machines/conversation/delivery-actions.ts";
import type { PromptDue, TextDue } from "../../machines/events/events.ts";
import { createChunker } from "../../machines/output/chunker.ts";
import { resolveRoute, sessionKeyOf } from "../../machines/routing/routing.ts";
import { conversationOf, decodeEvent, newEvent } from "../protocol/event-codec.ts";
import type { RuntimePorts } from "../protocol/runtime.ts";
import { orderName, type Speech, type SpeechPlace, type SpeechTaken } from "../protocol/speech.ts";
import type { Parts } from "./parts.ts";

type Order = Speech & { readonly id: string };
type Due = TextDue | PromptDue;

export function createSpeaker(ports: RuntimePorts, opened: () => Parts): Parts["speaker"] {
  const { clock, directory } = ports;
  // In front of an engine: what this node knows of the conversations of all.
  const store = ports.reads ?? ports.store;
  /** Orders under way by id: the same id is looked up only when the one before is stored. */
  const underWay = new Map<string, Promise<unknown>>();

  async function isKnown(key: string): Promise<boolean> {
    return (await store.conversation(conversationOf(key).conv))?.key === key;
  }

  /** The agent that hears the chat, and its conversation. */
  function keyOf(route: Route, agentId: string | undefined): string {
    const config = opened().configs.current();
    const heard = resolveRoute(config, route);
    if (agentId === undefined && heard[0] !== undefined) return heard[0].sessionKey;
    if (config.agents.list.some(({ id }) => id === agentId))
      return sessionKeyOf(config, agentId as string, route);
    throw unknownAgent(agentId, "Cannot send");
  }

  function unknownAgent(agentId: string | undefined, what: string): EarshotError {
    const ids = opened()
      .configs.current()
      .agents.list.map(({ id }) => id);
    const then = ids.length === 0 ? "Add it to agents.list" : `Use one of ${listed(ids)}`;
    return refused(`no agent is called ${shown(agentId)}`, then, what);
  }

  /** What a chat is, where the caller does not say: what is known of it, or what its id shows. */
  async function kindOf(place: SpeechPlace, agentId: string | undefined): Promise<ChatKind> {
    const { kind, id } = place.chat;
    if (kind !== undefined) return kind;
    for (const tried of ["group", "channel", "direct"] as const) {
      const key = keyOf({ ...place, chat: { id, kind: tried } }, agentId);
      // The main conversation is that of every direct chat, so it says nothing about one.
      if (key.includes(`:${tried}:`) && (await isKnown(key))) return tried;
    }
    const found = directory.chatKind?.(place.channel, id) ?? null;
    if (found !== null) return found;
    throw refused(
      `it is unknown whether ${shown(id)} is a direct chat, a group or a channel`,
      "Say which with kind (--kind)",
    );
  }

  function checkAccount(
    { channel, account }: Pick<SpeechPlace, "channel" | "account">,
    what: string,
  ) {
    if (directory.hasAccount(channel, account)) return;
    const accounts = directory.accounts?.() ?? [];
    throw refused(
      `no account ${shown(`${channel}:${account}`)} is configured`,
      accounts.length === 0 ? "Add it to channels" : `Use one of ${listed(accounts)}`,
      what,
    );
  }

  /** The text in messages that the platform takes. */
  function partsOf(text: string, channel: string): readonly string[] {
    const max = directory.textLimit(channel);
    if (text.length <= max) return [text];
    const chunker = createChunker({ minChars: max, maxChars: max });
    return [...chunker.push(text), ...chunker.flush()].map((block) => block.text);
  }

  async function known(id: string): Promise<{ readonly key: string; readonly due: Due } | null> {
    for (const row of await store.eventsByMessage(orderName(id))) {
      const due = decodeEvent(row);
      if (due.type !== "text.due" && due.type !== "prompt.due") continue;
      const conversation = await store.conversation(row.conv);
      if (conversation !== null) return { key: conversation.key, due };
    }
    return null;
  }

  async function take(speech: Order): Promise<SpeechTaken | "conflict"> {
    const { place, id } = speech;
    checkAccount(place, "Cannot send");
    const kind = await kindOf(place, speech.agentId);
    const route: Route = { ...place, chat: { id: place.chat.id, kind } };
    const key = speech.key ?? speech.room?.key ?? keyOf(route, speech.agentId);
    const due = dueOf(speech, route);
    const before = await known(id);
    if (ports.forward !== undefined && (before === null || before.key === key))
      return ports.forward.say(key, { ...speech, place: route });
    if (before !== null)
      return before.key === key && isSame(before.due, due) ? taken(key, before.due) : "conflict";
    const { journal, configs } = opened();
    const event = newEvent(conversationOf(key), configs.version(), due, {
      identity: orderName(id),
      messageId: orderName(id),
    });
    await journal.offer([event]);
    return taken(key, due);
  }

  function dueOf({ id, text, turn, replyTo, by, room }: Order, route: Route): Due {
    const at = clock.now();
    if (turn) return { type: "prompt.due", at, seq: 0, id, route, text, by };
    const said = { id, route, parts: partsOf(text, route.channel), replyTo };
    return { type: "text.due", at, ...said, ...(room === undefined ? {} : { by: room.by }) };
  }

  return {
    check(place, agentId, what) {
      checkAccount(place, what);
      const { list } = opened().configs.current().agents;
      if (agentId !== undefined && !list.some(({ id }) => id === agentId))
        throw unknownAgent(agentId, what);
    },
    async say(speech: Speech): Promise<SpeechTaken | "conflict"> {
      const { id = ports.ids.next("send") } = speech;
      while (underWay.has(id)) await underWay.get(id);
      const work = take({ ...speech, id });
      underWay.set(
        id,
        work.catch(() => undefined),
      );
      try {
        return await work;
      } finally {
        underWay.delete(id);
      }
    },
  };
}

/** Whether two events are the same order; when it was given, and its row, do not count. */
function isSame(one: Due, other: Due): boolean {
  return isDeepStrictEqual({ ...one, at: 0, seq: 0 }, { ...other, at: 0, seq: 0 });
}

function taken(key: string, due: Due): SpeechTaken {
  const { id, at, route } = due;
  const rows =
    due.type === "prompt.due" ? [] : due.parts.map((_, index) => `${textName(id, at)}:${index}`);
  return { id, key, route, parts: rows, turn: due.type === "prompt.due" };
}

const shown = (value: unknown) => JSON.stringify(String(value).slice(0, 80));

/** The first names, as there may be many. */
const listed = (names: readonly string[]) =>
  names.length <= 10
    ? names.join(", ")
    : `${names.slice(0, 10).join(", ")} and ${names.length - 10} more`;

function refused(why: string, then: string, what = "Cannot send"): EarshotError {
  return new EarshotError("EAR_USAGE", `${what}: ${why}. ${then}`);
}
