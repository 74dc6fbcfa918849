/** Turn slots, store, deliveries: numbers that are read now and then. */
import type { ComponentChildren } from "preact";
import type { Health } from "../../../src/daemon/api-types/health.ts";
import { amount, bytes } from "../lib/format.ts";
import { Icon } from "../ui/icons.tsx";

const slotsShownMax = 8;

interface TurnSlotsProps {
  readonly agents: Health["lanes"];
  /** They are of all nodes. */
  readonly several: boolean;
}

export function TurnSlots({ agents, several }: TurnSlotsProps) {
  return (
    <section class="panel" aria-labelledby="turn-slots-title">
      <header>
        <h2 id="turn-slots-title">Turn slots</h2>
        <span class="end">concurrent turns{several && ", of all nodes"}</span>
      </header>
      <ul class="turn-slots">
        {agents.map(({ agent, name, running, waiting, slots }) => {
          const label = `${running} of ${slots} busy`;
          const shown = Math.min(slots, slotsShownMax);
          const busy = Math.ceil((running / slots) * shown);
          return (
            <li key={agent}>
              <span class="cut">
                <bdi title={agent}>{name}</bdi>
              </span>
              <span class="slots" role="img" aria-label={label}>
                {Array.from({ length: shown }, (_, index) => (
                  <i key={index} class={index < busy ? "busy" : ""} />
                ))}
              </span>
              <span class="num">{waiting === 0 ? label : `${label}, ${amount(waiting)} wait`}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

export function Store({ store }: Pick<Health, "store">) {
  const { failing, bytes: size, logBytes, commitMsP99, rowsPerCommit, events, unapplied } = store;
  return (
    <section class="panel" aria-labelledby="store-title">
      <header>
        <h2 id="store-title">Store</h2>
        <span class={`end badge ${failing ? "bad" : "ok"}`}>
          <Icon name={failing ? "bad" : "ok"} />
          {failing ? "Cannot write" : "Writing"}
        </span>
      </header>
      <dl class="kv">
        {size === null ? (
          <Line name="Storage">memory only</Line>
        ) : (
          <Line name="Size on disk">{bytes(size)}</Line>
        )}
        {logBytes !== null && <Line name="Write-ahead log">{bytes(logBytes)}</Line>}
        <Line name="Commit with fsync, p99">
          {commitMsP99 === null ? "–" : `${commitMsP99.toFixed(1)} ms`}
        </Line>
        <Line name="Rows per commit">{rowsPerCommit === null ? "–" : amount(rowsPerCommit)}</Line>
        <Line name="Events so far">{amount(events)}</Line>
        <Line name="Events not applied yet">
          {unapplied.reading && "reading what was left: "}
          {amount(unapplied.events)}
        </Line>
      </dl>
    </section>
  );
}

export function Deliveries({ outbox, doubles: duplicates }: Pick<Health, "outbox" | "doubles">) {
  const of = (...states: readonly string[]) =>
    states.reduce((sum, state) => sum + (outbox[state] ?? 0), 0);
  return (
    <section class="panel" aria-labelledby="deliveries-title">
      <header>
        <h2 id="deliveries-title">Deliveries</h2>
        <span class="end">in the journal</span>
      </header>
      <dl class="kv">
        <Line name="Sent">{amount(of("sent"))}</Line>
        <Line name="Waiting">{amount(of("pending", "sending", "waiting"))}</Line>
        <Line name="In doubt" warn={of("in-doubt") > 0}>
          {amount(of("in-doubt"))}
        </Line>
        <Line name="Dead" warn={of("dead") > 0}>
          {amount(of("dead"))}
        </Line>
        <Line name="Expired">{amount(of("expired"))}</Line>
        <Line name="Duplicates dropped since start">{amount(duplicates)}</Line>
      </dl>
    </section>
  );
}

interface LineProps {
  readonly name: string;
  readonly warn?: boolean;
  readonly children: ComponentChildren;
}

function Line({ name, warn = false, children }: LineProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd class={warn ? "num warn" : "num"}>{children}</dd>
    </>
  );
}
