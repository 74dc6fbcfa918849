/**
 * Needs you
 * =========
 * What happened, then what to do about it. Whatever cannot be taken back asks once, in its place.
 */
import { useEffect, useState } from "preact/hooks";
import type { Need } from "../../../src/daemon/health.types.ts";
import { ApiError, ask } from "../parts/api.ts";
import { clockTime } from "../parts/harmless.ts";
import { Icon } from "../parts/icons.tsx";
import { roomHref } from "../route.ts";

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
        {need.kind === "delivery" && <DeliveryActs id={need.id} state={need.state} token={token} />}
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
      return `${need.name} does not connect any more`;
    case "quarantine":
      return "One event is in quarantine";
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
          Nothing is heard there since {clockTime(need.since)}. Change its config; it reconnects by
          itself.
        </>
      );
    case "quarantine":
      return (
        <>
          <bdi>{need.room}</bdi> goes on without it; it is kept in the journal.{" "}
          <bdi>{sentence(need.error)}</bdi>
        </>
      );
    case "daemon":
      return <bdi>{sentence(need.problem)}</bdi>;
  }
}

/** With a capital letter and a full stop. */
const sentence = (text: string): string => {
  const whole = text.trim();
  const first = whole.slice(0, 1).toUpperCase() + whole.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
};

type Step = "rest" | "asking" | "working";

interface DeliveryActsProps {
  readonly id: string;
  readonly state: "in-doubt" | "dead";
  readonly token: string;
}

function DeliveryActs({ id, state, token }: DeliveryActsProps) {
  const [step, setStep] = useState<Step>("rest");
  const [failed, setFailed] = useState<string | null>(null);
  // After a resend the row may come back in another state: it can be acted on again.
  useEffect(() => setStep("rest"), [state]);
  const act = (what: "resend" | "drop") => {
    setStep("working");
    setFailed(null);
    const path = `/api/outbox/${encodeURIComponent(id)}/${what}`;
    ask(path, { token, body: {} }).catch((error: unknown) => {
      setStep("rest");
      setFailed(error instanceof ApiError ? error.message : "earshot could not be asked.");
    });
  };
  if (step === "asking")
    return (
      <>
        <span class="ask">Drop it? It will not be sent.</span>
        <button type="button" class="btn small" ref={focused} onClick={() => act("drop")}>
          Drop
        </button>
        <button type="button" class="btn quiet small" onClick={() => setStep("rest")}>
          Keep
        </button>
      </>
    );
  const busy = step === "working";
  return (
    <>
      {failed !== null && (
        <span class="ask" role="alert">
          {failed}
        </span>
      )}
      <button type="button" class="btn small" disabled={busy} onClick={() => act("resend")}>
        Resend
      </button>
      <button
        type="button"
        class="btn quiet small"
        disabled={busy}
        onClick={() => setStep("asking")}
      >
        Drop
      </button>
    </>
  );
}

const focused = (button: HTMLButtonElement | null) => button?.focus();
