/**
 * Runs a room under a config through the whole runtime (the same machines, journal, hosts and
 * outbox as the daemon, on a simulated clock) and returns the result in a form for rules: the
 * messages with their decisions, the turns, the answers. Nothing reaches a real room, and the same
 * room and seed give the same run.
 */
import type { Why } from "../actors/protocol/why.ts";
import { simulate } from "../daemon/replay/simulate.ts";
import type { CreditUse, Decision, Rule } from "../domain/decision.ts";
import { EarshotError } from "../domain/errors.ts";
import type { Inbound } from "../domain/message.ts";
import type { ScenarioLine } from "../domain/scenario/scenario.ts";
import type { AgentEndLine, SendLine, StreamLine } from "../domain/stream.ts";
import { Room } from "./room.ts";
import type { RoomLine } from "./room-line.ts";
import { formatExplanation, formatLine, formatOutcome, formatTime } from "./room-text.ts";

/** One message as one agent received it. */
export interface Heard {
  /** ms since the room's start. */
  readonly t: number;
  readonly message: Inbound;
  readonly decision: Decision;
  readonly rule: Rule;
  readonly credit: CreditUse;
  /** The conversation; null if admission ended it. */
  readonly key: string | null;
  /** The turn that answers it. */
  readonly turn: Turn | null;
}

/** One turn of an agent. */
export interface Turn {
  readonly key: string;
  /** Counts from 1 in each conversation. */
  readonly number: number;
  /** ms since the room's start. */
  readonly t: number;
  /** Ids of the messages that it answers. */
  readonly batch: readonly string[];
  /** The prompt said that the agent may leave a bot's message unanswered. */
  readonly guard: boolean;
  readonly endedAt: number | null;
  readonly outcome: AgentEndLine["outcome"] | null;
  /** The sends of the turn in order, of any status. */
  readonly answers: readonly SendLine[];
  /** The prompt; null without the option `prompts`. */
  readonly prompt: string | null;
}

/** The inputs and outputs of a room, in order. */
export type RoomEvent = { readonly input: ScenarioLine } | { readonly output: StreamLine };

export interface SimulateRoomOptions {
  /** Seed of randomness and ids. @default 1 */
  readonly seed?: number;
  /** Keep the prompts of agents. @default false */
  readonly prompts?: boolean;
}

type Writable<Part> = { -readonly [Key in keyof Part]: Part[Key] };
type OpenTurn = Writable<Omit<Turn, "answers">> & { readonly answers: SendLine[] };
type OpenHeard = Writable<Heard>;

/** Parts of an answer have their turn's id; replies of commands and notices have other ids. */
const ofTurn = /^[0-9A-HJKMNP-TV-Z]{26}:/;

/** A room after its run. */
export class RoomRun {
  readonly config: unknown;
  readonly room: Room;
  /** Every input and every output, in order. */
  readonly events: readonly RoomEvent[];
  /** The outputs alone, as `earshot replay --json` prints them. */
  readonly lines: readonly StreamLine[];
  /** Every message once for each agent that received it, in order. */
  readonly heard: readonly Heard[];
  readonly turns: readonly Turn[];
  /** The sent parts of answers, in order; without replies of commands. */
  readonly answers: readonly SendLine[];
  readonly #options: SimulateRoomOptions;

  constructor(
    config: unknown,
    room: Room,
    events: readonly RoomEvent[],
    options: SimulateRoomOptions = {},
  ) {
    this.config = config;
    this.room = room;
    this.events = events;
    this.#options = options;
    this.lines = events.flatMap((event) => ("output" in event ? [event.output] : []));
    const turns = turnsOf(this.lines);
    this.turns = turns;
    this.heard = heardOf(events, turns);
    this.answers = turns
      .flatMap(({ answers }) => answers)
      .filter(({ status, aside }) => status === "sent" && aside === undefined);
  }

  /** The engaged messages; with rules: only by one of these. */
  engaged(...rules: readonly Rule[]): Heard[] {
    return this.heard.filter(
      ({ decision, rule }) => decision === "engage" && (rules.length === 0 || rules.includes(rule)),
    );
  }

  /** The observed messages. */
  observed(): Heard[] {
    return this.heard.filter(({ decision }) => decision === "observe");
  }

  /** The messages of a person or a bot. */
  by(author: string): Heard[] {
    return this.heard.filter(({ message }) => message.author.id === author);
  }

  /** The message with this id, as it was first received. */
  message(id: string): Heard {
    const found = this.heard.find(({ message }) => message.id === id);
    if (found !== undefined) return found;
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot read the message ${id}: the room has no such message`,
    );
  }

  /**
   * Why a message was decided as it was, with every rung of the ladder. Runs the room again.
   * @throws EarshotError EAR_USAGE if the room has no such message.
   */
  async explain(id: string): Promise<Why> {
    const { config, room } = this;
    const { seed = 1 } = this.#options;
    const { why } = await simulate(room.lines, { config, seed, explain: [id] });
    const found = why[id];
    if (found !== undefined) return found;
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot explain the message ${id}: the room has no such message`,
    );
  }

  /** The same as text. */
  async why(id: string): Promise<string> {
    return formatExplanation(await this.explain(id));
  }

  /** The room with the results of each line below it. */
  toString(): string {
    const rows = this.events.flatMap((event) => {
      const at = "input" in event ? event.input.t : event.output.t;
      const text = "input" in event ? formatLine(event.input) : formatOutcome(event.output);
      return text === null ? [] : [`${formatTime(at).padStart(12)}  ${text}`];
    });
    return rows.join("\n");
  }
}

/**
 * Runs a room under a config. Everyone may speak unless the config says otherwise; agents follow
 * the room's `agent` lines and answer `ok` without one, whatever driver the config names.
 * @param config as `earshot.json5` has it, parsed or not
 * @throws EarshotError EAR_CONFIG_*
 *
 * EAR_SCENARIO_INVALID: nothing was run.
 */
export async function simulateRoom(
  config: unknown,
  room: Room | readonly RoomLine[],
  options: SimulateRoomOptions = {},
): Promise<RoomRun> {
  const played = room instanceof Room ? room : new Room(room);
  const events: RoomEvent[] = [];
  const { seed = 1, prompts = false } = options;
  await simulate(played.lines, {
    config,
    seed,
    prompts,
    onInput: (input) => events.push({ input }),
    onLine: (output) => events.push({ output }),
  });
  return new RoomRun(config, played, events, options);
}

function turnsOf(lines: readonly StreamLine[]): readonly OpenTurn[] {
  const turns: OpenTurn[] = [];
  const latest = new Map<string, OpenTurn>();
  for (const line of lines) {
    if ("system" in line) continue;
    const turn = "key" in line && line.key !== null ? latest.get(line.key) : undefined;
    if ("out" in line) {
      if (line.out === "send" && ofTurn.test(line.id)) turn?.answers.push(line);
    } else if ("event" in line) {
      if (line.event === "agent_start") {
        const { key, turn: number, t, batch, guard } = line;
        const open = { key, number, t, batch, guard, answers: [] };
        const begun: OpenTurn = { ...open, endedAt: null, outcome: null, prompt: null };
        turns.push(begun);
        latest.set(key, begun);
      } else if (line.event === "prompt" && turn !== undefined) turn.prompt = line.text;
      else if (line.event === "agent_end" && turn?.number === line.turn) {
        turn.endedAt = line.t;
        turn.outcome = line.outcome;
      }
    }
  }
  return turns;
}

function heardOf(events: readonly RoomEvent[], turns: readonly Turn[]): readonly Heard[] {
  const messages = new Map<string, Inbound>();
  const heard: OpenHeard[] = [];
  for (const event of events) {
    if ("input" in event) {
      if ("in" in event.input) messages.set(event.input.in.id, event.input.in);
      continue;
    }
    const { output: line } = event;
    if ("system" in line || !("decision" in line)) continue;
    const message = messages.get(line.id);
    if (message === undefined) continue;
    const { t, decision, rule, credit, key } = line;
    heard.push({ t, message, decision, rule, credit, key, turn: null });
  }
  const byMessage = new Map(
    turns.flatMap((turn) => turn.batch.map((id) => [`${turn.key} ${id}`, turn] as const)),
  );
  for (const received of heard)
    if (received.decision === "engage")
      received.turn = byMessage.get(`${received.key} ${received.message.id}`) ?? null;
  return heard;
}
