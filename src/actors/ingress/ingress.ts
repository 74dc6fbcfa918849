/**
 * The intake
 * ==========
 * Drops our own messages, recognises copies, refuses strangers and journals the rest: one commit
 * for all events of a call and the platform's cursor. The platform is acknowledged only after that,
 * so an acknowledged message cannot be lost, and a refused one was not stored.
 */
import type { Verdict } from "../../domain/decision.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { type Millis, routeOf } from "../../domain/message.ts";
import type {
  ChannelEvent,
  Clock,
  CursorWrite,
  Ids,
  Log,
  MetaWrite,
  Plugin,
  Skill,
  Store,
  StoreWrite,
} from "../../domain/ports/index.ts";
import { placeOf } from "../../domain/ports/index.ts";
import { createDenials } from "../access/denial-log.ts";
import { type AccessReply, answerAccessRequest } from "../access/pairing-requests.ts";
import { createExtensionCommands } from "../commands/extension-commands.ts";
import type { DecisionWaiter, DecisionWaiters } from "../effects/decision-waiters.ts";
import { decisionLine } from "../effects/event-stream.ts";
import type { Configs } from "../journal/config-versions.ts";
import type { Journal } from "../journal/journal.ts";
import type { Outbox } from "../outbox/types.ts";
import type { AccessStore } from "../protocol/access-store.ts";
import type { NewEvent } from "../protocol/event-codec.ts";
import type { IngestOptions, IngestOutcome, OutboundDirectory } from "../protocol/runtime.ts";
import type { Admitted, RuntimeEvents } from "../protocol/runtime-events.ts";
import type { Supervisor } from "../protocol/supervisor.ts";
import type { Heartbeats } from "../turns/heartbeats.ts";
import { type Claim, createDedupe } from "./dedupe.ts";
import { createFirstReads } from "./first-reads.ts";
import { type PrepareContext, type Prepared, prepare } from "./prepare-event.ts";
import { createRedeliveries } from "./redelivery-log.ts";

export interface IngressPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly journal: Journal;
  readonly supervisor: Pick<Supervisor, "capacity">;
  readonly configs: Configs;
  readonly directory: Pick<OutboundDirectory, "isLocal" | "membership" | "isOurs" | "firstReads">;
  readonly store: Pick<Store, "conversation">;
  readonly waiters: DecisionWaiters;
  readonly heartbeats: Pick<Heartbeats, "noteRoute">;
  readonly access: Pick<AccessStore, "has" | "ask" | "redeem">;
  readonly outbox: Pick<Outbox, "enqueue" | "textOf">;
  readonly events: Pick<RuntimeEvents, "emit">;
  readonly live: boolean;
  readonly onPoint: (point: "before-ack") => void;
  readonly plugins?: readonly Plugin[];
  readonly skills?: () => readonly Skill[];
}

export interface Ingress {
  /** See `Runtime.ingest`. */
  ingest(
    channel: string,
    account: string,
    events: readonly ChannelEvent[],
    options?: IngestOptions,
  ): Promise<IngestOutcome[]>;
  /** Events that are admitted and not yet durable. */
  pending(): number;
  /** Those of them that wait for a read of their room. */
  reading(): number;
  /** Events that were refused because the intake or the store was full. */
  refused(): number;
  /** Copies of messages since the start. */
  redelivered(): number;
  /** Refuses every further event. */
  stop(): void;
}

const duplicate: Verdict = { decision: "duplicate", rule: "duplicate", credit: "none" };
const fullRetryMs = 1_000;

/** One event in progress: stored here, or a copy of one that another call stores. */
interface Taken {
  readonly prepared: Prepared;
  readonly claim: Claim | null;
  readonly copyOf: Promise<boolean> | null;
  /** The answer to its access request. */
  readonly access: AccessReply | null;
}

export function createIngress(ports: IngressPorts): Ingress {
  const { clock, configs, journal } = ports;
  const { emit } = ports.events;
  const { entries, ttlMs } = configs.current().messages.dedupe;
  const dedupe = createDedupe(clock, entries, ttlMs);
  const extras = createExtensionCommands(ports);
  const denials = createDenials(clock, ports.log);
  const redeliveries = createRedeliveries(clock, ports.log);
  let pending = 0;
  let reading = 0;
  let refused = 0;
  let stopped = false;

  const firstReads = createFirstReads({
    ...ports,
    config: configs.current,
    prepare: (event) => {
      const { channel, account } = placeOf(event);
      return prepare(channel, account, event, contextFor(channel));
    },
    deliver: (event) => {
      const { channel, account } = placeOf(event);
      ingress.ingest(channel, account, [event]).catch((error: unknown) => {
        ports.log("warn", "history.failed", { channel, account, error: String(error) });
      });
    },
  });

  function contextFor(channel: string): PrepareContext {
    return {
      config: configs.current(),
      cfg: configs.version(),
      now: clock.now(),
      local: ports.directory.isLocal(channel),
      known: ports.access,
      membership: ports.directory.membership,
      isOurs: (author: string) => ports.directory.isOurs?.(channel, author) ?? false,
      unique: () => ports.ids.next(),
      extensions: extras.list(),
      ownText: (message) => ports.outbox.textOf(message),
    };
  }

  function admitted(channel: string, account: string, events: readonly ChannelEvent[]) {
    const context = contextFor(channel);
    const found: Prepared[] = [];
    for (const event of events) {
      const prepared = prepare(channel, account, event, context);
      if (prepared !== null) found.push(prepared);
    }
    return found;
  }

  function take(prepared: Prepared): Taken {
    if (prepared.dedupeId === null) return { prepared, claim: null, copyOf: null, access: null };
    const claim = dedupe.claim(prepared.dedupeId);
    if (claim instanceof Promise) return { prepared, claim: null, copyOf: claim, access: null };
    const access = requestAccess(prepared);
    if (access === null) return { prepared, claim, copyOf: null, access };
    const { event, ended, explanation } = access;
    return {
      prepared: { ...prepared, events: [event], ended, explanation },
      claim,
      copyOf: null,
      access,
    };
  }

  function requestAccess({ request, message, events, routes }: Prepared): AccessReply | null {
    const [event] = events;
    if (request === null || message === null || event === undefined) return null;
    return answerAccessRequest(request, message, event, {
      sessionKey: routes[0]?.sessionKey ?? "",
      log: ports.log,
      access: ports.access,
      unique: (about) => ports.ids.next(about),
      now: clock.now(),
      config: configs.current(),
    });
  }

  /** Stores the events of this call; the journal numbers of each, or null for a copy. */
  async function store(
    taken: readonly Taken[],
    cursor: CursorWrite | null,
  ): Promise<(readonly number[] | null)[]> {
    const own = taken.filter(({ copyOf }) => copyOf === null);
    const events: NewEvent[] = [];
    const writes: StoreWrite[] = [];
    for (const { prepared } of own) {
      events.push(...prepared.before, ...prepared.events);
      writes.push(...lastRoutes(prepared));
    }
    if (cursor !== null) writes.push(cursor);
    try {
      const numbers =
        events.length + writes.length === 0 ? [] : await journal.offer(events, writes);
      for (const { claim } of own) claim?.commit();
      let at = 0;
      return taken.map(({ copyOf, prepared, access }) => {
        if (copyOf !== null) return null;
        at += prepared.before.length + prepared.events.length;
        const stored = numbers.slice(at - prepared.events.length, at);
        if (stored[0] === 0) access?.undo();
        else if (access !== null) ports.outbox.enqueue(access.rows);
        return stored;
      });
    } catch (error) {
      for (const { claim, access } of [...own].reverse()) {
        claim?.release();
        access?.undo();
      }
      refused += events.length;
      throw error;
    }
  }

  /** The last route of each conversation, for messages that the agent starts by itself. */
  function lastRoutes({ message, keys, ended }: Prepared): MetaWrite[] {
    if (message === null || ended !== null) return [];
    const route = routeOf(message);
    const writes: MetaWrite[] = [];
    for (const key of keys) {
      const write = key === null ? null : ports.heartbeats.noteRoute(key, route);
      if (write !== null) writes.push(write);
    }
    return writes;
  }

  /** A copy counts as stored only when the original is. */
  async function awaitCopies(taken: readonly Taken[]): Promise<void> {
    for (const { copyOf } of taken) {
      if (copyOf === null || (await copyOf)) continue;
      refused += 1;
      throw new EarshotError(
        "EAR_STORE_FAILED",
        "Cannot accept the message: its first delivery could not be stored. Send it again.",
      );
    }
  }

  function outcome({ prepared }: Taken, numbers: readonly number[] | null) {
    const { message, keys, ended } = prepared;
    return {
      id: message?.id ?? "",
      receivers: keys.map((key, index) => {
        const isCopy = numbers === null || numbers[index] === 0;
        return { key, verdict: isCopy ? duplicate : ended };
      }),
    };
  }

  function report({ prepared }: Taken, { receivers }: IngestOutcome, since: Millis): void {
    const { message, explanation } = prepared;
    if (message === null) return;
    if (receivers.some(({ verdict }) => verdict?.decision === "duplicate"))
      redeliveries.count(message);
    for (const { key, verdict } of receivers) {
      if (verdict === null) continue;
      emit.ended?.(message, key, verdict, since);
      emit.line?.(decisionLine(clock.now(), message, key, verdict, ports.live));
      if (verdict.decision === "denied") {
        denials(message, verdict, explanation);
      }
    }
  }

  function refuse(count: number): never {
    refused += count;
    throw new EarshotError(
      "EAR_INGRESS_FULL",
      stopped
        ? "Cannot accept messages: earshot is stopping. Send them again."
        : `Cannot accept messages: too many wait to be stored (${pending}). Send them again later.`,
      { retryAfterMs: fullRetryMs },
    );
  }

  /** Waits for the hosts, but not while the store fails: nothing is accepted then. */
  async function untilStoreFails(hasCapacity: Promise<void>): Promise<void> {
    let cancel: () => void = () => undefined;
    const failing = new Promise<void>((resolve) => {
      cancel = journal.onceFailing(resolve);
    });
    await Promise.race([hasCapacity, failing]);
    cancel();
  }

  /** The events, with the history of a new room before them; mostly there is none to wait for. */
  function whenRead(channel: string, account: string, events: readonly ChannelEvent[]) {
    const read = firstReads.before(channel, account, events);
    if (read === null) return events;
    reading += events.length;
    return read.finally(() => {
      reading -= events.length;
    });
  }

  async function ingest(
    channel: string,
    account: string,
    events: readonly ChannelEvent[],
    { cursor, wait }: IngestOptions,
    since: Millis,
  ): Promise<IngestOutcome[]> {
    const taken = admitted(channel, account, events).map(take);
    const isWatched = (emit.admitted ?? emit.stored ?? emit.refused) !== undefined;
    const watched = isWatched ? taken.flatMap(admittedOf) : [];
    emit.admitted?.(watched, since);
    // Edits, deletions and the like are not decided about.
    const undecided = wait === undefined ? [] : taken.filter(isUndecided);
    const waiter =
      undecided.length === 0
        ? null
        : ports.waiters.expect(undecided.flatMap(({ prepared }) => prepared.events));
    try {
      const row: CursorWrite | null =
        cursor === undefined ? null : { kind: "cursor", channel, account, ...cursor };
      const numbers = await store(taken, row);
      if (taken.some(({ copyOf }) => copyOf !== null)) await awaitCopies(taken);
      emit.stored?.(watched, since);
      const outcomes = taken.map((each, index) => outcome(each, numbers[index] ?? null));
      taken.forEach((each, index) => {
        report(each, outcomes[index] as IngestOutcome, since);
      });
      ports.onPoint("before-ack");
      const answers = waiter === null ? outcomes : await decided(outcomes, taken, waiter);
      const isMessage = (_: unknown, index: number) => taken[index]?.prepared.message !== null;
      return answers.filter(isMessage);
    } catch (error) {
      emit.refused?.(watched);
      throw error;
    } finally {
      waiter?.giveUp();
    }
  }

  const ingress: Ingress = {
    async ingest(channel, account, events, options = {}) {
      if (stopped || pending + events.length > limits.ingressPendingMax) refuse(events.length);
      pending += events.length;
      const since = clock.now();
      try {
        const hasCapacity = ports.supervisor.capacity();
        if (hasCapacity !== null) await untilStoreFails(hasCapacity);
        const read = whenRead(channel, account, events);
        const all = read instanceof Promise ? await read : read;
        return await ingest(channel, account, all, options, since);
      } catch (error) {
        firstReads.forget(events);
        throw error;
      } finally {
        pending -= events.length;
      }
    },
    pending: () => pending,
    reading: () => reading,
    refused: () => refused,
    redelivered: () => redeliveries.total(),
    stop() {
      redeliveries.stop();
      stopped = true;
    },
  };
  return ingress;
}

/** A message, and the form of it that each of its conversations receives. */
function admittedOf({ prepared: { message, events } }: Taken): Admitted[] {
  if (message === null) return [];
  const received = events.flatMap(({ event }) =>
    event.type === "message.received" ? event.message : [],
  );
  return [{ message, received }];
}

/** Whether conversations decide it in this call. */
const isUndecided = ({ prepared, copyOf }: Taken): boolean =>
  copyOf === null && prepared.ended === null && prepared.message !== null;

/** The outcomes with the decisions of the conversations, of which the waiter has those that decide. */
async function decided(
  outcomes: readonly IngestOutcome[],
  taken: readonly Taken[],
  waiter: DecisionWaiter,
): Promise<readonly IngestOutcome[]> {
  const receivers = outcomes.flatMap((outcome, index) =>
    isUndecided(taken[index] as Taken) ? outcome.receivers : [],
  );
  receivers.forEach(({ verdict }, place) => {
    if (verdict !== null) waiter.skip(place);
  });
  const decisions = await waiter.decisions;
  let place = 0;
  return outcomes.map((outcome, index) => {
    if (!isUndecided(taken[index] as Taken)) return outcome;
    const { id, receivers: heard } = outcome;
    return {
      id,
      receivers: heard.map(({ key, verdict }) => {
        const decision = decisions[place] ?? null;
        place += 1;
        return { key, verdict: verdict ?? decision };
      }),
    };
  });
}
