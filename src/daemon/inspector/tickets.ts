/**
 * A browser's WebSocket, and the receiver of @statelyai/inspect, cannot send headers, and a token does
 * not belong in an address, which ends up in logs. A client with the token gets a ticket instead:
 * valid for one socket, for a minute, for one purpose, and only while that token is current.
 */
import { randomBytes } from "node:crypto";
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock } from "../../domain/ports/index.ts";
import type { TokenReader } from "../state/token.ts";

/** What a reader wants to inspect. */
export interface InspectRequest {
  /** Session key; null: all conversations that are live. */
  readonly key: string | null;
  /** Include the texts of people and agents. */
  readonly words: boolean;
}

/** A request to inspect, and the token that allows it. */
export interface AllowedRequest extends InspectRequest {
  readonly token: string;
}

export interface Tickets {
  /** A ticket for one socket. Rejects when there is no valid token. */
  create(wish: InspectRequest): Promise<string>;
  /** What the ticket allows; null: used, expired or unknown. */
  redeem(ticket: string): AllowedRequest | null;
}

export function createTickets(clock: Clock, readToken: TokenReader): Tickets {
  const open = new Map<string, AllowedRequest & { readonly until: Millis }>();
  return {
    async create({ key, words }) {
      const token = await readToken();
      const ticket = randomBytes(24).toString("base64url");
      const until = clock.monotonic() + limits.inspectTicketMs;
      open.set(ticket, { key, words, token, until });
      const [oldest] = open.keys();
      if (open.size > limits.inspectTicketsMax && oldest !== undefined) open.delete(oldest);
      return ticket;
    },
    redeem(ticket) {
      const found = open.get(ticket);
      open.delete(ticket);
      return found === undefined || clock.monotonic() >= found.until ? null : found;
    },
  };
}
