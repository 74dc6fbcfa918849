/**
 * Following the newest line
 * =========================
 * A transcript follows its end only while the reader is near it; further up it stays where it is and
 * counts what came below.
 */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const nearPx = 48;

export interface Follow {
  readonly ref: RefObject<HTMLDivElement>;
  /** Lines below that the reader has not seen. */
  readonly unseen: number;
  readonly toEnd: () => void;
}

/** `count`: how many lines there are; `growth`: changes when the last line grows. */
export function useFollow(count: number, growth: unknown): Follow {
  const ref = useRef<HTMLDivElement>(null);
  const near = useRef(true);
  const seen = useRef(0);
  const [unseen, setUnseen] = useState(0);
  const toEnd = () => {
    const box = ref.current;
    if (box !== null) box.scrollTop = box.scrollHeight;
  };
  useEffect(() => {
    const box = ref.current;
    if (box === null) return;
    const look = () => {
      near.current = box.scrollHeight - box.scrollTop - box.clientHeight <= nearPx;
      if (near.current) setUnseen(0);
    };
    box.addEventListener("scroll", look, { passive: true });
    const resized = new ResizeObserver(() => near.current && toEnd());
    resized.observe(box);
    return () => {
      box.removeEventListener("scroll", look);
      resized.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    const came = count - seen.current;
    seen.current = count;
    if (near.current) toEnd();
    else if (came > 0) setUnseen((before) => before + came);
  }, [count, growth]);
  return { ref, unseen, toEnd };
}
