/**
 * What was said while the account was away
 * ========================================
 * A gateway resumes a session for some minutes. After that the messages since the newest known one are
 * fetched by REST, channel by channel, from those whose newest message is later
 * (https://discord.com/developers/docs/resources/message#get-channel-messages). Discord has no way to ask for
 * edits, deletions and reactions. Where messages cannot be fetched, that is a gap.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { DiscordClient } from "./client.ts";
import { isRejected } from "./errors.ts";
import {
  messageSchema,
  momentOf,
  snowflakeAt,
  type WireChannel,
  type WireMessage,
} from "./wire.ts";

const pageMax = 100;
const askMsMax = 15_000;
/** Ids of different channels are not given in order; what comes twice is recognised. */
const slackMs = 5_000;

const pageSchema = z.array(z.unknown()).max(pageMax);

/** Messages after an id, oldest first. */
export interface Missed {
  readonly messages: readonly WireMessage[];
  /** Whether there is more that cannot be had. */
  readonly isCut: boolean;
}

/** Channels that somebody has written in after `since`. */
export const channelsBehind = (
  channels: readonly WireChannel[],
  since: string,
): readonly WireChannel[] => {
  const from = BigInt(earlierBy(since));
  return channels.filter(({ last_message_id: last }) => last != null && BigInt(last) > from);
};

/** @throws EarshotError only `retry` ones */
export async function messagesSince(
  client: DiscordClient,
  channel: string,
  since: string,
  signal: AbortSignal,
): Promise<Missed> {
  const found: WireMessage[] = [];
  let after = earlierBy(since);
  try {
    while (found.length < limits.discordMissedMax) {
      const page = await pageOf(client, channel, { after, limit: String(pageMax) }, signal);
      found.push(...page.messages);
      if (page.newest !== null) after = page.newest;
      if (page.count < pageMax || page.newest === null)
        return {
          messages: found,
          isCut: found.length === 0 && !(await canRead(client, channel, signal)),
        };
    }
    return { messages: found, isCut: true };
  } catch (error) {
    // The bot does not see this channel, so it has not missed anything there.
    if (isRejected(error)) return { messages: found, isCut: false };
    throw error;
  }
}

/** Without the permission Read Message History, Discord answers with an empty list. */
async function canRead(
  client: DiscordClient,
  channel: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await pageOf(client, channel, { limit: "1" }, signal)).count > 0;
}

/** One page, oldest first; messages of another form are left out. */
export async function pageOf(
  client: DiscordClient,
  channel: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ messages: WireMessage[]; count: number; newest: string | null }> {
  const options = { what: "fetch messages", query, signal, msMax: askMsMax };
  const page = await client.ask("GET", `/channels/${channel}/messages`, pageSchema, options);
  const messages = page
    .flatMap((raw) => {
      const read = messageSchema.safeParse(raw);
      return read.success ? [read.data] : [];
    })
    .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  return { messages, count: page.length, newest: messages.at(-1)?.id ?? null };
}

const earlierBy = (since: string): string => snowflakeAt(momentOf(since) - slackMs);
