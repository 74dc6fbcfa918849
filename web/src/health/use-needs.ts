/**
 * What needs a person, for the count on the Health tab and the empty list of rooms. Asked every few
 * seconds instead of streamed: a second stream for each window would take one of the six connections
 * that a browser opens to a host. The Health page has its own stream.
 */
import { useEffect, useState } from "preact/hooks";
import type { NeedsAnswer } from "../../../src/daemon/api-types/needs.ts";
import { ask } from "../lib/api.ts";

const lookMs = 5_000;
const nothing: NeedsAnswer = { needs: [], more: 0 };

/** `isOn`: whether the page is connected; the last answer stays while it is not. */
export function useNeeds(token: string, isOn: boolean): NeedsAnswer {
  const [answer, setAnswer] = useState(nothing);
  useEffect(() => {
    if (!isOn) return;
    const gone = new AbortController();
    async function look(): Promise<void> {
      // The badge of the page says that the daemon does not answer.
      const asked = ask("/api/needs", { token, signal: gone.signal }).catch(() => null);
      const next = (await asked) as NeedsAnswer | null;
      if (!gone.signal.aborted && next !== null) setAnswer(next);
    }
    void look();
    const timer = setInterval(() => void look(), lookMs);
    return () => {
      gone.abort();
      clearInterval(timer);
    };
  }, [token, isOn]);
  return answer;
}
