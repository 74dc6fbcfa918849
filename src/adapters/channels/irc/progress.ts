/**
 * Where an account is
 * ===================
 * IRC numbers nothing. The cursor says until when the account has listened, so that the time in which
 * it did not is known, the same for each room that it was kept out of, and under which nick each
 * person was last heard who wrote directly: an answer that waits for a restart still finds them.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { type Millis, momentMax } from "../../../domain/message.ts";
import type { Log } from "../../../domain/ports/index.ts";
import type { IrcChats } from "./chats.ts";
import type { IrcAccountConfig } from "./config.ts";

const name = z.string().min(1).max(limits.idUnitsMax);
const moment = z.number().int().min(0).max(momentMax);
const progressSchema = z.object({
  heard: moment,
  nicks: z.array(z.tuple([name, name])).max(limits.ircNicksMax),
  unheard: z
    .array(z.tuple([name, moment]))
    .max(limits.ircRoomsMax)
    .default([]),
});

/** Of the configured bot: who it is for others hangs on its machine's address where it has no account. */
export const cursorName = ({ login, nick, host }: IrcAccountConfig): string =>
  `${login?.account ?? nick}@${host}`.toLowerCase();

export function cursorOf(heard: Millis, { nicks, unheard }: IrcChats): string {
  // The newest come first.
  return JSON.stringify({ heard, nicks: [...nicks.entries()], unheard: [...unheard] });
}

/** Until when the account has listened; null: never. `chats` gets the nicks. */
export function readCursor(stored: string | null, chats: IrcChats, log: Log): Millis | null {
  if (stored === null) return null;
  try {
    const { heard, nicks, unheard } = progressSchema.parse(JSON.parse(stored));
    for (const [id, nick] of nicks.reverse()) chats.nicks.set(id, nick);
    for (const [room, since] of unheard)
      if (!chats.unheard.has(room)) chats.unheard.set(room, since);
    return heard;
  } catch {
    // Only another program, or a newer earshot, has written this.
    log("error", "irc.cursor-unreadable", { units: stored.length });
    return null;
  }
}
