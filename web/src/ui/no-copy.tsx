/** Why a node shows no conversations, where it keeps no copy of them. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, ask } from "../lib/api.ts";

const refusedStatus = 409;

/** What the daemon says of it; null: it shows all there are, or has not answered yet. */
export function useNoCopy(token: string): string | null {
  const [why, setWhy] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    ask("/api/conversations?limit=1", { token, signal: stop.signal }).catch((error: unknown) => {
      // Whatever else is wrong, the line of the page itself says.
      if (error instanceof ApiError && error.status === refusedStatus) setWhy(error.message);
    });
    return () => stop.abort();
  }, [token]);
  return why;
}

export function NoCopy({ why }: { readonly why: string }) {
  return (
    <div class="empty">
      <h2>No conversations on this node</h2>
      <p>
        <bdi>{why}</bdi>
      </p>
      <div class="acts">
        <a class="btn" href="/health">
          All nodes
        </a>
      </div>
    </div>
  );
}
