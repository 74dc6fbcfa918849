/**
 * Telegram's menu of commands
 * ===========================
 * What a person is offered after typing `/`. Telegram keeps it for the bot, so it is asked for first
 * and set only where it differs. A menu that cannot be set is told in the log and harms nothing.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccountConfig } from "./config.ts";

const menuMsMax = 10_000;

/** Offers the context's commands, if there are any. Never rejects. */
export async function offerCommands(
  client: TelegramClient,
  { commands = [], log }: ChannelContext<TelegramAccountConfig>,
  signal: AbortSignal,
): Promise<void> {
  if (commands.length === 0) return;
  const options = { kind: "ask", signal, msMax: menuMsMax } as const;
  const wanted = commands.map(({ name, description }) => ({ command: name, description }));
  try {
    const now = await client.call("getMyCommands", {}, options);
    const same = (one: (typeof wanted)[number], index: number) =>
      now[index]?.command === one.command && now[index]?.description === one.description;
    if (now.length === wanted.length && wanted.every(same)) return;
    await client.call("setMyCommands", { commands: wanted }, options);
    log("info", "telegram.menu", { commands: wanted.length });
  } catch (error) {
    if (signal.aborted) return;
    log("warn", "telegram.menu-failed", {
      error: error instanceof EarshotError ? error.code : "unknown",
    });
  }
}
