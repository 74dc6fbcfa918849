/**
 * Names of people, rooms and messages
 * ===================================
 * Signal names a person by an account id (ACI, a UUID) and perhaps a phone number, a group by 32 bytes
 * in base64, and a message by its author and the time in ms at which it was sent (signal-cli(1), options
 * --quote-timestamp and --quote-author). The account itself goes by the name that the config gives it.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis, Route } from "../../../domain/message.ts";
import { aciPattern, numberPattern } from "./config.ts";

export interface Address {
  readonly number?: string | null | undefined;
  readonly uuid?: string | null | undefined;
}

/** The account's own names; its ACI is learned from what it hears. */
export class SignalSelf {
  readonly id: string;
  #uuid: string | null = null;

  constructor(account: string) {
    this.id = account;
  }

  is({ number, uuid }: Address): boolean {
    return [number, uuid].includes(this.id) || (this.#uuid !== null && uuid === this.#uuid);
  }

  /** Remembers the ACI where a number and an ACI come together. */
  learn({ number, uuid }: Address): void {
    if (number === this.id && uuid) this.#uuid = uuid;
  }
}

/** The id of a person; null: the sender is hidden. */
export function personId(address: Address, self: SignalSelf): string | null {
  self.learn(address);
  if (self.is(address)) return self.id;
  return address.uuid || address.number || null;
}

export const messageId = (author: string, sentAt: Millis): string => `${author}:${sentAt}`;

/** Author and time of a message; null: the id is none of Signal's. */
export function readMessageId(id: string): { author: string; sentAt: Millis } | null {
  const found = /^(.+):(\d{1,16})$/.exec(id);
  const [, author = "", sentAt = ""] = found ?? [];
  if (!aciPattern.test(author) && !numberPattern.test(author)) return null;
  return { author, sentAt: Number(sentAt) };
}

/** @throws EarshotError EAR_CHANNEL_REJECTED for what is no message of Signal */
export function messageIn(id: string): { author: string; sentAt: Millis } {
  const found = readMessageId(id);
  if (found !== null) return found;
  throw new EarshotError(
    "EAR_CHANNEL_REJECTED",
    "Cannot refer to a message: its id is none of Signal's",
  );
}

/** The parameters that name a room. */
export const targetOf = ({ chat }: Route): Readonly<Record<string, unknown>> =>
  chat.kind === "direct" ? { recipient: [chat.id] } : { groupId: chat.id };
