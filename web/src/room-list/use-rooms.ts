/**
 * The list as a hook: frames go into the model at once, and the page renders once for each
 * animation frame.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RoomsFrame } from "../../../src/daemon/api-types/rooms.ts";
import { lookRowsMax } from "../../../src/daemon/api-types/values.ts";
import { ask } from "../lib/api.ts";
import { openLive } from "../lib/event-stream.ts";
import type { PageProps } from "../lib/page-props.ts";
import { lastFocused } from "./list.tsx";
import { type Filter, RoomsModel } from "./model.ts";
import { rowsAround, Viewport } from "./viewport.ts";

/** A list nobody has touched for this long may be put in order. */
const calmMs = 2_000;

export interface LiveRooms {
  readonly model: RoomsModel;
  /** The connection is lost: what is "now" is dimmed. */
  readonly stale: boolean;
  /** Somebody points at the list, or has left it. */
  readonly hold: (on: boolean) => void;
  /** Puts it in order at once. */
  readonly sort: () => void;
  /** These places are in the window. */
  readonly see: (first: number, last: number) => void;
  readonly choose: (what: { readonly filter: Filter } | { readonly find: string }) => void;
}

export function useRooms({ token, onLink }: Pick<PageProps, "token" | "onLink">): LiveRooms {
  const model = useMemo(() => new RoomsModel(), []);
  const looker = useMemo(() => newLooker(token), [token]);
  const [, paint] = useState(0);
  const [stale, setStale] = useState(false);
  const wanted = useRef(0);
  const held = useRef(false);
  const calm = useRef(0);
  const soon = () => {
    if (wanted.current !== 0) return;
    wanted.current = requestAnimationFrame(() => {
      wanted.current = 0;
      paint((count) => count + 1);
    });
  };
  /** The order stays while the list is pointed at or has the focus. */
  const touch = () => {
    calm.current = 0;
    looker.look({ follow: false });
  };
  useEffect(() => {
    const end = openLive({
      token,
      path: () => looker.path(),
      onOpen: () => undefined,
      onLink: (link) => {
        setStale(link.state === "lost");
        onLink(link);
      },
      onData: (data) => {
        const frame = JSON.parse(data) as RoomsFrame;
        if (frame.type === "open") return looker.opened(frame.view);
        if (frame.type === "window" && frame.at !== null) looker.placed(frame.from);
        model.take(frame, Date.now());
        soon();
      },
    });
    return () => {
      looker.end();
      end();
      cancelAnimationFrame(wanted.current);
    };
  }, [token]);
  useEffect(() => {
    // Ages and countdowns go on without frames; the order follows when nobody minds.
    const tick = setInterval(() => {
      if (held.current || scrollY > 0) touch();
      else calm.current += 1_000;
      if (calm.current >= calmMs) looker.look({ follow: true });
      soon();
    }, 1_000);
    return () => clearInterval(tick);
  }, [looker]);
  return {
    model,
    stale,
    hold(on) {
      held.current = on;
      if (on) touch();
    },
    sort: () => looker.look({ sort: true }),
    see(first, last) {
      if (scrollY > 0) touch();
      looker.look(rowsAround(first, last, lookRowsMax));
    },
    choose: (what) => looker.look(what),
  };
}

const newLooker = (token: string): Viewport =>
  new Viewport({
    first: {
      ...rowsAround(0, 20, lookRowsMax),
      filter: "all",
      find: "",
      follow: true,
      sort: false,
      at: lastFocused() ?? "",
    },
    async send(view, body, signal) {
      // What is seen is what the stream says; a stream that is lost is opened with the newest look.
      await ask(`/api/rooms/live/${view}`, { token, body, signal }).catch(() => undefined);
    },
  });
