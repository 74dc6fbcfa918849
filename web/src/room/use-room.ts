/**
 * One room, live: its state over reconnects. Frames are applied as they come and rendered once for
 * each paint; a page in the background applies them and renders nothing.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RoomFrame, RoomHistory } from "../../../src/daemon/api-types/room.ts";
import { ApiError, ask } from "../lib/api.ts";
import type { Link } from "../lib/connection-state.ts";
import { openLive } from "../lib/event-stream.ts";
import {
  type Reader,
  type Room,
  withFrame,
  withNewer,
  withNewest,
  withOlder,
} from "./room-reducer.ts";
import { messageName } from "./transcript.ts";

/** Pages of the transcript; each resolves when it is there, or could not be had. */
export interface Pages {
  readonly older: () => Promise<void>;
  readonly newer: () => Promise<void>;
  /** Back to the end, whatever is kept. */
  readonly newest: () => Promise<void>;
  /** Where the reader is; set by the transcript. */
  readonly reader: { current: Reader };
}

export interface LiveRoom {
  /** Null: not received yet. */
  readonly room: Room | null;
  /** Nothing was heard there yet. */
  readonly missing: boolean;
  readonly link: Link;
  readonly pages: Pages;
}

/** Lines of talk in a page that is asked for. */
const pageLines = 500;
const newestLines = 120;

/** Pages that are loaded at most to reach a message. */
const seekPagesMax = 40;

/** @param at Journal number of a message that has to be loaded first; null: the newest ones. */
export function useRoom(token: string, key: string, at: number | null): LiveRoom {
  const [room, setRoom] = useState<Room | null>(null);
  const [missing, setMissing] = useState(false);
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const newest = useRef<Room | null>(null);
  const reader = useRef<Reader>(null);
  const painting = useRef(0);
  const path = `/api/rooms/${encodeURIComponent(key)}`;
  const seeking = useRef(false);
  const keep = (next: Room | null) => {
    newest.current = next;
    if (seeking.current) return;
    painting.current ||= requestAnimationFrame(() => {
      painting.current = 0;
      setRoom(newest.current);
    });
  };
  const pages = useMemo(
    () => pagesOf({ path, token, room: () => newest.current, keep, reader }),
    [token, path],
  );
  /** Loads back to `at`; the room is shown when it is there. */
  const seek = async (seq: number) => {
    reader.current = seq;
    for (let page = 0; page < seekPagesMax; page += 1) {
      const { older = null, entries = [] } = newest.current ?? {};
      if (older === null || (entries[0]?.seq ?? 0) <= seq) break;
      await pages.older();
      if (newest.current?.older === older) break;
    }
    seeking.current = false;
    if (newest.current !== null) keep(newest.current);
  };
  useEffect(() => {
    newest.current = null;
    reader.current = null;
    seeking.current = at !== null;
    setRoom(null);
    setMissing(false);
    const stop = new AbortController();
    const close = openLive({
      token,
      path: () => {
        const upTo = newest.current?.view.upTo;
        return upTo === undefined ? `${path}/live` : `${path}/live?after=${upTo}`;
      },
      onOpen: () => setMissing(false),
      onData(data) {
        const frame = JSON.parse(data) as RoomFrame;
        const isFirst = newest.current === null;
        keep(withFrame(newest.current, frame, Date.now(), reader.current));
        if (isFirst && at !== null) void seek(at);
      },
      onLink(next) {
        setLink(next);
        if (next.state === "lost" && newest.current === null)
          void isMissing(path, token, stop.signal).then(setMissing);
      },
    });
    return () => {
      stop.abort();
      close();
      cancelAnimationFrame(painting.current);
      painting.current = 0;
    };
  }, [token, path]);
  // The daemon answers; it only has nothing new.
  const shown: Link = missing && link.state === "lost" ? { state: "live" } : link;
  return { room, missing, link: shown, pages };
}

interface PagePorts {
  readonly path: string;
  readonly token: string;
  readonly room: () => Room | null;
  readonly keep: (room: Room) => void;
  readonly reader: { current: Reader };
}

function pagesOf({ path, token, room, keep, reader }: PagePorts): Pages {
  const page = async (query: string) =>
    (await ask(`${path}/history?${query}`, { token })) as RoomHistory;
  return {
    reader,
    older: oneAtATime(async () => {
      const before = room()?.older ?? null;
      if (before === null) return;
      const got = await page(`before=${before}&limit=${pageLines}`);
      const now = room();
      // The room may be a new one meanwhile.
      if (now?.older === before) keep(withOlder(now, got, reader.current));
    }),
    newer: oneAtATime(async () => {
      const after = room()?.newer ?? null;
      if (after === null) return;
      const got = await page(`after=${after}&limit=${pageLines}`);
      const now = room();
      if (now?.newer === after) keep(withNewer(now, got, reader.current));
    }),
    newest: oneAtATime(async () => {
      const got = await page(`limit=${newestLines}`);
      const now = room();
      if (now !== null && now.newer !== null) keep(withNewest(now, got));
    }),
  };
}

/** Asked twice, it is done once. What fails is asked for again when somebody scrolls on. */
function oneAtATime(load: () => Promise<void>): () => Promise<void> {
  let loading: Promise<void> | null = null;
  return () => {
    loading ??= load()
      .catch(() => undefined)
      .finally(() => {
        loading = null;
      });
    return loading;
  };
}

/** There is none; its key is none; this node shows none. */
const missingStatus: ReadonlySet<number> = new Set([404, 400, 409]);

/** Whether the daemon answers that there is no such room. */
async function isMissing(path: string, token: string, signal: AbortSignal): Promise<boolean> {
  try {
    await ask(path, { token, signal });
    return false;
  } catch (error) {
    return error instanceof ApiError && missingStatus.has(error.status);
  }
}

/** Names of the messages that the judge of the room is asked about, until its time is over. */
export function useAsked({ state, ahead }: Room): ReadonlySet<string> {
  const [, pass] = useState(0);
  const open = state.asked.filter(({ until }) => until > Date.now() + ahead);
  const next = Math.min(...open.map(({ until }) => until)) - ahead;
  useEffect(() => {
    if (!Number.isFinite(next)) return;
    const timer = setTimeout(() => pass((count) => count + 1), Math.max(0, next - Date.now()) + 1);
    return () => clearTimeout(timer);
  }, [next]);
  return new Set(open.map(messageName));
}

/** This machine's clock, once a second (or as often as said). */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
