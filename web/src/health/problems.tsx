/**
 * Needs you
 * =========
 * What happened, then what to do about it.
 */
import { useId, useState } from "preact/hooks";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import { roomHref } from "../lib/route.ts";
import { Icon } from "../ui/icons.tsx";
import { Acts, actsOf } from "./actions.tsx";

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
          <p>
            New groups, pairing requests, failing agents, refused tokens and deliveries in doubt
            appear here.
          </p>
        </div>
      ) : (
        <ul>
          {needs.map((need) => (
            <NeedRow key={`${need.kind} ${need.id}`} need={need} token={token} />
          ))}
        </ul>
      )}
      {more > 0 && (
        <p class="calm small muted">{more} more. They appear when these are resolved.</p>
      )}
    </section>
  );
}

function NeedRow({ need, token }: { readonly need: Need; readonly token: string }) {
  const link = linkOf(need);
  const excerptId = useId();
  const [isOpen, setOpen] = useState(false);
  const excerpt = need.kind === "config" ? need.excerpt : [];
  return (
    <li class="need">
      <Icon name="warn" size={14} />
      <div>
        <h3>
          <bdi>{need.title}</bdi>
        </h3>
        <p>
          <bdi>{need.meaning}</bdi>
        </p>
      </div>
      <div class="acts">
        <Acts acts={actsOf(need)} token={token} version={versionOf(need)} />
        {link !== null && (
          <a class="btn quiet small" href={link.href}>
            {link.label}
          </a>
        )}
        {excerpt.length > 0 && (
          <button
            type="button"
            class="btn small"
            aria-expanded={isOpen}
            aria-controls={excerptId}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? "Hide the line" : "Show the line"}
          </button>
        )}
      </div>
      {need.kind === "config" && excerpt.length > 0 && (
        <Excerpt id={excerptId} need={need} isOpen={isOpen} />
      )}
    </li>
  );
}

interface ExcerptProps {
  readonly id: string;
  readonly need: Extract<Need, { kind: "config" }>;
  readonly isOpen: boolean;
}

/** The config file around the line that was refused. */
function Excerpt({ id, need: { line, excerpt }, isOpen }: ExcerptProps) {
  return (
    <div id={id} class="excerpt" hidden={!isOpen}>
      <ol>
        {excerpt.map((one) => (
          <li key={one.line} class={one.line === line ? "here" : ""}>
            <span class="num">{one.line}</span>
            {one.line === line ? (
              <mark>
                <bdi>{one.text}</bdi>
              </mark>
            ) : (
              <bdi>{one.text}</bdi>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

function linkOf(need: Need): { readonly label: string; readonly href: string } | null {
  if (need.kind === "quarantine") return { label: "Details", href: roomHref(need.key) };
  if (need.kind === "agent") return { label: "Show turn", href: roomHref(need.key) };
  return null;
}

/** Changes when a need has come back from what was done about it. */
function versionOf(need: Need): string | number {
  if (need.kind === "delivery") return need.state;
  if (need.kind === "schedule") return need.due;
  if (need.kind === "refused" || need.kind === "agent") return need.at;
  return need.kind === "connection" ? need.since : 0;
}
