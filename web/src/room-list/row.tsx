/**
 * A row of the list: the whole row is one link. Every cell has its own width and cuts its text, so
 * that an update never moves a neighbour.
 */
import { Component } from "preact";
import type { RoomRow } from "../../../src/daemon/api-types/rooms.ts";
import { age } from "../lib/format.ts";
import { roomHref } from "../lib/route.ts";
import { bots, countdown, people, shownKey } from "../lib/sanitize.ts";
import { Chip, Face } from "../ui/chip.tsx";
import { Strip } from "../ui/decision-strip.tsx";
import { Icon } from "../ui/icons.tsx";
import { isEngaged } from "./model.ts";

export interface RowProps {
  readonly row: RoomRow;
  /** The daemon's clock, in whole seconds. */
  readonly second: number;
  /** What people call a channel. */
  readonly nameOf: (channel: string) => string;
  readonly tabbable: boolean;
}

export function Row({ row, second, nameOf, tabbable }: RowProps) {
  const now = second * 1_000;
  return (
    <a class="room" href={roomHref(row.key)} tabIndex={tabbable ? 0 : -1} data-key={row.key}>
      <Steady row={row} nameOf={nameOf} />
      <div class="marks">
        <Marks row={row} now={now} />
      </div>
      <div class="when">{row.heardAt === 0 ? "" : age(now - row.heardAt)}</div>
    </a>
  );
}

type SteadyProps = Pick<RowProps, "row" | "nameOf">;

/**
 * What changes only with the row itself. It says so instead of being kept from one drawing to the
 * next: an element that is kept holds every list it was ever part of, as long as the page lives.
 */
class Steady extends Component<SteadyProps> {
  override shouldComponentUpdate(next: SteadyProps): boolean {
    return next.row !== this.props.row || next.nameOf !== this.props.nameOf;
  }

  override render({ row, nameOf }: SteadyProps) {
    const { title, channel, account, place, key, last } = row;
    const where = account === "default" || account === "" ? "" : ` ${account}`;
    return (
      <>
        <div class="cut">
          <div class="name cut">
            <bdi>{title}</bdi>
          </div>
          <div class="line2 cut">
            <bdi>{nameOf(channel) + where}</bdi>{" "}
            <span class="mono" title={shownKey(key)}>
              <bdi>{shownKey(place)}</bdi>
            </span>
          </div>
        </div>
        <div>
          <span class={`state${isEngaged(row) ? " on" : ""}`}>{row.state}</span>
        </div>
        <div class="cut">
          <Who row={row} />
        </div>
        <div>
          <Strip recent={row.recent} />
        </div>
        <div class="cut">
          {last !== null && (
            <>
              <Chip decision={last.decision} rule={last.rule} />
              <div class="said cut">
                <bdi>{last.author}</bdi>:{" "}
                {last.text === null ? <i>deleted</i> : <bdi>{last.text}</bdi>}
              </div>
            </>
          )}
        </div>
      </>
    );
  }
}

function Who({ row }: { readonly row: RoomRow }) {
  const counted = [
    row.humans === null ? null : people(row.humans),
    row.bots === 0 ? null : bots(row.bots),
  ].filter((part) => part !== null);
  return (
    <>
      <div class="faces">
        {row.faces.map(({ name, bot }, index) => (
          <Face key={index} name={name} kind={bot ? "bot" : "person"} />
        ))}
      </div>
      <div class="line2 cut" title={row.source === "" ? undefined : `counted from ${row.source}`}>
        {counted.join(", ")}
      </div>
    </>
  );
}

/** Credits, queue, guard. */
function Marks({ row, now }: { readonly row: RoomRow; readonly now: number }) {
  const live = row.credits.filter((endsAt) => endsAt > now);
  const longest = live[0];
  return (
    <>
      {row.guard !== "clear" && (
        <span class="flag warn">
          <Icon name="warn" />
          guard {row.guard}
        </span>
      )}
      {longest !== undefined && (
        <span class="flag">
          {live.length} {live.length === 1 ? "credit" : "credits"}, {countdown(longest - now)}
        </span>
      )}
      {row.queued > 0 && <span class="flag">{row.queued} queued</span>}
    </>
  );
}
