/**
 * Where an account is
 * ===================
 * The session and the sequence number that the gateway is asked to go on from, and what is needed if
 * it has forgotten them: the newest message, the servers whose messages have not been fetched since,
 * and the direct chats, which Discord does not list to bots. It is stored with each message, so it
 * advances only behind what is durable.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { momentMax } from "../../../domain/message.ts";
import type { Log } from "../../../domain/ports/index.ts";

const snowflake = z.string().regex(/^\d{1,20}$/);
const moment = z.number().int().min(0).max(momentMax);

const behindSchema = z.object({
  /** Everything up to this message is here. */
  since: snowflake,
  from: moment,
  /** Null: the direct chats. */
  guilds: z.array(snowflake.nullable()).max(10_000),
});
const progressSchema = z.object({
  session: z
    .object({
      id: z.string().min(1).max(256),
      url: z.url({ protocol: /^wss?$/ }).max(2_048),
      seq: z.number().int().min(0),
    })
    .nullable(),
  /** When the gateway was last heard. */
  heard: moment,
  /** The newest message. */
  since: snowflake,
  behind: behindSchema.nullable(),
  directs: z.array(snowflake).max(limits.discordDirectsMax),
});
export type Progress = z.infer<typeof progressSchema>;

export const cursorOf = (progress: Progress): string => JSON.stringify(progress);

/** Null: the account has never been live. */
export function readCursor(stored: string | null, log: Log): Progress | null {
  if (stored === null) return null;
  try {
    return progressSchema.parse(JSON.parse(stored));
  } catch {
    // Only another program, or a newer earshot, has written this.
    log("error", "discord.cursor-unreadable", { units: stored.length });
    return null;
  }
}

/** The progress, its newest message not older than this one. */
export const atMessage = (progress: Progress, id: string): Progress =>
  BigInt(id) > BigInt(progress.since) ? { ...progress, since: id } : progress;

/** The progress with a direct chat in first place. */
export function withDirect(progress: Progress, chat: string): Progress {
  if (progress.directs[0] === chat) return progress;
  const others = progress.directs.filter((one) => one !== chat);
  return { ...progress, directs: [chat, ...others].slice(0, limits.discordDirectsMax) };
}
