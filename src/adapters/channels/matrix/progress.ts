/**
 * Where an account is: the token of the last sync that is durable, and when that was, which says since
 * when something is missing, should the homeserver no longer know the token; and the rooms that wait to
 * be entered, because a homeserver names an invitation once.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { type Millis, momentMax } from "../../../domain/message.ts";
import type { Log } from "../../../domain/ports/index.ts";

const id = z.string().min(1).max(limits.idUnitsMax);
const positionSchema = z.object({
  since: z.string().min(1),
  at: z.number().int().min(0).max(momentMax),
  entering: z.array(z.object({ room: id, direct: id.nullable(), via: id.nullable() })).default([]),
});

/** A room to enter. */
export interface Entering {
  readonly room: string;
  /** The other person of a direct chat; null: it is none. */
  readonly direct: string | null;
  /** A homeserver that knows the room. */
  readonly via: string | null;
}

export interface Position {
  readonly since: string;
  readonly at: Millis;
  readonly entering: readonly Entering[];
}

export const cursorOf = (position: Position): string => JSON.stringify(position);

/** Reads a stored cursor; null: there is none that can be used. */
export function readCursor(stored: string | null, log: Log): Position | null {
  if (stored === null) return null;
  try {
    return positionSchema.parse(JSON.parse(stored));
  } catch {
    // Only another program, or a newer earshot, has written this.
    log("error", "matrix.cursor-unreadable", { units: stored.length });
    return null;
  }
}
