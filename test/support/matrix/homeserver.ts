/**
 * A Matrix homeserver, on loopback
 * ================================
 * Written from https://spec.matrix.org/v1.15/client-server-api/ (client authentication, syncing, sending
 * and transaction identifiers, relations, typing, account data, profiles, content repository, standard
 * error responses, rate limiting), its answers typed by matrix-js-sdk.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { IInvitedRoom, IJoinedRoom, ISyncResponse } from "matrix-js-sdk";
import { lookUntilTrue } from "../../../src/testing/look-until.ts";
import { breakAnswer, createFaultScript, type Fault } from "../servers/faults.ts";
import { Loopback } from "../servers/loopback.ts";
import { type Content, MatrixRooms } from "./matrix-rooms.ts";

export class MatrixFailure extends Error {
  readonly status: number;
  readonly errcode: string;
  readonly extra: object;

  constructor(status: number, errcode: string, error: string, extra: object = {}) {
    super(error);
    this.status = status;
    this.errcode = errcode;
    this.extra = extra;
  }
}

interface Asked {
  readonly user: string;
  readonly token: string;
  readonly query: URLSearchParams;
  readonly body: Content;
  readonly bytes: Buffer;
  readonly type: string;
}

const notFound = () => new MatrixFailure(404, "M_NOT_FOUND", "Not found");

export class Homeserver {
  readonly rooms = new MatrixRooms("hs.test", () => this.#changed());
  /** By what is asked for: sync, send, messages, event, join, upload and so on. */
  readonly faults = createFaultScript();
  readonly typings: { readonly room: string; readonly typing: boolean }[] = [];
  readonly files = new Map<string, { readonly type: string; readonly bytes: Buffer }>();
  readonly requests: string[] = [];
  /** Who each access token belongs to. */
  readonly tokens = new Map<string, string>();
  /** Rooms that let nobody in. */
  readonly closed = new Set<string>();
  readonly #accountData = new Map<string, Content>();
  readonly #transactions = new Map<string, string>();
  readonly #watchers = new Set<() => void>();
  readonly #server = new Loopback((request, response) => this.#serve(request, response));
  /** What is not one of its events, for the next sync. */
  #garbage: unknown[] = [];
  /** Tokens of before are unknown. */
  forgetsBefore = 0;

  get url(): string {
    return this.#server.url;
  }

  up(): Promise<void> {
    return this.#server.up();
  }

  down(): Promise<void> {
    return this.#server.down();
  }

  /** What the next sync has in the timeline of a room besides events. */
  spoil(...garbage: readonly unknown[]): void {
    this.#garbage.push(...garbage);
  }

  accountData(user: string, type: string): Content | undefined {
    return this.#accountData.get(`${user} ${type}`);
  }

  setAccountData(user: string, type: string, content: Content): void {
    this.#accountData.set(`${user} ${type}`, content);
    this.#changed();
  }

  /** Resolves when something is so. */
  until(done: () => boolean, what: string): Promise<void> {
    return lookUntilTrue(
      done,
      () => what,
      (look) => {
        this.#watchers.add(look);
        return () => this.#watchers.delete(look);
      },
    );
  }

  #watch(done: () => boolean, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isDone: boolean) => {
        clearTimeout(limit);
        this.#watchers.delete(check);
        resolve(isDone);
      };
      const check = () => {
        if (done()) end(true);
      };
      const limit = setTimeout(() => end(false), ms);
      this.#watchers.add(check);
      check();
    });
  }

  #changed(): void {
    for (const look of [...this.#watchers]) look();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", this.url);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    const path = pathname.split("/").slice(1).map(decodeURIComponent);
    const name = nameOf(path);
    this.requests.push(name);
    this.#changed();
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      if (response.destroyed) return;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    };
    const fault = this.faults.next(name);
    const isUndone = fault !== null && !("done" in fault && fault.done === true);
    try {
      if (fault !== null && isUndone && breakAnswer(fault, request, response)) return;
      if (fault?.kind === "slow") await new Promise((go) => setTimeout(go, fault.ms));
      if (fault?.kind === "refuse") throw failureOf(fault);
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
      const user = this.tokens.get(token);
      if (token === "") throw new MatrixFailure(401, "M_MISSING_TOKEN", "Missing access token");
      if (user === undefined)
        throw new MatrixFailure(401, "M_UNKNOWN_TOKEN", "Invalid access token passed.");
      const type = request.headers["content-type"] ?? "";
      const isJson = bytes.length > 0 && type.startsWith("application/json");
      const body = isJson ? (JSON.parse(bytes.toString()) as Content) : {};
      const asked = { user, token, query, body, bytes, type };
      if (name === "download") {
        this.#download(path, response);
        return;
      }
      const isGone = () => response.destroyed;
      const result = await this.#perform(request.method ?? "GET", path, asked, fault, isGone);
      if (fault !== null && breakAnswer(fault, request, response)) return;
      answer(200, result);
    } catch (error) {
      if (!(error instanceof MatrixFailure)) throw error;
      const { status, errcode, message, extra } = error;
      answer(status, { errcode, error: message, ...extra });
    }
  }

  async #perform(
    method: string,
    path: readonly string[],
    asked: Asked,
    fault: Fault | null,
    isGone: () => boolean,
  ): Promise<unknown> {
    const { user, body } = asked;
    const [, area, version, ...rest] = path;
    const route = `${method} ${area}/${version}/${rest[0]}`;
    switch (route) {
      case "GET client/v3/account":
        return { user_id: user, device_id: "DEVICE" };
      case "GET client/v3/profile":
        return { displayname: this.rooms.displayName(String(rest[1])) };
      case "GET client/v3/sync":
        return this.#sync(asked, fault, isGone);
      case "GET client/v3/user": {
        const data = this.accountData(user, String(rest[3]));
        if (data === undefined) throw notFound();
        return data;
      }
      case "PUT client/v3/user":
        this.setAccountData(user, String(rest[3]), body);
        return {};
      case "POST client/v3/join":
        return this.#join(String(rest[1]), user);
      case "POST media/v3/upload":
        return this.#upload(asked);
      case "GET client/v1/rooms":
        return this.#relations(rest);
      default:
        if (rest[0] === "rooms") return this.#inRoom(method, rest, asked);
        throw new MatrixFailure(404, "M_UNRECOGNIZED", `Unrecognized request ${route}`);
    }
  }

  #inRoom(method: string, rest: readonly string[], asked: Asked): unknown {
    const { user, token, query, body } = asked;
    const [, room = "", what, ...more] = rest;
    if (this.rooms.membership(room, user) !== "join")
      throw new MatrixFailure(403, "M_FORBIDDEN", "User not in room");
    const once = (transaction: string, act: () => string) => {
      const key = [token, ...rest].join("\n");
      const known = this.#transactions.get(key) ?? act();
      this.#transactions.set(key, known);
      if (transaction === "") throw new MatrixFailure(400, "M_INVALID_PARAM", "No transaction");
      return { event_id: known };
    };
    switch (`${method} ${what}`) {
      case "PUT send": {
        const [type = "", transaction = ""] = more;
        return once(transaction, () => {
          this.#check(room, user, type, body);
          return this.rooms.send(room, user, type, body, { token, transaction });
        });
      }
      case "PUT redact": {
        const [id = "", transaction = ""] = more;
        if (this.rooms.event(room, id) === undefined) throw notFound();
        const by = { token, transaction };
        return once(transaction, () => this.rooms.redact(room, user, id, by));
      }
      case "PUT typing":
        this.typings.push({ room, typing: body.typing === true });
        this.#changed();
        return {};
      case "GET event": {
        const event = this.rooms.event(room, String(more[0]));
        if (event === undefined) throw notFound();
        return { ...event, room_id: room };
      }
      case "GET joined_members": {
        const all = this.rooms.members(room).map((member) => [member, {}]);
        return { joined: Object.fromEntries(all) };
      }
      case "GET messages": {
        const filter = JSON.parse(query.get("filter") ?? "{}") as { types?: string[] };
        const from = placeOf(query.get("from") ?? `s${this.rooms.now}`);
        const to = placeOf(query.get("to") ?? "s0");
        const limit = Number(query.get("limit") ?? 10);
        const { chunk, end } = this.rooms.back(room, from, to, limit, filter.types ?? []);
        return { chunk, start: `s${from}`, ...(end !== null && { end: `s${end}` }) };
      }
      default:
        throw new MatrixFailure(404, "M_UNRECOGNIZED", "Unrecognized request");
    }
  }

  /** What a homeserver refuses of an event. */
  #check(room: string, user: string, type: string, content: Content): void {
    if (Buffer.byteLength(JSON.stringify(content)) > 65_000)
      throw new MatrixFailure(413, "M_TOO_LARGE", "event too large");
    const relation = content["m.relates_to"] as Content | undefined;
    const isTwice =
      type === "m.reaction" &&
      this.rooms
        .events(room)
        .some(
          (event) =>
            event.type === "m.reaction" &&
            event.sender === user &&
            JSON.stringify(event.content["m.relates_to"]) === JSON.stringify(relation),
        );
    if (isTwice)
      throw new MatrixFailure(400, "M_DUPLICATE_ANNOTATION", "Can't send same reaction twice");
  }

  #relations([, room = "", , of = ""]: readonly string[]): unknown {
    const chunk = this.rooms
      .events(room)
      .filter(({ type, content }) => {
        const relation = content["m.relates_to"] as { event_id?: string } | undefined;
        return type === "m.reaction" && relation?.event_id === of;
      })
      .reverse();
    return { chunk };
  }

  #join(room: string, user: string): unknown {
    const isPublic = this.rooms.stateOf(room, "m.room.create", "")?.content.public === true;
    const isInvited = this.rooms.membership(room, user) === "invite";
    if (this.closed.has(room) || !(isPublic || isInvited))
      throw new MatrixFailure(403, "M_FORBIDDEN", "You are not invited to this room.");
    this.rooms.enter(room, user);
    return { room_id: room };
  }

  #upload({ bytes, type }: Asked): unknown {
    const id = `file${this.files.size + 1}`;
    this.files.set(id, { type, bytes });
    return { content_uri: `mxc://hs.test/${id}` };
  }

  /** GET /_matrix/client/v1/media/download/{server}/{id}. */
  #download(path: readonly string[], response: ServerResponse): void {
    const file = path.includes("v1") ? this.files.get(path.at(-1) ?? "") : undefined;
    if (file === undefined) throw notFound();
    response.writeHead(200, { "content-type": file.type }).end(file.bytes);
  }

  async #sync(
    { user, token, query }: Asked,
    fault: Fault | null,
    isGone: () => boolean,
  ): Promise<SyncAnswer> {
    const given = query.get("since");
    const since = given === null ? 0 : placeOf(given);
    if (given !== null && since < this.forgetsBefore)
      throw new MatrixFailure(400, "M_UNKNOWN_POS", "Unknown position");
    const isFull = given === null || query.get("full_state") === "true";
    const filter = JSON.parse(query.get("filter") ?? "{}") as SyncFilter;
    const isNew = () => isGone() || this.rooms.now > since || this.#garbage.length > 0;
    const timeout = Number(query.get("timeout") ?? 0);
    if (!isFull && timeout > 0) await this.#watch(isNew, timeout);
    const { limit = 10, types: timeline = [] } = filter.room?.timeline ?? {};
    const types = { timeline, state: filter.room?.state?.types ?? [] };
    const join: Record<string, IJoinedRoom> = {};
    for (const { room, at } of this.rooms.roomsOf(user, "join")) {
      const span = { since, isFull: isFull || at > since, limit, token };
      const joined = this.rooms.joined(room, span, types);
      if (joined === null) continue;
      const { events } = joined.timeline;
      if (fault?.kind === "duplicate") events.push(...events.slice());
      if (fault?.kind === "reorder") events.reverse();
      events.unshift(...(this.#garbage.splice(0) as typeof events));
      join[room] = joined;
    }
    const invited = this.rooms.roomsOf(user, "invite").filter(({ at }) => at > since);
    const invite = invited.map(({ room }) => [room, this.rooms.invited(room, user)] as const);
    const directs = this.accountData(user, "m.direct");
    const data = directs === undefined ? [] : [{ type: "m.direct", content: directs }];
    return {
      next_batch: `s${this.rooms.now}`,
      account_data: { events: isFull ? data : [] },
      rooms: { join, invite: Object.fromEntries(invite), leave: {} },
    };
  }
}

/** Rooms without anything may be left out. */
type SyncAnswer = Omit<ISyncResponse, "rooms"> & {
  readonly rooms: {
    readonly join: Readonly<Record<string, IJoinedRoom>>;
    readonly invite: Readonly<Record<string, IInvitedRoom>>;
    readonly leave: object;
  };
};

interface SyncFilter {
  readonly room?: {
    readonly timeline?: { readonly limit?: number; readonly types?: readonly string[] };
    readonly state?: { readonly types?: readonly string[] };
  };
}

const placeOf = (token: string): number => {
  const place = Number(/^s(\d+)$/.exec(token)?.[1] ?? Number.NaN);
  if (Number.isNaN(place)) throw new MatrixFailure(400, "M_INVALID_PARAM", "Unknown token");
  return place;
};

function failureOf({ status, retryAfter }: Extract<Fault, { kind: "refuse" }>): MatrixFailure {
  if (status === 429)
    return new MatrixFailure(429, "M_LIMIT_EXCEEDED", "Too Many Requests", {
      retry_after_ms: (retryAfter ?? 1) * 1_000,
    });
  if (status >= 500) return new MatrixFailure(status, "M_UNKNOWN", "Internal server error");
  return new MatrixFailure(status, "M_FORBIDDEN", "You don't have permission to post to the room");
}

/** What is asked for, as the fault script names it. */
function nameOf(path: readonly string[]): string {
  const [, , , ...rest] = path;
  if (path.includes("download")) return "download";
  return (rest[0] === "rooms" ? rest[2] : rest[0]) ?? "";
}

export async function startHomeserver(): Promise<Homeserver> {
  const server = new Homeserver();
  await server.up();
  return server;
}
