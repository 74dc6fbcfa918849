/**
 * A list of rooms over a small daemon: rooms speak on request, hosts answer from plain
 * records, time advances on request. A page over it takes frames as the real one does, and may be
 * slow.
 */

import type { ConversationSummary } from "../../../src/actors/protocol/conversation-summary.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import type { RoomRow, RoomsFrame, RoomsLook } from "../../../src/daemon/api-types/rooms.ts";
import { createRoomList, type RoomList } from "../../../src/daemon/room-list/room-list.ts";
import type { Decision } from "../../../src/domain/decision.ts";
import { hash52 } from "../../../src/domain/key.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import { RoomsModel } from "../../../web/src/room-list/model.ts";
import { createTestStore } from "../runtime/test-store.ts";

const startedAt = 1_700_000_000_000;
export const firstLook: RoomsLook = {
  filter: "all",
  find: "",
  from: 0,
  limit: 10,
  follow: true,
  sort: false,
  at: "",
};

interface Standing {
  attention: string;
  guard: ConversationSummary["guard"];
}

export interface RoomListRig {
  readonly rooms: RoomList;
  readonly clock: SimulatedClock;
  /** Conversations that hosts were asked about, in all questions together. */
  readonly asked: () => number;
  /** Someone says something there; direct rooms are those whose names begin so. */
  say(room: string, author?: string, decision?: Decision): void;
  /** How a room stands from now on; null: asleep. */
  stand(room: string, standing: Standing | null): void;
  /** Time goes on, and everything that was due has happened. */
  wait(ms: number): Promise<void>;
  open(look?: Partial<RoomsLook>): Page;
}

export interface Page {
  readonly model: RoomsModel;
  /** Takes nothing while it is slow. */
  slow: boolean;
  /** Frames about rows sent so far. */
  readonly frames: () => number;
  look(look: Partial<RoomsLook>): boolean;
  /** The rows of its window, as it shows them. */
  rows(): (RoomRow | undefined)[];
  close(): void;
}

export const keyOf = (room: string): string =>
  room.startsWith("direct")
    ? `agent:main:webhook:default:direct:${room}`
    : `agent:main:webhook:group:${room}`;

export function createRoomListRig(): RoomListRig {
  const clock = new SimulatedClock(startedAt);
  const standings = new Map<number, Standing>();
  let [seq, asked] = [0, 0];
  const summaryOf = (conv: number): ConversationSummary | null => {
    const standing = standings.get(conv);
    if (standing === undefined) return null;
    const nobody = { humans: 2, source: "who has spoken", bots: 0, credits: [], queued: 0 };
    return { ...nobody, ...standing };
  };
  const rooms = createRoomList({
    clock,
    log: (level, event, fields) => {
      throw new Error(`${level} ${event} ${JSON.stringify(fields)}`);
    },
    store: createTestStore(),
    async summaries(convs) {
      asked += convs.length;
      const seen = convs.map((conv) => [conv, summaryOf(conv)] as const);
      return new Map(seen.flatMap(([conv, one]) => (one === null ? [] : [[conv, one]])));
    },
    async counts() {
      const all = [...standings];
      const those = (which: (standing: Standing) => boolean) =>
        all.filter(([, standing]) => which(standing)).map(([conv]) => conv);
      return {
        live: all.length,
        engaged: those(({ attention }) => attention !== "observing"),
        guarded: those(({ guard }) => guard !== "clear"),
      };
    },
  });
  return {
    rooms,
    clock,
    asked: () => asked,
    say(room, author = "Ann", decision = "observe") {
      seq += 1;
      const message = inboundSchema.parse({
        channel: "webhook",
        chat: { id: room, kind: room.startsWith("direct") ? "direct" : "group", title: room },
        id: `m${seq}`,
        author: { id: author.toLowerCase(), name: author },
        text: `line ${seq}`,
      });
      const authority = { commandAuthorized: false, owner: false };
      const key = keyOf(room);
      const conv = hash52(key);
      const event = { type: "message.received" as const, at: clock.now(), seq, authority, message };
      if (!standings.has(conv)) standings.set(conv, { attention: "observing", guard: "clear" });
      rooms.listener.decided(conv, key, event, { decision, rule: "default", credit: "none" });
    },
    stand(room, standing) {
      const conv = hash52(keyOf(room));
      if (standing === null) standings.delete(conv);
      else standings.set(conv, standing);
      rooms.listener.changed(conv);
    },
    async wait(ms) {
      const until = clock.now() + ms;
      const settle = async () => {
        for (let round = 0; round < 3; round += 1) await new Promise(setImmediate);
      };
      await settle();
      while (clock.fireNext(until)) await settle();
      clock.advanceTo(until);
    },
    open: (look = {}) => openPage(rooms, clock, { ...firstLook, ...look }),
  };
}

function openPage(rooms: RoomList, clock: SimulatedClock, first: RoomsLook): Page {
  const model = new RoomsModel();
  let [view, frames] = ["", 0];
  let looking = first;
  const page = { slow: false };
  const close = rooms.watch(
    {
      send(text) {
        const frame = JSON.parse(text) as RoomsFrame;
        if ("rows" in frame) frames += 1;
        if (frame.type === "open") view = frame.view;
        else model.take(frame, clock.now());
      },
      idle: () => !page.slow,
    },
    first,
  );
  return Object.assign(page, {
    model,
    frames: () => frames,
    look(look: Partial<RoomsLook>) {
      looking = { ...looking, sort: false, at: "", ...look };
      return rooms.look(view, looking);
    },
    rows() {
      const last = Math.min(model.total, looking.from + looking.limit);
      const from = Math.max(0, Math.min(looking.from, model.total - looking.limit));
      return Array.from({ length: Math.max(0, last - from) }, (_, n) => model.rowAt(from + n));
    },
    close,
  });
}
