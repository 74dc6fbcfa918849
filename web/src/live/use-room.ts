/**
 * One room, live: what the daemon tells of it, kept together over lost connections. The newest part
 * of the transcript is followed; older pages are fetched on demand.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type {
  RoomEntry,
  RoomFrame,
  RoomHistory,
  RoomState,
  RoomView,
} from "../../../src/daemon/room-types.ts";
import type { Link } from "../direct/webchat.ts";
import { ApiError, ask } from "../parts/api.ts";
import { openLive } from "../parts/live.ts";
import { merged } from "./transcript.ts";

export interface Room {
  readonly view: Omit<RoomView, "state" | "history">;
  readonly state: RoomState;
  /** The state before, for what was just left. */
  readonly before: RoomState | null;
  readonly entries: readonly RoomEntry[];
  /** Null: nothing older is known. */
  readonly older: number | null;
  /** So many entries are kept; more once somebody has asked for older ones. */
  readonly keep: number;
  /** Lines that came since the page was opened. */
  readonly arrived: number;
  readonly writing: { readonly turnId: string; readonly text: string } | null;
  /** What is to be added to this machine's clock to have the daemon's. */
  readonly ahead: number;
}

export interface LiveRoom {
  /** Null: not told yet. */
  readonly room: Room | null;
  /** Nothing was heard there yet. */
  readonly missing: boolean;
  readonly link: Link;
  /** Fetches the page before; resolves when it is there. */
  readonly loadOlder: () => Promise<void>;
}

/** A room where much is said for hours would grow for ever. */
const keptFirst = 600;

const isTalk = ({ kind }: RoomEntry) => kind === "heard" || kind === "said" || kind === "command";

/** What the room is called by the newest of these lines that says so. */
function titleIn(entries: readonly RoomEntry[]): string | undefined {
  const titles = entries.flatMap((entry) => (entry.kind === "heard" ? (entry.title ?? []) : []));
  return titles.at(-1);
}

/** The room after a frame. */
export function withFrame(room: Room | null, frame: RoomFrame, at: number): Room | null {
  if (frame.type === "open") {
    const { state, history, ...view } = frame.view;
    return {
      ...{ view, state, before: null, writing: frame.writing, ahead: state.now - at },
      entries: history.entries,
      older: history.before,
      keep: keptFirst,
      arrived: (room?.arrived ?? 0) + (room === null ? 0 : history.entries.filter(isTalk).length),
    };
  }
  if (room === null) return null;
  const { state, entries, writing, upTo } = frame;
  const all = merged(room.entries, entries);
  // In steps, so that lines go away now and then and not with every frame.
  const isFull = all.length > room.keep * 1.25;
  const kept = isFull ? all.slice(-room.keep) : all;
  return {
    ...room,
    older: isFull ? (kept[0]?.seq ?? room.older) : room.older,
    view: { ...room.view, title: titleIn(entries) ?? room.view.title, upTo },
    ...{ state, before: room.state, writing, ahead: state.now - at },
    entries: kept,
    arrived: room.arrived + entries.filter(isTalk).length,
  };
}

export function useRoom(token: string, key: string): LiveRoom {
  const [room, setRoom] = useState<Room | null>(null);
  const [missing, setMissing] = useState(false);
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const newest = useRef<Room | null>(null);
  const path = `/api/rooms/${encodeURIComponent(key)}`;
  const keep = (next: Room | null) => {
    newest.current = next;
    setRoom(next);
  };
  useEffect(() => {
    keep(null);
    setMissing(false);
    const stop = new AbortController();
    const close = openLive({
      token,
      path: () => {
        const upTo = newest.current?.view.upTo;
        return upTo === undefined ? `${path}/live` : `${path}/live?after=${upTo}`;
      },
      onOpen: () => setMissing(false),
      onData: (data) => keep(withFrame(newest.current, JSON.parse(data) as RoomFrame, Date.now())),
      onLink(next) {
        setLink(next);
        if (next.state === "lost" && newest.current === null)
          void isMissing(path, token, stop.signal).then(setMissing);
      },
    });
    return () => {
      stop.abort();
      close();
    };
  }, [token, path]);
  const loadOlder = useMemo(() => {
    let loading: Promise<void> | null = null;
    const load = async () => {
      const before = newest.current?.older ?? null;
      if (before === null) return;
      const page = (await ask(`${path}/history?before=${before}`, { token })) as RoomHistory;
      const now = newest.current;
      // The room may have begun anew meanwhile.
      if (now === null || now.older !== before) return;
      const entries = merged(page.entries, now.entries);
      keep({ ...now, entries, older: page.before, keep: now.keep + page.entries.length });
    };
    return () => {
      loading ??= load()
        .catch(() => undefined)
        .finally(() => {
          loading = null;
        });
      return loading;
    };
  }, [token, path]);
  // The daemon answers; it only has nothing to tell.
  const shown: Link = missing && link.state === "lost" ? { state: "live" } : link;
  return { room, missing, link: shown, loadOlder };
}

/** Whether the daemon is there and knows of no such room. */
async function isMissing(path: string, token: string, signal: AbortSignal): Promise<boolean> {
  try {
    await ask(path, { token, signal });
    return false;
  } catch (error) {
    return error instanceof ApiError && (error.status === 404 || error.status === 400);
  }
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
