/**
 * Serves pages that show one room. A room stays open while it has readers, which share it, and closes
 * with the last one. The runtime reports the conversation of every applied event, which costs a
 * look-up in an empty map while no room is shown.
 */
import { createConfigHistory } from "../../actors/journal/config-versions.ts";
import { conversationOf, decodeEvent } from "../../actors/protocol/event-codec.ts";
import { type EarshotConfig, resolveJudge } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { defaultAccount, isSessionKey, parseSessionKey } from "../../domain/key.ts";
import type { Clock, Log, Store } from "../../domain/ports/index.ts";
import type { DeltaLine, StreamLine } from "../../domain/stream.ts";
import type { RoomFrame, RoomHistory, RoomView } from "../api-types/room.ts";
import type { RoomTransition } from "../api-types/room-transitions.ts";
import { keyOf, tagged } from "../events/event-kinds.ts";
import { frameMs, LiveRoom } from "./live-room.ts";

export interface RoomViewPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => EarshotConfig;
  readonly titleOf: (key: string) => Promise<string>;
}

export interface RoomReader {
  /** The next frame, at most four a second; null: the room was closed. */
  next(): Promise<RoomFrame | null>;
  close(): void;
}

/** Bound of a page of the transcript: a journal number that is not in it. */
type HistoryFrom = { readonly before: number } | { readonly after: number };

export interface RoomViews {
  /** Null: unknown conversation. */
  view(key: string): Promise<RoomView | null>;
  /** About `limit` messages before a number, or after one. */
  history(key: string, from: HistoryFrom, limit: number): Promise<RoomHistory | null>;
  /** The last transitions after a journal number; null: unknown conversation. */
  transitions(key: string, after: number): Promise<readonly RoomTransition[] | null>;
  /** `after`: the newest entry that the page has; it gets the entries since then. */
  watch(key: string, after: number | null): Promise<RoomReader | null>;
  /** Numbers of the conversations that are shown. */
  watched(): readonly number[];
  /** An event of this conversation was applied. */
  applied(conv: number): void;
  line(line: StreamLine): void;
}

const openingLines = 60;
/** A page that reconnects gets at most so many missed messages, else a new `open` frame. */
const missedLinesMax = 200;

interface Shared {
  readonly room: Promise<LiveRoom>;
  live: LiveRoom | null;
  readers: number;
}

export function createRoomViews(ports: RoomViewPorts): RoomViews {
  const { store, clock, log, config, titleOf } = ports;
  const configs = createConfigHistory(store, config);
  const open = new Map<number, Shared>();
  const running = createRunning();

  const failed = (error: unknown) => log("warn", "room.unreadable", { error: String(error) });

  async function rowOf(key: string) {
    if (!isSessionKey(key)) return null;
    const row = await store.conversation(conversationOf(key).conv);
    return row?.key === key ? row : null;
  }

  /** The shared room of a key; call `leave` of the result once. */
  async function enter(key: string) {
    const row = await rowOf(key);
    if (row === null) return null;
    const { conv } = row;
    let shared = open.get(conv);
    if (shared === undefined || shared.live?.closed === true) {
      const { agentId } = parseSessionKey(key);
      const judgeMs = () => resolveJudge(config(), agentId, key)?.timeoutMs ?? 0;
      const room = LiveRoom.open({ store, clock, configs, judgeMs, failed }, row).then((live) => {
        const text = running.of(key);
        if (text !== null) live.write(text);
        return live;
      });
      shared = { room, live: null, readers: 0 };
      open.set(conv, shared);
    }
    const mine = shared;
    mine.readers += 1;
    const leave = () => {
      mine.readers -= 1;
      if (mine.readers > 0) return;
      if (open.get(conv) === mine) open.delete(conv);
      mine.live?.close();
    };
    try {
      mine.live = await mine.room;
      return { room: mine.live, leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async function viewOf(room: LiveRoom, key: string): Promise<RoomView> {
    const upTo = room.seq;
    const history = await room.back(upTo + 1, openingLines);
    const state = await room.state();
    return { ...(await namesOf(room, key)), key, upTo, state, history };
  }

  async function namesOf(room: LiveRoom, key: string) {
    const parts = parseSessionKey(key);
    const chat = await newestChat(store, room);
    return {
      title: chat?.title ?? (await titleOf(key)),
      channel: "channel" in parts ? parts.channel : (chat?.channel ?? ""),
      account: "account" in parts ? parts.account : defaultAccount,
      kind: parts.kind === "group" || parts.kind === "channel" ? parts.kind : "direct",
      agent: { id: parts.agentId, name: room.agentName },
    };
  }

  return {
    async view(key) {
      const entered = await enter(key);
      if (entered === null) return null;
      try {
        return await viewOf(entered.room, key);
      } finally {
        entered.leave();
      }
    },
    async history(key, from, limit) {
      const entered = await enter(key);
      if (entered === null) return null;
      const { room } = entered;
      try {
        if ("after" in from) return await room.forth(from.after, limit);
        return await room.back(Math.min(from.before, room.seq + 1), limit);
      } finally {
        entered.leave();
      }
    },
    async transitions(key, after) {
      const entered = await enter(key);
      if (entered === null) return null;
      try {
        return await entered.room.transitions(after);
      } finally {
        entered.leave();
      }
    },
    async watch(key, after) {
      const entered = await enter(key);
      if (entered === null) return null;
      const { room, leave } = entered;
      return createReader({ room, leave, clock, after, view: () => viewOf(room, key) });
    },
    watched: () => [...open.keys()],
    applied(conv) {
      if (open.size > 0) open.get(conv)?.live?.touch();
    },
    line(line) {
      // No room is shown: only the texts of running turns are noted, and few lines have one.
      if (open.size === 0 && !("event" in line)) return;
      const { kind, line: event } = tagged(line);
      if (kind === "delta") running.note(event);
      else if (kind === "agent_end") running.forget(event.key);
      if (open.size === 0) return;
      const key = keyOf(line);
      const live = key === null ? null : open.get(conversationOf(key).conv)?.live;
      if (live === null || live === undefined) return;
      if (kind === "delta") live.write(event);
      else live.touch();
    },
  };
}

const runningMax = 256;

/** The latest text of each running turn, for readers that open the room later. */
function createRunning() {
  const texts = new Map<string, DeltaLine>();
  return {
    note(line: DeltaLine) {
      if (texts.size >= runningMax && !texts.has(line.key))
        texts.delete(texts.keys().next().value as string);
      texts.set(line.key, line);
    },
    forget: (key: string) => void texts.delete(key),
    of: (key: string) => texts.get(key) ?? null,
  };
}

/** Some platforms send a title with some messages only. */
const titleLinesMax = 10;

interface Chat {
  readonly channel: string;
  readonly title: string | undefined;
}

/** The chat of the newest messages, with its last known title. */
async function newestChat(store: Store, room: LiveRoom): Promise<Chat | null> {
  const { entries } = await room.back(room.seq + 1, titleLinesMax);
  const seqs = entries.flatMap(({ kind, seq }) => (kind === "heard" ? seq : []));
  const chats = (await store.events(seqs)).flatMap((row): Chat[] => {
    const event = decodeEvent(row);
    if (event.type !== "message.received") return [];
    const { channel, chat } = event.message;
    return [{ channel, title: chat.title }];
  });
  return chats.findLast(({ title }) => title !== undefined) ?? chats.at(-1) ?? null;
}

interface ReaderPorts {
  readonly room: LiveRoom;
  readonly leave: () => void;
  readonly clock: Clock;
  readonly after: number | null;
  readonly view: () => Promise<RoomView>;
}

function createReader({ room, leave, clock, after, view }: ReaderPorts): RoomReader {
  let versionSent = -1;
  let upToSent = after;
  let sentAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  async function frame(): Promise<RoomFrame> {
    versionSent = room.version;
    const upTo = room.seq;
    const recent = upToSent === null ? null : room.after(upToSent);
    const entries = recent ?? (upToSent === null ? null : await missed(room, upToSent, upTo));
    if (entries === null) {
      const opened = await view();
      upToSent = opened.upTo;
      return { type: "open", view: opened, writing: room.writing };
    }
    upToSent = upTo;
    const state = await room.state();
    return { type: "more", upTo, entries, state, writing: room.writing };
  }

  return {
    async next() {
      await room.changed(versionSent);
      const wait = sentAt + frameMs - clock.now();
      if (wait > 0 && !closed)
        await new Promise<void>((resolve) => {
          clock.setTimer(clock.now() + wait, resolve);
        });
      if (closed || room.closed) return null;
      sentAt = clock.now();
      return frame();
    },
    close() {
      if (closed) return;
      closed = true;
      leave();
    },
  };
}

/** The entries that a page has missed; null: too many, or the page is ahead of the journal. */
async function missed(room: LiveRoom, after: number, upTo: number) {
  if (after > upTo) return null;
  const { entries, before } = await room.back(upTo + 1, missedLinesMax, after);
  return before === null ? entries : null;
}

/** @throws EarshotError EAR_KEY_INVALID unless it is a session key. */
export function checkedKey(key: string): string {
  if (isSessionKey(key)) return key;
  throw new EarshotError(
    "EAR_KEY_INVALID",
    "Cannot find that room: expected a session key, agent:<id>:…",
  );
}
