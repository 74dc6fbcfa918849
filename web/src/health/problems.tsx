/**
 * Needs you
 * =========
 * What happened, then what to do about it.
 */
import type { Need } from "../../../src/daemon/api-types/health.ts";
import { roomHref } from "../lib/route.ts";
import { clockTime } from "../lib/sanitize.ts";
import { Icon } from "../ui/icons.tsx";
import { type Act, Acts } from "./actions.tsx";
import { entryActs, momentText, shownName } from "./entry.ts";

interface NeedsProps {
  readonly needs: readonly Need[];
  readonly more: number;
  readonly token: string;
}

export function Needs({ needs, more, token }: NeedsProps) {
  return (
    <section class="panel" aria-labelledby="needs-title">
      <header>
        <h2 id="needs-title">Needs you</h2>
        {needs.length > 0 && <span class="end">{needs.length + more}</span>}
      </header>
      {needs.length === 0 ? (
        <div class="calm">
          <h3>Nothing needs you</h3>
          <p>Doubtful deliveries, refused tokens and quarantined rooms would be listed here.</p>
        </div>
      ) : (
        <ul>
          {needs.map((need) => (
            <NeedRow key={keyOf(need)} need={need} token={token} />
          ))}
        </ul>
      )}
      {more > 0 && (
        <p class="calm small muted">
          {more} more. In a terminal, <code>earshot outbox</code> lists them all.
        </p>
      )}
    </section>
  );
}

function keyOf(need: Need): string {
  if (need.kind === "delivery") return `delivery ${need.id}`;
  if (need.kind === "connection") return `connection ${need.channel} ${need.account}`;
  if (need.kind === "schedule") return `schedule ${need.name}`;
  return need.kind === "quarantine" ? `quarantine ${need.key} ${need.seq}` : "daemon";
}

function NeedRow({ need, token }: { readonly need: Need; readonly token: string }) {
  return (
    <li class="need">
      <Icon name="warn" size={14} />
      <div>
        <h3>{titleOf(need)}</h3>
        <p>
          <Detail need={need} />
        </p>
      </div>
      <div class="acts">
        <Acts acts={actsOf(need)} token={token} version={versionOf(need)} />
        {need.kind === "quarantine" && (
          <a class="btn quiet small" href={roomHref(need.key)}>
            Details
          </a>
        )}
      </div>
    </li>
  );
}

function titleOf(need: Need): string {
  switch (need.kind) {
    case "delivery":
      return need.state === "in-doubt"
        ? "One delivery may or may not have arrived"
        : "One delivery was not sent";
    case "connection":
      return need.account === "default"
        ? `${need.name} does not connect any more`
        : `${need.name}, account ${need.account}, does not connect any more`;
    case "quarantine":
      return need.tries === 0 ? "One event is in quarantine" : "One event is in quarantine again";
    case "schedule":
      return "An entry of the schedule was not said";
    case "daemon":
      return "earshot cannot work as it should";
  }
}

function Detail({ need }: { readonly need: Need }) {
  switch (need.kind) {
    case "delivery":
      return (
        <>
          To <bdi>{need.room}</bdi>, {clockTime(need.at)}.{" "}
          {need.error !== null && <bdi>{sentence(need.error)} </bdi>}
          <bdi class="words">“{need.text}”</bdi>
        </>
      );
    case "connection":
      return (
        <>
          {need.detail !== null && <bdi>{sentence(need.detail)} </bdi>}
          Nothing is heard there since {clockTime(need.since)}. Change its config and it reconnects
          by itself, or try again as it is.
        </>
      );
    case "quarantine":
      return (
        <>
          <bdi>{need.room}</bdi> goes on without it; it is kept in the journal.{" "}
          <bdi>{sentence(need.error)}</bdi>
          {need.tries > 0 && ` Tried again ${times(need.tries)}; it broke each time.`}
        </>
      );
    case "schedule":
      return (
        <>
          <bdi>{shownName(need)}</bdi>, {momentText(need.due)}. <bdi>{sentence(need.why)}</bdi>
        </>
      );
    case "daemon":
      return <bdi>{sentence(need.problem)}</bdi>;
  }
}

const times = (count: number) => (count === 1 ? "once" : `${count} times`);

/** With a capital letter and a full stop. */
const sentence = (text: string): string => {
  const whole = text.trim();
  const first = whole.slice(0, 1).toUpperCase() + whole.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
};

/** What a button may do; nothing where only a hand outside helps. */
function actsOf(need: Need): readonly Act[] {
  switch (need.kind) {
    case "delivery": {
      const path = `/api/outbox/${encodeURIComponent(need.id)}`;
      const question = "Drop it? It will not be sent.";
      return [
        { label: "Resend", path: `${path}/resend` },
        { label: "Drop", path: `${path}/drop`, question },
      ];
    }
    case "connection": {
      const [channel, account] = [need.channel, need.account].map(encodeURIComponent);
      return [{ label: "Try again", path: `/api/channels/${channel}/${account}/retry` }];
    }
    case "quarantine": {
      const path = `/api/quarantine/${need.seq}`;
      const again = "Try it again? It is heard as if it came now.";
      return [
        { label: "Try again", path: `${path}/retry`, question: again, back: "Not now" },
        { label: "Drop", path: `${path}/drop`, question: "Drop it? It will not be heard." },
      ];
    }
    case "schedule":
      return entryActs({ ...need, paused: false });
    case "daemon":
      return [];
  }
}

/** Changes when a need has come back from what was done about it. */
function versionOf(need: Need): string | number {
  if (need.kind === "delivery") return need.state;
  if (need.kind === "schedule") return need.due;
  return need.kind === "connection" ? need.since : 0;
}
