/** The list as a hook: frames go into the model at once, the page is painted once a frame. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RoomsFrame } from "../../../src/daemon/rooms.types.ts";
import type { PageProps } from "../page.ts";
import { openLive } from "../parts/live.ts";
import { RoomsModel } from "./model.ts";

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
}

export function useRooms({ token, onLink }: Pick<PageProps, "token" | "onLink">): LiveRooms {
  const model = useMemo(() => new RoomsModel(), []);
  const [, paint] = useState(0);
  const [stale, setStale] = useState(false);
  const wanted = useRef(0);
  const held = useRef(false);
  const soon = () => {
    if (wanted.current !== 0) return;
    wanted.current = requestAnimationFrame(() => {
      wanted.current = 0;
      paint((count) => count + 1);
    });
  };
  useEffect(() => {
    const end = openLive({
      token,
      path: () => "/api/rooms/live",
      onOpen: () => model.begin(),
      onLink: (link) => {
        setStale(link.state === "lost");
        onLink(link);
      },
      onData: (data) => {
        model.take(JSON.parse(data) as RoomsFrame);
        soon();
      },
    });
    return () => {
      end();
      cancelAnimationFrame(wanted.current);
    };
  }, [token]);
  useEffect(() => {
    // Ages and countdowns go on without frames; the order follows when nobody minds.
    let calm = 0;
    const tick = setInterval(() => {
      const touched = held.current || scrollY > 0;
      calm = touched ? 0 : calm + 1_000;
      if (calm >= calmMs) {
        calm = 0;
        model.sort();
      }
      soon();
    }, 1_000);
    return () => clearInterval(tick);
  }, []);
  return {
    model,
    stale,
    hold: (on) => {
      held.current = on;
    },
    sort: () => {
      model.sort();
      soon();
    },
  };
}
