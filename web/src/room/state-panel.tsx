/**
 * The state of the room beside its transcript: statechart, the running turn, sticky credits and the
 * context buffer. Every panel keeps its rows, whatever they show, so that nothing below moves.
 */
import type { ComponentChildren } from "preact";
import type {
  RoomBatch,
  RoomCredit,
  RoomPerson,
  RoomState,
  RoomTurn,
} from "../../../src/daemon/api-types/room.ts";
import type { RoomPlace, RoomTransition } from "../../../src/daemon/api-types/room-transitions.ts";
import { age } from "../lib/format.ts";
import { clockTime, countdown, duration, shownName, shownText } from "../lib/sanitize.ts";
import { Face } from "../ui/chip.tsx";
import { Icon } from "../ui/icons.tsx";
import { Chart } from "./statechart.tsx";
import { isSilenced } from "./statechart-layout.ts";
import { useNow } from "./use-room.ts";

interface SideProps {
  readonly state: RoomState;
  readonly before: RoomState | null;
  readonly agentName: string;
  /** The daemon's clock less this one's. */
  readonly ahead: number;
  /** The transition that the chart shows; null: there was none yet. */
  readonly taken: RoomTransition | null;
  /** The chart shows the states after that transition, not those of now. */
  readonly isPast: boolean;
  /** What goes below the chart. */
  readonly children: ComponentChildren;
}

export function Side({ state, before, agentName, ahead, taken, isPast, children }: SideProps) {
  const now = useNow() + ahead;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable
    <section class="col state-col" aria-label="State" data-scrolls tabIndex={0}>
      <div class="side">
        <StatePanel state={state} before={before} now={now} taken={taken} isPast={isPast} />
        {children}
        <TurnPanel state={state} agentName={agentName} now={now} />
        <Credits state={state} now={now} />
        <Buffer state={state} now={now} />
      </div>
    </section>
  );
}

interface PanelProps {
  readonly title: string;
  readonly end: string;
  readonly bare?: boolean;
  readonly children: ComponentChildren;
}

function Panel({ title, end, bare = false, children }: PanelProps) {
  return (
    <div class={bare ? "panel bare" : "panel"}>
      <header>
        <h2>{title}</h2>
        <span class="end">
          <bdi>{end}</bdi>
        </span>
      </header>
      {children}
    </div>
  );
}

/** In every list, settling is called delivering. */
export function stateWord(attention: string): string {
  const [, name = attention] = attention.split(".");
  return name === "settling" ? "delivering" : name;
}

interface StateProps {
  readonly state: RoomState;
  readonly now: number;
}

type StatePanelProps = StateProps & Pick<SideProps, "before" | "taken" | "isPast">;

function StatePanel({ state, before, now, taken, isPast }: StatePanelProps) {
  const word = stateWord(state.attention);
  const lasts = state.since === null ? word : `${word}, ${age(now - state.since)}`;
  const past = isPast ? taken : null;
  const end = past === null ? lasts : `after ${past.event}, ${clockTime(past.at)}`;
  const { guard } = state;
  return (
    <Panel title="State" end={end} bare>
      <Chart
        state={past === null ? state : stateAt(state, past.to)}
        before={past === null ? before : null}
        taken={taken}
      />
      <p class={guard.state === "clear" ? "guard-line" : "guard-line hot"}>
        {guard.state !== "clear" && <Icon name="warn" size={14} />}
        {guardWords(state)}
      </p>
    </Panel>
  );
}

/** The state with its places as they were. */
const stateAt = (state: RoomState, { attention, lock, guard, typing }: RoomPlace): RoomState => ({
  ...state,
  attention,
  lock,
  guard: { ...state.guard, state: guard },
  typing,
  trail: [],
});

function guardWords({ guard }: RoomState): string {
  const turns = `${guard.consecutive} ${guard.consecutive === 1 ? "turn" : "turns"}`;
  if (guard.state === "muted") return "Muted: bots do not engage until a person writes";
  if (guard.state === "tripped") return `Tripped: ${turns} by bots since a person wrote`;
  return guard.consecutive === 0
    ? "No turns by bots since a person wrote"
    : `${turns} by bots since a person wrote`;
}

const nothing = "–";

function TurnPanel({ state, agentName, now }: StateProps & { readonly agentName: string }) {
  const { turn, turns, batches } = state;
  const title = turn === null ? "Turn" : `Turn ${turn.turn}`;
  const end = turn === null ? `${turns.toLocaleString("en")} so far` : shownName(agentName);
  return (
    <Panel title={title} end={end}>
      <dl class="kv">
        <Fact name="For">{turn === null ? nothing : forWords(turn)}</Fact>
        <Fact name="Goes to">{turn === null ? nothing : wayWords(turn, state)}</Fact>
        <Fact name="Ack">{turn === null ? nothing : ackWords(turn)}</Fact>
        <Fact name="Sent">{turn === null ? nothing : partWords(turn)}</Fact>
        <Fact name="Waiting">{batches.length === 0 ? nothing : waitingWords(batches, now)}</Fact>
      </dl>
    </Panel>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class="cut">
        <bdi title={children}>{children}</bdi>
      </dd>
    </>
  );
}

const names = (people: readonly RoomPerson[]): string =>
  people.map(({ name }) => shownName(name)).join(", ");
const lines = (count: number): string => (count === 1 ? "1 message" : `${count} messages`);

function forWords({ batch, attempt, context }: RoomTurn): string {
  const authors = [...new Map(batch.map(({ author }) => [author.id, author])).values()];
  const who = batch.length === 0 ? "heartbeat" : names(authors);
  const said = batch.length === 0 ? "" : `, ${lines(batch.length)}`;
  const shown = context === 0 ? "" : `, with ${context} observed`;
  return `${who}${said}${shown}${attempt > 1 ? `, try ${attempt}` : ""}`;
}

function wayWords({ place, replyTo, batch }: RoomTurn, state: RoomState): string {
  if (isSilenced(state)) return "nowhere: the agent chose not to answer";
  const answered = batch.find(({ id }) => id === replyTo)?.author;
  const reply = answered === undefined ? "" : `, in answer to ${shownName(answered.name)}`;
  return `${place}${reply}`;
}

function ackWords({ ack, batch }: RoomTurn): string {
  if (ack === null) return "none";
  if (batch.length === 1) return `${ack.emoji} set`;
  return ack.on === batch.length
    ? `${ack.emoji} on ${batch.length === 2 ? "both" : `all ${batch.length}`} messages`
    : `${ack.emoji} on ${ack.on} of ${lines(batch.length)}`;
}

function partWords({ parts: { made, open }, ended, abortedBy }: RoomTurn): string {
  const count = `${made - open} of ${made} ${made === 1 ? "part" : "parts"}`;
  if (abortedBy !== null) return `${count}, stopped by ${shownName(abortedBy)}`;
  return made === 0 ? "nothing yet" : ended ? `${count}, the agent is done` : count;
}

function waitingWords(batches: readonly RoomBatch[], now: number): string {
  return batches
    .map(({ authors, messages, closesAt }) => {
      const when = closesAt === null ? "in line" : `gathers ${duration(closesAt - now)}`;
      return `${names(authors)}, ${lines(messages)}, ${when}`;
    })
    .join("; ");
}

/** What a credit is good for. */
const stickinessText = (mode: string): string =>
  mode === "floor"
    ? "their next messages engage the agent without a mention while they go on talking with it."
    : "their next message engages the agent without a mention.";

const modes: Readonly<Record<string, string>> = {
  "one-shot": "one-shot",
  sliding: "sliding",
  floor: "floor",
};

function Credits({ state, now }: StateProps) {
  const { credits, stickiness } = state;
  const live = credits.filter(({ endsAt }) => endsAt === null || endsAt > now);
  const end = `${duration(stickiness.windowMs)}, ${modes[stickiness.mode] ?? ""}`;
  return (
    <Panel title="Sticky credits" end={end}>
      {live.length === 0 ? (
        <p class="none">
          No credits. Someone who gets an answer gets a credit: {stickinessText(stickiness.mode)}
        </p>
      ) : (
        <ul class="credits">
          {live.map((credit) => (
            <Credit key={credit.who.id} credit={credit} now={now} windowMs={stickiness.windowMs} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

interface CreditProps {
  readonly credit: RoomCredit;
  readonly now: number;
  readonly windowMs: number;
}

const soonMs = 60_000;

function Credit({ credit: { who, endsAt, held }, now, windowMs }: CreditProps) {
  const left = endsAt === null ? 0 : Math.max(0, endsAt - now);
  const share = Math.min(100, Math.round((left / Math.max(1, windowMs)) * 100));
  return (
    <li>
      <Face name={who.name} kind={who.isBot ? "bot" : "person"} />
      <bdi class="cut">{shownName(who.name)}</bdi>
      {endsAt === null ? (
        <span class="meter held" />
      ) : (
        <svg class={left < soonMs ? "meter warn" : "meter"} aria-hidden="true">
          <rect class="part" width={`${share}%`} height="4" rx="2" />
        </svg>
      )}
      <span class="num">
        {endsAt === null ? "held by turn" : `${countdown(left)} left`}
        {endsAt !== null && held && <span class="sr">, held by turn</span>}
      </span>
    </li>
  );
}

const cellsMax = 40;

function Buffer({ state, now }: StateProps) {
  const { size, used, dropped, newest } = state.buffer;
  const cells = Math.max(1, Math.min(size, cellsMax));
  const full = Math.min(cells, Math.ceil((used / Math.max(1, size)) * cells));
  return (
    <Panel title="Context buffer" end={`${used} of ${size}`}>
      <div class="cells" role="img" aria-label={`${used} of ${size} places used`}>
        {Array.from({ length: cells }, (_, index) => (
          <i key={index} class={index < full ? "full" : ""} />
        ))}
      </div>
      {newest.length === 0 ? (
        <p class="none">Empty. Observed messages collect here for the next turn.</p>
      ) : (
        <ul class="heard">
          {newest.map(({ seq, id, author, text, at }) => (
            <li key={`${seq} ${id}`}>
              <Face name={author.name} kind={author.isBot ? "bot" : "person"} />
              <bdi class="cut">{shownText(text) || "a file"}</bdi>
              <span class="small muted">{age(now - at)}</span>
            </li>
          ))}
        </ul>
      )}
      {(used > newest.length || dropped > 0) && (
        <p class="rest">
          {used > newest.length && `${used - newest.length} older. `}
          {dropped > 0 && `${dropped} dropped since the last turn.`}
        </p>
      )}
    </Panel>
  );
}
