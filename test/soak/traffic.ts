/**
 * Posts talk to a daemon at a steady rate over HTTP, as programs do, and follows its events for a while now
 * and then, as people with a page do. Counts what was offered, accepted and refused.
 */
import type { SoakDaemon } from "./daemon.ts";
import type { Posted, Talk } from "./talk.ts";

export interface Counts {
  /** New messages that were posted; those that had to come again count again. */
  offered: number;
  /** Messages acknowledged with 200. */
  accepted: number;
  /** Messages answered with a 503: nothing of them was accepted. */
  refused: number;
  /** Messages of requests whose answer was lost. */
  unanswered: number;
}

export interface Traffic {
  readonly counts: Readonly<Counts>;
  /** Posts no more; resolves when every request has ended. */
  stop(): Promise<void>;
}

const requestsAtOnceMax = 8;
const perRequestMax = 20;
const moveMs = 2_000;
const followMs = 3_000;
const againMs = 200;

/** @throws from `stop`: any answer but 200 and 503. */
export function startTraffic(
  { base, token }: Pick<SoakDaemon, "base" | "token">,
  talk: Talk,
  perSecond: number,
): Traffic {
  const counts: Counts = { offered: 0, accepted: 0, refused: 0, unanswered: 0 };
  const authorization = { authorization: `Bearer ${token}` };
  const requests = new Set<Promise<void>>();
  const over = new AbortController();
  const since = performance.now();
  let due = 0;
  let failure: Error | null = null;

  /** Offers them until they are accepted: what was not comes again, as from a platform. */
  async function post(posts: readonly Posted[], messages: number): Promise<void> {
    while (!(await offer(posts, messages)) && !over.signal.aborted)
      await new Promise((next) => setTimeout(next, againMs));
  }

  /** False: they were refused, or the answer was lost. */
  async function offer(posts: readonly Posted[], messages: number): Promise<boolean> {
    counts.offered += messages;
    let status: number;
    try {
      const response = await fetch(`${base}/api/inbound`, {
        method: "POST",
        headers: { ...authorization, "content-type": "application/json" },
        body: JSON.stringify(posts),
      });
      const body = await response.text();
      status = response.status;
      if (status !== 200 && status !== 503) failure ??= new Error(`${status}: ${body}`);
    } catch {
      // Lost on the way: the daemon may have accepted them, and recognises what comes again.
      counts.unanswered += messages;
      return false;
    }
    if (status === 200) counts.accepted += messages;
    else counts.refused += messages;
    return status === 200;
  }

  function tick(): void {
    const wanted = Math.floor(((performance.now() - since) / 1_000) * perSecond);
    while (due < wanted && requests.size < requestsAtOnceMax) {
      const batch = Array.from({ length: Math.min(perRequestMax, wanted - due) }, () =>
        talk.next(),
      );
      due += batch.length;
      const messages = batch.filter(({ isMessage }) => isMessage).length;
      const request = post(
        batch.map(({ post: one }) => one),
        messages,
      ).finally(() => requests.delete(request));
      requests.add(request);
    }
  }

  /** Somebody looks at the events, and leaves in the middle of them. */
  async function follow(): Promise<void> {
    // Not `AbortSignal.any`: Node 20 collects a timeout that only it holds, and the stream stays open.
    const left = new AbortController();
    const leave = () => left.abort();
    const timer = setTimeout(leave, followMs / 2);
    over.signal.addEventListener("abort", leave);
    try {
      const { signal } = left;
      const response = await fetch(`${base}/api/events`, { headers: authorization, signal });
      for await (const _ of response.body ?? []) signal.throwIfAborted();
    } catch {
      // We left, or the daemon stopped: requests without an answer say so.
      return;
    } finally {
      clearTimeout(timer);
      over.signal.removeEventListener("abort", leave);
    }
  }

  const timers = [
    setInterval(tick, 20),
    setInterval(() => talk.moveOn(), moveMs),
    setInterval(() => void follow(), followMs),
  ];
  return {
    counts,
    async stop() {
      for (const timer of timers) clearInterval(timer);
      over.abort();
      await Promise.all(requests);
      if (failure !== null) throw failure;
    },
  };
}
