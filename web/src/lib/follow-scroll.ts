/**
 * Following the newest line
 * =========================
 * A transcript follows its end only while the reader is near it; further up it stays and counts
 * what comes below.
 */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const nearPx = 48;

export interface Follow {
  readonly ref: RefObject<HTMLDivElement>;
  /** Lines below that the reader has not seen. */
  readonly unseen: number;
  readonly toEnd: () => void;
}

/**
 * `count`: how many lines there are. Whatever else grows or shrinks in the box is noticed by
 * itself.
 */
export function useFollow(count: number): Follow {
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
    const sizeOf = () => `${box.clientWidth} ${box.clientHeight}`;
    let size = sizeOf();
    const look = () => {
      // In the same frame its size changed, of which the observer hears after this: nobody went away.
      if (near.current && sizeOf() !== size) return;
      near.current = box.scrollHeight - box.scrollTop - box.clientHeight <= nearPx;
      if (near.current) setUnseen(0);
    };
    const stay = () => {
      size = sizeOf();
      if (near.current) toEnd();
    };
    const resized = new ResizeObserver(stay);
    const changed = new MutationObserver(stay);
    resized.observe(box);
    changed.observe(box, { childList: true, subtree: true, characterData: true });
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      box.removeEventListener("scroll", look);
      resized.disconnect();
      changed.disconnect();
    };
  }, []);
  useEffect(() => {
    const came = count - seen.current;
    seen.current = count;
    if (!near.current && came > 0) setUnseen((before) => before + came);
  }, [count]);
  return { ref, unseen, toEnd };
}
