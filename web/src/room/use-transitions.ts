/**
 * The last transitions of a room, and which of them is looked at. The daemon computes them from its
 * journal, so they are there after a reload; new ones are asked for when the state has changed.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { RoomState } from "../../../src/daemon/api-types/room.ts";
import type { RoomTransition } from "../../../src/daemon/api-types/room-transitions.ts";
import { ask } from "../lib/api.ts";
import type { KeyMap } from "../lib/keys.ts";

const keptMax = 100;

export interface Transitions {
  /** Oldest first. */
  readonly list: readonly RoomTransition[];
  /** The one that is looked at; null: the room as it is now. */
  readonly chosen: RoomTransition | null;
  readonly choose: (one: RoomTransition | null) => void;
  readonly step: (by: 1 | -1) => void;
  readonly keys: KeyMap;
}

export function useTransitions(token: string, roomKey: string, state: RoomState): Transitions {
  const [list, setList] = useState<readonly RoomTransition[]>([]);
  const [chosen, choose] = useState<RoomTransition | null>(null);
  const known = useRef({ key: "", upTo: 0 });
  useEffect(() => {
    if (known.current.key !== roomKey) {
      known.current = { key: roomKey, upTo: 0 };
      setList([]);
      choose(null);
    }
    const stop = new AbortController();
    const { upTo } = known.current;
    const path = `/api/rooms/${encodeURIComponent(roomKey)}/transitions?after=${upTo}`;
    ask(path, { token, signal: stop.signal }).then(
      (answer) => {
        const { transitions } = answer as { readonly transitions: readonly RoomTransition[] };
        const newest = transitions.at(-1);
        if (stop.signal.aborted || newest === undefined) return;
        known.current = { key: roomKey, upTo: newest.seq };
        setList((before) => [...before, ...transitions].slice(-keptMax));
      },
      // Asked again with the next change of the state.
      () => undefined,
    );
    return () => stop.abort();
  }, [token, roomKey, state.seq]);
  const step = (by: 1 | -1) => {
    const at = chosen === null ? list.length : list.indexOf(chosen);
    choose(list[Math.max(0, at + by)] ?? null);
  };
  const keys = {
    "[": () => step(-1),
    "]": () => step(1),
    ...(chosen === null ? {} : { Escape: () => choose(null) }),
  };
  return { list, chosen, choose, step, keys };
}
