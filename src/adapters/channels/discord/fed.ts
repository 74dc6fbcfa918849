/**
 * An account that a bot's client feeds
 * ====================================
 * Another client has the connection, and hands on what comes. Who the bot is stands in READY, the first of a
 * session, so nothing is asked for before it. A new session of that client is for earshot one that was lost:
 * what was said in between is fetched.
 */
import type { REST } from "discord.js";
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelAccount, ChannelContext } from "../../../domain/ports/index.ts";
import { callsOf } from "./channel.ts";
import { type DiscordChats, nameOf } from "./chats.ts";
import { createDiscordClient } from "./client.ts";
import type { DiscordAccountConfig } from "./config.ts";
import { readAs } from "./events.ts";
import { sendThrough } from "./given-rest.ts";
import { Hearing, waitingMax } from "./hearing.ts";
import { type Dispatch, readySchema } from "./wire.ts";

/** What a started account hears of the client. */
export interface Ears {
  /** Rejects with the disposition `retry` while too much waits. */
  take(dispatch: Dispatch): Promise<void>;
  /** The client has no connection for now. */
  away(why: string): void;
  /** The account cannot go on. */
  fail(error: EarshotError): void;
}

export interface FedBy {
  readonly rest: REST;
  /** Outlives the account: the client learns names once, when it connects. */
  readonly chats: DiscordChats;
  /** Called once the account has started, with a signal for its end. */
  onStart(ears: Ears, signal: AbortSignal): void;
}

export function openFedDiscord(
  context: ChannelContext<DiscordAccountConfig>,
  { rest, chats, onStart }: FedBy,
): ChannelAccount {
  const client = createDiscordClient(context.config, sendThrough(rest));
  return {
    async start(signal) {
      const running = new AbortController();
      const stop = () => running.abort();
      signal.addEventListener("abort", stop, { once: true });
      const ended = new Promise<void>((resolve, reject) => {
        running.signal.addEventListener("abort", () => {
          if (signal.aborted) resolve();
          else reject(running.signal.reason);
        });
      });
      if (signal.aborted) stop();
      const fail = (error: EarshotError) => running.abort(error);
      const hearing = new Hearing({ client, context, chats, signal, onFailed: fail });
      onStart(
        {
          take: (dispatch) => take(hearing, context, dispatch),
          away: (why) => context.reportState(hearing.isNew ? "connecting" : "resuming", why),
          fail,
        },
        running.signal,
      );
      try {
        await ended;
      } finally {
        signal.removeEventListener("abort", stop);
        await hearing.end();
      }
    },
    ...callsOf(client, context, chats),
  };
}

async function take(
  hearing: Hearing,
  context: ChannelContext<DiscordAccountConfig>,
  dispatch: Dispatch,
): Promise<void> {
  if (hearing.waiting >= waitingMax)
    throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot hear more: too much waits already");
  if (!hearing.hasEntered) {
    const ready = dispatch.t === "READY" ? readAs(readySchema, dispatch, context) : null;
    if (ready === null) return;
    const { id, username } = ready.user;
    // The menu is the bot's, so the application need not be known.
    await hearing.enter({ id, username, name: nameOf(ready.user) }, "");
  }
  hearing.take(dispatch);
}
