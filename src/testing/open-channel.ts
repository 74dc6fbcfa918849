/**
 * Opens a channel account like the daemon, on real time, and records its output: events, cursors,
 * states, log lines.
 */
import { createSystemClock } from "../adapters/system/clock.ts";
import { EarshotError } from "../domain/errors.ts";
import type { Edit, Inbound, Reaction } from "../domain/message.ts";
import type {
  ChannelDefinition,
  ChannelEvent,
  ChannelHook,
  ChannelOutbound,
  ConnectionState,
  Gap,
  LogLevel,
} from "../domain/ports/index.ts";
import { lookUntil } from "./look-until.ts";

interface LogLine {
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: unknown;
}

export interface OpenedChannel {
  readonly outbound: ChannelOutbound;
  /** What the platform posts to; null for a platform that is polled. */
  readonly hook: ChannelHook | null;
  readonly logs: readonly LogLine[];
  /** What was reported as not recovered. */
  readonly gaps: readonly Gap[];
  readonly states: readonly { readonly state: ConnectionState; readonly detail?: string }[];
  /** Errors so far; checked for secrets with the rest. */
  readonly errors: unknown[];
  /** Identity to cursor, as in the store. */
  readonly cursors: Map<string, string>;
  /** Adds events that came in another way, for channels whose inbound is the daemon's own API. */
  take(events: readonly ChannelEvent[]): void;
  events(): readonly ChannelEvent[];
  messages(): readonly Inbound[];
  /** Message ids in order of arrival, without duplicates. */
  identities(): readonly string[];
  /** Resolves when the message has arrived. */
  message(id: string): Promise<Inbound>;
  edit(id: string): Promise<Edit>;
  /** Resolves when the message has so many changes of reactions; to the last of them. @default 1 */
  reaction(id: string, count?: number): Promise<Reaction>;
  /** Resolves when the connection is in this state. */
  state(wanted: ConnectionState): Promise<void>;
  live(): Promise<void>;
  /** Resolves to the error that `start` rejected with, or null when it ended without one. */
  ended(): Promise<unknown>;
  /** The next deliveries fail as with a full disk. */
  refuseDeliveries(count: number): void;
  stop(): Promise<void>;
}

/** Recorded events, and the calls that wait for one. */
class Recording {
  readonly events: ChannelEvent[] = [];
  readonly logs: LogLine[] = [];
  readonly gaps: Gap[] = [];
  readonly states: { state: ConnectionState; detail?: string }[] = [];
  readonly #waiting = new Set<() => void>();

  take(events: readonly ChannelEvent[]): void {
    this.events.push(...events);
    this.#changed();
  }

  report(state: ConnectionState, detail?: string): void {
    this.states.push({ state, ...(detail === undefined ? {} : { detail }) });
    this.#changed();
  }

  messages(): readonly Inbound[] {
    return this.events.flatMap((event) => (event.type === "message" ? [event.message] : []));
  }

  /** Resolves to the result of `find`, now or after a later event. */
  until<Found>(find: () => Found | undefined, what: string): Promise<Found> {
    return lookUntil(
      find,
      () => `${what}; states ${JSON.stringify(this.states)}`,
      (look) => {
        this.#waiting.add(look);
        return () => this.#waiting.delete(look);
      },
    );
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look();
  }
}

/** Opens and starts one account. `cursors` and `folder` continue an earlier run. */
export function openChannel(
  definition: ChannelDefinition,
  config: unknown,
  cursors: Map<string, string> = new Map(),
  folder?: string,
): OpenedChannel {
  const recording = new Recording();
  const errors: unknown[] = [];
  const stopping = new AbortController();
  let refusals = 0;
  let identity = "";
  const account = definition.open({
    accountId: "default",
    config: definition.accountSchema.parse(config),
    clock: createSystemClock(),
    random: { next: () => 0.5 },
    ...(folder !== undefined && { folder }),
    log: (level, event, fields) => void recording.logs.push({ level, event, fields }),
    async deliver(events, cursor) {
      if (refusals > 0) {
        refusals -= 1;
        throw new EarshotError("EAR_STORE_FULL", "Cannot store the events: the disk is full");
      }
      if (cursor !== undefined) cursors.set(identity, cursor);
      recording.take(events);
    },
    async loadCursor(bot, name = bot) {
      identity = name;
      return cursors.get(name) ?? null;
    },
    reportState: (state, detail) => recording.report(state, detail),
    reportGap: (gap) => void recording.gaps.push(gap),
  });
  const running = account.start(stopping.signal).then(
    () => null,
    (error: unknown) => {
      errors.push(error);
      return error;
    },
  );
  return {
    ...waits(recording),
    outbound: account.outbound,
    hook: account.hook ?? null,
    logs: recording.logs,
    states: recording.states,
    gaps: recording.gaps,
    errors,
    cursors,
    take: (events) => recording.take(events),
    events: () => recording.events,
    messages: () => recording.messages(),
    identities: () => [...new Set(recording.messages().map(({ id }) => id))],
    ended: () => running,
    refuseDeliveries: (count) => {
      refusals = count;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function waits(
  recording: Recording,
): Pick<OpenedChannel, "message" | "edit" | "reaction" | "state" | "live"> {
  const state = async (wanted: ConnectionState) => {
    const reached = () => (recording.states.at(-1)?.state === wanted ? true : undefined);
    await recording.until(reached, wanted);
  };
  return {
    message: (id) =>
      recording.until(
        () => recording.messages().find((message) => message.id === id),
        `message ${id}`,
      ),
    edit: (id) =>
      recording.until(() => {
        const found = recording.events.find(
          (event) => event.type === "edit" && event.edit.id === id,
        );
        return found?.type === "edit" ? found.edit : undefined;
      }, `edit of ${id}`),
    reaction: (id, count = 1) =>
      recording.until(() => {
        const found = recording.events.flatMap((event) =>
          event.type === "reaction" && event.reaction.id === id ? [event.reaction] : [],
        );
        return found[count - 1];
      }, `reaction ${count} to ${id}`),
    state,
    live: () => state("live"),
  };
}
