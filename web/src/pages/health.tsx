/**
 * Health
 * ======
 * What needs a person comes first; then connections, nodes, workers, turn slots, store, deliveries. One
 * stream sends all of it again after each change.
 */
import { useEffect, useState } from "preact/hooks";
import type { Health } from "../../../src/daemon/api-types/health.ts";
import { Checks } from "../health/checks.tsx";
import { Connections } from "../health/connections.tsx";
import { Nodes } from "../health/nodes.tsx";
import { Needs } from "../health/problems.tsx";
import { Schedule } from "../health/schedule.tsx";
import { Deliveries, Store, TurnSlots } from "../health/side.tsx";
import { Workers } from "../health/workers.tsx";
import { openLive } from "../lib/event-stream.ts";
import { span } from "../lib/format.ts";
import type { PageProps } from "../lib/page-props.ts";
import "../styles/health.css";

export function HealthPage({ token, onLink }: PageProps) {
  const { health, now, stale } = useHealth({ token, onLink });
  return (
    <main id="main" class={`page${stale ? " stale" : ""}`} tabIndex={-1}>
      <div class="head">
        <h1>Health</h1>
        <span class="sub">{health === null ? "" : summary(health, now)}</span>
      </div>
      {health !== null && (
        <div class="health">
          <div class="stack">
            <Needs needs={health.needs} more={health.more} token={token} />
            <Connections
              connections={health.connections}
              shared={health.engine?.connections ?? []}
              away={health.engine?.server.failing ?? false}
              now={now}
            />
            <Nodes engine={health.engine} now={now} />
            <Workers hosts={health.hosts} />
            <Schedule token={token} />
            <Checks token={token} />
          </div>
          <div class="stack">
            <TurnSlots agents={health.lanes} several={health.engine?.several ?? false} />
            <Store store={health.store} />
            <Deliveries outbox={health.outbox} doubles={health.doubles} />
          </div>
        </div>
      )}
    </main>
  );
}

function summary({ startedAt, needs, more }: Health, now: number): string {
  const count = needs.length + more;
  const wants =
    count === 0
      ? "Nothing needs you."
      : count === 1
        ? "1 thing needs you."
        : `${count} things need you.`;
  return `Up ${span(Math.max(1_000, now - startedAt))}. ${wants}`;
}

interface LiveHealth {
  readonly health: Health | null;
  /** The daemon's clock; goes on by itself. */
  readonly now: number;
  readonly stale: boolean;
}

function useHealth({ token, onLink }: Pick<PageProps, "token" | "onLink">): LiveHealth {
  const [health, setHealth] = useState<Health | null>(null);
  const [ahead, setAhead] = useState(0);
  const [stale, setStale] = useState(false);
  const [, tick] = useState(0);
  useEffect(
    () =>
      openLive({
        token,
        path: () => "/api/health/live",
        onOpen: () => undefined,
        onLink: (link) => {
          setStale(link.state === "lost");
          onLink(link);
        },
        onData: (data) => {
          const received = JSON.parse(data) as Health;
          setAhead(received.now - Date.now());
          setHealth(received);
        },
      }),
    [token],
  );
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return { health, now: Date.now() + ahead, stale };
}
