/**
 * After a lost session
 * ====================
 * Which servers, and whether the direct chats, are still behind: their messages are fetched before
 * anything newer of theirs is handled. That is stored, so it goes on after a restart. What cannot be had is
 * reported once, with its span.
 */
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import { channelsBehind, messagesSince } from "./backfill.ts";
import { type EventsOptions, messageEvents } from "./events.ts";
import type { Progress } from "./progress.ts";
import type { WireGuild } from "./wire.ts";

/** In place of a server: the direct chats. */
export const directs = null;

export class Recovery {
  readonly #options: EventsOptions;
  readonly #push: (events: readonly ChannelEvent[]) => void;

  constructor(options: EventsOptions, push: (events: readonly ChannelEvent[]) => void) {
    this.#options = options;
    this.#push = push;
  }

  /** A new session has begun, and everything is behind. */
  begin(progress: Progress, guilds: readonly string[], now: number): Progress {
    const { since, heard, behind } = progress;
    const { context } = this.#options;
    context.log("warn", "discord.session-lost", { awayMs: now - heard });
    context.reportGap({ from: heard, to: now, rooms: [], lost: "edits" });
    const from = behind?.from ?? heard;
    return {
      ...progress,
      behind: { since: behind?.since ?? since, from, guilds: [directs, ...guilds] },
    };
  }

  async ofDirects(progress: Progress): Promise<void> {
    if (progress.behind?.guilds.includes(directs) !== true) return;
    // The newest come first.
    await this.#fetch([...progress.directs].reverse(), undefined, progress);
  }

  async ofGuild(guild: WireGuild, progress: Progress): Promise<void> {
    const { behind } = progress;
    if (behind?.guilds.includes(guild.id) !== true) return;
    const channels = channelsBehind([...guild.channels, ...guild.threads], behind.since);
    const ids = channels.map(({ id }) => id);
    await this.#fetch(ids, guild.id, progress);
  }

  async #fetch(
    channels: readonly string[],
    guildId: string | undefined,
    { behind }: Progress,
  ): Promise<void> {
    if (behind === null) return;
    const { context, client, receiver, signal } = this.#options;
    const found: ChannelEvent[] = [];
    const rooms: string[] = [];
    for (const channel of channels) {
      const { messages, isCut } = await messagesSince(client, channel, behind.since, signal);
      if (isCut && guildId !== undefined) rooms.push(channel);
      for (const message of messages) {
        if (message.author.id === receiver.chats.self.id) continue;
        const placed = guildId === undefined ? message : { ...message, guild_id: guildId };
        found.push(...(await messageEvents(placed, this.#options)));
      }
    }
    if (rooms.length > 0)
      context.reportGap({ from: behind.from, to: context.clock.now(), rooms, lost: "messages" });
    this.#push(found);
  }
}

/** This server, or the direct chats, are not behind any more. */
export function caughtUp(progress: Progress, guild: string | null): Progress {
  if (progress.behind === null) return progress;
  const guilds = progress.behind.guilds.filter((one) => one !== guild);
  return { ...progress, behind: guilds.length === 0 ? null : { ...progress.behind, guilds } };
}
