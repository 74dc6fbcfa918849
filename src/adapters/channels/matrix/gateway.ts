/**
 * The life of a Matrix account
 * ============================
 * Asks for what is new (`/sync`), delivers it with the token behind it in one commit, and only then asks
 * for more, so that a crash repeats and loses nothing. The first sync of a run brings the state of all
 * rooms; without a stored token nothing of the past is delivered. Invitations are accepted, and a room
 * that was upgraded is followed.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent, ChannelIdentity } from "../../../domain/ports/index.ts";
import { backOff } from "../../../domain/ports/pause.ts";
import { deliverEach } from "../shared/deliver.ts";
import { type MatrixClient, pathOf } from "./client.ts";
import type { MatrixAccountConfig } from "./config.ts";
import { MatrixRefusedError } from "./errors.ts";
import { createLookup, eventsIn, eventTypes, readBack, sinceJoin } from "./history.ts";
import { Invites } from "./invites.ts";
import { eventOf, type Receiver } from "./normalise.ts";
import { cursorOf, type Position, readCursor } from "./progress.ts";
import type { MatrixRooms } from "./rooms.ts";
import {
  accountDataSchema,
  anySchema,
  profileSchema,
  syncSchema,
  type WireEvent,
  type WireJoined,
  type WireSync,
  whoamiSchema,
} from "./wire.ts";

type Context = ChannelContext<MatrixAccountConfig>;

/** Whether sends may begin: rooms are known after the first sync. */
export interface MatrixLink {
  isReady: boolean;
}

const pollMs = 30_000;
const pollGraceMs = 15_000;
/** For the state of all rooms. */
const firstMsMax = 120_000;
const backoff = { msMin: 500, msMax: 60_000 };
const batchMax = 64;
/** Events of each room that a sync has. */
const timelineMax = 50;

const filter = JSON.stringify({
  presence: { types: [] },
  account_data: { types: ["m.direct"] },
  room: {
    account_data: { types: [] },
    ephemeral: { types: [] },
    state: { types: eventTypes, lazy_load_members: true },
    timeline: { types: eventTypes, limit: timelineMax, lazy_load_members: true },
  },
});

/** Who the token belongs to. */
async function whoAmI(client: MatrixClient, signal: AbortSignal): Promise<string> {
  const options = { what: "log in", kind: "connect", signal } as const;
  return (await client.call("GET", "/account/whoami", options, whoamiSchema)).user_id;
}

/** The same with its name, for setting up. */
export async function identityOf(
  client: MatrixClient,
  signal: AbortSignal,
): Promise<ChannelIdentity> {
  const id = await whoAmI(client, signal);
  try {
    const asked = { what: "read the bot's name", signal };
    const path = pathOf("profile", id, "displayname");
    const { displayname } = await client.call("GET", path, asked, profileSchema);
    return { id, name: displayname || id };
  } catch (error) {
    if (error instanceof MatrixRefusedError) return { id, name: id };
    throw error;
  }
}

/** Receives until the signal aborts. Rejects only when the token is refused. */
export async function receive(
  client: MatrixClient,
  context: Context,
  rooms: MatrixRooms,
  link: MatrixLink,
  signal: AbortSignal,
): Promise<void> {
  const run = new Run(client, context, rooms, link, signal);
  let failures = 0;
  while (!signal.aborted) {
    try {
      await run.next();
      failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof EarshotError) || error.disposition === "terminal") throw error;
      run.isLive = false;
      context.reportState("backing-off", error.message);
      await backOff(context, backoff, failures, signal, error.retryAfterMs);
      failures += 1;
      if (!signal.aborted) context.reportState(link.isReady ? "resuming" : "connecting");
    }
  }
  await run.end();
}

class Run {
  isLive = false;
  readonly #client: MatrixClient;
  readonly #context: Context;
  readonly #rooms: MatrixRooms;
  readonly #link: MatrixLink;
  readonly #signal: AbortSignal;
  readonly #receiver: Receiver;
  readonly #invites: Invites;
  /** Encrypted rooms in which something was said that nobody here can read. */
  readonly #unreadable = new Set<string>();
  #position: Position | null = null;
  #isIdentified = false;

  constructor(
    client: MatrixClient,
    context: Context,
    rooms: MatrixRooms,
    link: MatrixLink,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.#context = context;
    this.#rooms = rooms;
    this.#link = link;
    this.#signal = signal;
    this.#invites = new Invites(client, context, rooms, signal, () => {
      if (this.isLive) this.#report();
    });
    this.#receiver = {
      account: context.accountId,
      rooms,
      fetch: createLookup(client, context.log, signal),
    };
  }

  /** One sync, delivered. */
  async next(): Promise<void> {
    if (!this.#isIdentified) await this.#identify();
    const synced = await this.#sync();
    if (synced === null) return;
    await this.#take(synced);
    this.#link.isReady = true;
    if (!this.isLive) this.#report();
    this.isLive = true;
    this.#invites.start();
  }

  /** Resolves when nothing goes on beside the syncs. */
  async end(): Promise<void> {
    await this.#invites.ended();
  }

  async #identify(): Promise<void> {
    const id = await whoAmI(this.#client, this.#signal);
    this.#rooms.self = id;
    this.#position = readCursor(await this.#context.loadCursor(id), this.#context.log);
    this.#invites.resume(this.#position?.entering ?? []);
    const path = pathOf("user", id, "account_data", "m.direct");
    const asked = { what: "read the list of direct chats", signal: this.#signal };
    try {
      this.#rooms.noteDirects(await this.#client.call("GET", path, asked, anySchema));
    } catch (error) {
      // A new account has no such list.
      if (!(error instanceof MatrixRefusedError)) throw error;
    }
    this.#isIdentified = true;
  }

  /** What is new; null: the homeserver does not know the token, so it begins again. */
  async #sync(): Promise<WireSync | null> {
    const isFirst = !this.#link.isReady;
    const since = this.#position?.since;
    // The first one after a break does not wait, so that recovery is reported immediately.
    const timeout = this.isLive ? pollMs : 0;
    try {
      return await this.#client.call(
        "GET",
        "/sync",
        {
          what: "ask for what is new",
          query: {
            filter,
            timeout,
            ...(since !== undefined && { since }),
            ...(isFirst && { full_state: true }),
          },
          signal: this.#signal,
          msMax: isFirst ? firstMsMax : timeout + pollGraceMs,
        },
        syncSchema,
      );
    } catch (error) {
      if (!(error instanceof MatrixRefusedError) || this.#position === null) throw asRetry(error);
      const { log } = this.#context;
      log("error", "matrix.position-refused", { why: error.message });
      this.#reportGap(this.#position.at, []);
      this.#position = null;
      return null;
    }
  }

  /** Delivers a sync with the token behind it. */
  async #take({ next_batch, account_data, rooms }: WireSync): Promise<void> {
    const before = this.#position;
    for (const one of account_data.events) {
      const read = accountDataSchema.safeParse(one);
      if (read.data?.type === "m.direct") this.#rooms.noteDirects(read.data.content);
    }
    this.#invites.note(rooms.invite);
    const joined = Object.entries(rooms.join);
    // Which room took the place of which must be known before anything of them is read.
    for (const [room, { state }] of joined)
      this.#note(room, eventsIn(state.events, this.#context.log));
    const events: ChannelEvent[] = [];
    const incomplete: string[] = [];
    for (const [room, one] of joined) {
      const { said, isWhole } = await this.#timeline(room, one, before);
      if (!isWhole) incomplete.push(this.#rooms.chatIdOf(room));
      if (before === null) continue;
      for (const event of said) {
        const converted = await this.#convert(event, room);
        if (converted !== null) events.push(converted);
      }
    }
    const at = this.#context.clock.now();
    const position = { since: next_batch, at, entering: this.#invites.waiting };
    await this.#deliver(events, cursorOf(position));
    this.#position = position;
    if (before !== null && incomplete.length > 0) this.#reportGap(before.at, incomplete);
  }

  /** Takes what events say about a room, and enters the room that took its place. */
  #note(room: string, events: readonly WireEvent[]): void {
    for (const event of events) {
      this.#rooms.note(room, event);
      const next = event.type === "m.room.tombstone" ? this.#rooms.replacementOf(room) : null;
      if (next !== null) this.#invites.follow(next, event.sender);
    }
  }

  /** What was said in a room since `before`, oldest first. */
  async #timeline(
    room: string,
    { timeline }: WireJoined,
    before: Position | null,
  ): Promise<{ readonly said: readonly WireEvent[]; readonly isWhole: boolean }> {
    const { log } = this.#context;
    const self = this.#rooms.self;
    let events: readonly WireEvent[] = eventsIn(timeline.events, log);
    let isWhole = true;
    const isCut = timeline.limited && before !== null && timeline.prev_batch !== undefined;
    if (isCut && sinceJoin(events, self) === events) {
      const span = { from: timeline.prev_batch as string, to: before.since };
      const earlier = await readBack(this.#client, room, span, self, log, this.#signal);
      events = [...earlier.events, ...events];
      isWhole = earlier.isWhole;
    }
    this.#note(room, events);
    return { said: sinceJoin(events, self), isWhole };
  }

  async #convert(event: WireEvent, room: string): Promise<ChannelEvent | null> {
    if (event.type === "m.room.encrypted") {
      this.#noteEncrypted(room);
      return null;
    }
    const converted = await eventOf(event, room, this.#receiver);
    // What this login sent comes back with the id that it was sent with.
    const isOurs =
      event.sender === this.#rooms.self && event.unsigned?.transaction_id !== undefined;
    return isOurs ? null : converted;
  }

  #noteEncrypted(room: string): void {
    if (this.#unreadable.has(room) || this.#unreadable.size >= 100) return;
    this.#unreadable.add(room);
    this.#context.log("warn", "matrix.encrypted", { room: this.#rooms.titleOf(room) ?? room });
    if (this.isLive) this.#report();
  }

  #report(): void {
    const names = [...this.#unreadable].map((room) => this.#rooms.titleOf(room) ?? room);
    const notes = [
      ...(names.length === 0
        ? []
        : [`these rooms are encrypted, so nothing in them can be read: ${names.join(", ")}`]),
      ...this.#invites.notes,
    ];
    this.#context.reportState("live", notes.length === 0 ? undefined : notes.join("; "));
  }

  #reportGap(from: Millis, rooms: readonly string[]): void {
    this.#context.reportGap({ from, to: this.#context.clock.now(), rooms, lost: "messages" });
  }

  /** In batches; the last one with the cursor. */
  async #deliver(events: readonly ChannelEvent[], cursor: string): Promise<void> {
    const channel = "matrix";
    let from = 0;
    for (; events.length - from > batchMax; from += batchMax)
      await deliverEach(this.#context, events.slice(from, from + batchMax), { channel });
    await deliverEach(this.#context, events.slice(from), { channel, cursor });
  }
}

/** A refusal of the whole account's question is not for good. */
function asRetry(error: unknown): unknown {
  return error instanceof MatrixRefusedError
    ? new EarshotError("EAR_CHANNEL_UNAVAILABLE", error.message)
    : error;
}
