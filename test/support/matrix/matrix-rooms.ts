/**
 * Rooms of a Matrix homeserver
 * ============================
 * Written from https://spec.matrix.org/v1.15/client-server-api/: events and state, membership,
 * redactions (room version 11), relations, and what a sync says of a span of the stream
 * (sections "Syncing", "Room events", "Redactions", "Room upgrades").
 */
import type {
  IInvitedRoom,
  IJoinedRoom,
  IRoomEvent,
  IStateEvent,
  IStrippedState,
} from "matrix-js-sdk";

export type Content = Record<string, unknown>;
export type StoredEvent = (IRoomEvent | IStateEvent) & { readonly room: string };

type NewEvent = Pick<IRoomEvent, "type" | "sender" | "content" | "unsigned"> & {
  readonly room: string;
  readonly state_key?: string;
};

interface Stored {
  /** Its place in the stream. */
  readonly at: number;
  readonly event: StoredEvent;
  /** The login and transaction that sent it. */
  readonly by: { readonly token: string; readonly transaction: string } | null;
}

export class MatrixRooms {
  readonly server: string;
  readonly #stored: Stored[] = [];
  readonly #names = new Map<string, string>();
  readonly #onEvent: () => void;
  #count = 0;

  constructor(server: string, onEvent: () => void) {
    this.server = server;
    this.#onEvent = onEvent;
  }

  /** The newest place in the stream. */
  get now(): number {
    return this.#stored.length;
  }

  person(name: string, displayName = name): string {
    const id = `@${name}:${this.server}`;
    this.#names.set(id, displayName);
    return id;
  }

  displayName(user: string): string | undefined {
    return this.#names.get(user);
  }

  /** A room with these people in it, made by the first. */
  room(name: string | null, people: readonly string[], create: Content = {}): string {
    this.#count += 1;
    const id = `!room${this.#count}:${this.server}`;
    const [creator = ""] = people;
    this.state(id, creator, "m.room.create", "", { room_version: "11", ...create });
    for (const person of people) this.enter(id, person);
    if (name !== null) this.state(id, creator, "m.room.name", "", { name });
    return id;
  }

  enter(room: string, person: string): void {
    this.member(room, person, person, { membership: "join" });
  }

  invite(room: string, by: string, person: string, isDirect = false): void {
    const direct = isDirect ? { is_direct: true } : {};
    this.member(room, by, person, { membership: "invite", ...direct });
  }

  member(room: string, by: string, person: string, content: Content): void {
    const displayname = this.#names.get(person) ?? null;
    this.state(room, by, "m.room.member", person, { displayname, ...content });
  }

  membership(room: string, person: string): string {
    return String(this.stateOf(room, "m.room.member", person)?.content.membership ?? "leave");
  }

  members(room: string): string[] {
    return this.currentState(room, this.now)
      .filter(({ type, content }) => type === "m.room.member" && content.membership === "join")
      .map(({ state_key }) => state_key);
  }

  state(room: string, sender: string, type: string, key: string, content: Content): string {
    const before = this.stateOf(room, type, key);
    const unsigned = before === undefined ? {} : { prev_content: before.content };
    return this.#add({ room, sender, type, content, state_key: key, unsigned }, null);
  }

  /** Sends an event; the same transaction of a login is the same event. */
  send(
    room: string,
    sender: string,
    type: string,
    content: Content,
    by: Stored["by"] = null,
  ): string {
    return this.#add({ room, sender, type, content }, by);
  }

  /** Takes back an event: nothing of its content is left. */
  redact(room: string, sender: string, redacts: string, by: Stored["by"] = null): string {
    const at = this.#stored.findIndex(({ event }) => event.event_id === redacts);
    const stored = this.#stored[at];
    if (stored !== undefined)
      this.#stored[at] = { ...stored, event: { ...stored.event, content: {} } };
    return this.#add({ room, sender, type: "m.room.redaction", content: { redacts } }, by);
  }

  event(room: string, id: string): StoredEvent | undefined {
    return this.#stored.find(({ event }) => event.room === room && event.event_id === id)?.event;
  }

  /** All events of a room, or of all of them, oldest first. */
  events(room?: string): readonly StoredEvent[] {
    const all = this.#stored.map(({ event }) => event);
    return room === undefined ? all : all.filter((event) => event.room === room);
  }

  stateOf(room: string, type: string, key: string): IStateEvent | undefined {
    return this.currentState(room, this.now).find(
      (event) => event.type === type && event.state_key === key,
    );
  }

  /** The state of a room at a place in the stream. */
  currentState(room: string, at: number): IStateEvent[] {
    const found = new Map<string, IStateEvent>();
    for (const { event } of this.#stored.slice(0, at))
      if (event.room === room && "state_key" in event)
        found.set(`${event.type}\n${event.state_key}`, event);
    return [...found.values()];
  }

  /** A page of a room's events, newest first: from behind one place down to another. */
  back(room: string, from: number, to: number, limit: number, types: readonly string[]) {
    const found = this.#stored
      .filter(({ at, event }) => event.room === room && at <= from && at > to)
      .filter(({ event }) => types.includes(event.type))
      .reverse();
    const chunk = found.slice(0, limit);
    const isMore = found.length > limit;
    const end = isMore ? Number(found[limit]?.at) : null;
    return { chunk: chunk.map(({ event }) => this.#shown(event, null)), end };
  }

  /** What a sync of `user` says about a joined room; null: nothing is new. */
  joined(
    room: string,
    { since, isFull, limit, token }: SyncSpan,
    types: { readonly timeline: readonly string[]; readonly state: readonly string[] },
  ): IJoinedRoom | null {
    const fresh = this.#stored.filter(
      ({ at, event }) => event.room === room && at > since && types.timeline.includes(event.type),
    );
    if (fresh.length === 0 && !isFull) return null;
    const shown = fresh.slice(-limit);
    const limited = fresh.length > shown.length;
    const begin = shown[0] === undefined ? this.now : shown[0].at - 1;
    const known = new Set(
      (isFull ? [] : this.currentState(room, since)).map(({ event_id }) => event_id),
    );
    const state = this.currentState(room, begin).filter(
      ({ type, event_id }) => types.state.includes(type) && !known.has(event_id),
    );
    return {
      summary: {} as IJoinedRoom["summary"],
      state: { events: state },
      timeline: {
        events: shown.map(({ event, by }) => this.#shown(event, by?.token === token ? by : null)),
        limited,
        prev_batch: `s${begin}`,
      },
      ephemeral: { events: [] },
      account_data: { events: [] },
      unread_notifications: {},
    };
  }

  /** What a person who is invited may see. */
  invited(room: string, user: string): IInvitedRoom {
    const stripped = this.currentState(room, this.now)
      .filter(
        ({ type, state_key }) =>
          ["m.room.create", "m.room.name"].includes(type) ||
          (type === "m.room.member" && state_key === user),
      )
      .map(({ type, state_key, sender, content }): IStrippedState => {
        return { type, state_key, sender, content };
      });
    return { invite_state: { events: stripped } };
  }

  /** Rooms in which a person has this membership, and when that began. */
  roomsOf(user: string, membership: string): { readonly room: string; readonly at: number }[] {
    const last = new Map<string, { room: string; at: number; is: unknown }>();
    for (const { at, event } of this.#stored)
      if ("state_key" in event && event.type === "m.room.member" && event.state_key === user)
        last.set(event.room, { room: event.room, at, is: event.content.membership });
    return [...last.values()].filter(({ is }) => is === membership);
  }

  #shown({ room: _, ...event }: StoredEvent, by: Stored["by"]): IRoomEvent {
    if (by === null) return event;
    return { ...event, unsigned: { ...event.unsigned, transaction_id: by.transaction } };
  }

  #add(event: NewEvent, by: Stored["by"]): string {
    const at = this.#stored.length + 1;
    const event_id = `$event${at}:${this.server}`;
    const stored = { ...event, event_id, origin_server_ts: Date.now() } as StoredEvent;
    this.#stored.push({ at, event: stored, by });
    this.#onEvent();
    return event_id;
  }
}

export interface SyncSpan {
  readonly since: number;
  readonly isFull: boolean;
  readonly limit: number;
  /** The login that asks. */
  readonly token: string;
}
