/** Accounts and their connection state, shown by shape, colour and word. */
import type { SharedConnection } from "../../../src/daemon/api-types/engine.ts";
import type { HealthConnection } from "../../../src/daemon/api-types/health.ts";
import { age, amount, span } from "../lib/format.ts";
import { Icon } from "../ui/icons.tsx";
import { momentText } from "./entry.ts";

const gapsShownMax = 10;

interface ConnectionsProps {
  readonly connections: readonly HealthConnection[];
  /** Those that one node has at a time. */
  readonly shared: readonly SharedConnection[];
  /** Restate does not answer: who has them is what was heard last. */
  readonly away: boolean;
  readonly now: number;
}

export function Connections({ connections, shared, away, now }: ConnectionsProps) {
  const up = connections.filter(({ state }) => state === "live").length;
  const others = connections.filter(({ state }) => state === "elsewhere").length;
  return (
    <section class="panel" aria-labelledby="connections-title">
      <header>
        <h2 id="connections-title">Connections</h2>
        <span class="end">
          {up} of {connections.length - others} connected
          {others > 0 && `, ${others} on other nodes`}
        </span>
      </header>
      {connections.length === 0 ? (
        <div class="calm">
          <h3>No channels yet</h3>
          <p>
            Connect one in <a href="/setup">Setup</a>, or run <code>earshot channels add</code>.
          </p>
        </div>
      ) : (
        <div class="scroll-x">
          <table class="table">
            <thead>
              <tr>
                <th>Channel</th>
                <th class="opt">Account</th>
                <th>State</th>
                <th class="num opt">For</th>
                <th class="num">Last message</th>
                <th class="num opt">Reconnects</th>
                <th class="num opt">Duplicates</th>
              </tr>
            </thead>
            <tbody>
              {connections.map((connection) => (
                <tr key={`${connection.channel} ${connection.account}`}>
                  <td class="main">
                    <bdi>{connection.name}</bdi>
                  </td>
                  <td class="opt">
                    <bdi>{connection.account}</bdi>
                  </td>
                  <td>
                    <StateBadge one={connection} away={away} />
                  </td>
                  <td class="num opt">{age(now - connection.since)}</td>
                  <td class="num">
                    {connection.heardAt === 0 ? "–" : age(now - connection.heardAt)}
                  </td>
                  <td class="num opt">{amount(Math.max(0, connection.connects - 1))}</td>
                  <td class="num opt">{amount(connection.duplicates)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shared.length > 0 && (
        <Holders connections={connections} shared={shared} away={away} now={now} />
      )}
      {connections.some(({ gaps }) => gaps.length > 0) && <Gaps connections={connections} />}
    </section>
  );
}

/** Of connections that may exist once only: who has each, since when, and who waits for it. */
function Holders({ connections, shared, away, now }: ConnectionsProps) {
  const nameOf = ({ channel, account }: SharedConnection) => {
    const own = connections.find((one) => one.channel === channel && one.account === account);
    const name = own?.name ?? channel;
    return account === "default" ? name : `${name} (${account})`;
  };
  return (
    <ul class="gaps" aria-label="Who has each connection">
      {shared.map((one) => (
        <li key={`${one.channel} ${one.account}`} class="small muted">
          <bdi>{nameOf(one)}</bdi>:{" "}
          {one.holder === null ? (
            <span class="warn">nobody has it</span>
          ) : (
            <>
              <bdi>{one.holder}</bdi> {away ? "had it when Restate last answered" : "has it"}
              {!one.live && !away && " and is not connected"}
            </>
          )}
          {!away && `, for ${span(now - one.since)}`}
          {one.waiting.length > 0 && (
            <>
              ; <bdi>{one.waiting.join(", ")}</bdi> {one.waiting.length === 1 ? "waits" : "wait"}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** What could not be recovered, the latest first. Lost messages are also what needs a person. */
function Gaps({ connections }: Pick<ConnectionsProps, "connections">) {
  const all = connections.flatMap(({ name, account, gaps }) =>
    gaps.map((gap) => ({ ...gap, who: account === "default" ? name : `${name} (${account})` })),
  );
  return (
    <ul class="gaps" aria-label="Not recovered">
      {all
        .toSorted((one, other) => other.to - one.to)
        .slice(0, gapsShownMax)
        .map(({ id, who, from, to, lost, rooms }) => (
          <li key={id} class="small muted">
            <bdi>{who}</bdi>: {lost === "messages" ? "messages" : "edits and deletions"} of{" "}
            {span(to - from)}, from{" "}
            <time dateTime={new Date(from).toISOString()}>{momentText(from)}</time>, were not
            recovered
            {rooms.length > 0 && (
              <>
                {" "}
                (<bdi>{rooms.join(", ")}</bdi>)
              </>
            )}
          </li>
        ))}
    </ul>
  );
}

const looks = {
  live: { look: "ok", word: "Connected" },
  connecting: { look: "wait", word: "Connecting" },
  resuming: { look: "wait", word: "Reconnecting" },
  "backing-off": { look: "wait", word: "Reconnecting" },
  halted: { look: "bad", word: "Halted" },
  elsewhere: { look: "wait", word: "Waits for a node" },
  stopped: { look: "bad", word: "Stopped" },
} as const;

interface StateBadgeProps extends Pick<ConnectionsProps, "away"> {
  readonly one: HealthConnection;
}

function StateBadge({ one, away }: StateBadgeProps) {
  const holder = one.state === "elsewhere" && !away ? one.holder : null;
  const { look, word } =
    holder !== null ? { look: "ok" as const, word: `Held by ${holder.node}` } : looks[one.state];
  const tries = one.state === "backing-off" && one.failures > 0 ? `, try ${one.failures}` : "";
  return (
    <span class={`badge ${look}`} title={one.detail ?? undefined}>
      <Icon name={look} />
      {word + tries}
    </span>
  );
}
