/**
 * Telegram's command menu
 * =======================
 * The commands offered after typing `/`. Telegram stores the menu per bot, so it is read first and
 * set only where it differs. A failure is logged and has no other effect.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccountConfig } from "./config.ts";

const menuMsMax = 10_000;

/** Sets the menu to the context's commands, if any. Never rejects. */
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
    const same = (command: (typeof wanted)[number], index: number) =>
      now[index]?.command === command.command && now[index]?.description === command.description;
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
