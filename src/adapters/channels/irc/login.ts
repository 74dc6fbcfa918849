/**
 * What follows a welcome: the login at NickServ where the config says so, the mode that shows us as a
 * bot, and who we are for others, which also says how long a line may be.
 */
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import type { IrcConnection } from "./client.ts";
import type { IrcAccountConfig } from "./config.ts";

const loginMsMax = 5_000;

/** Introduces the bot; resolves to what its state should say about that, or null. */
export async function introduce(
  connection: IrcConnection,
  { config, clock, log }: Pick<ChannelContext<IrcAccountConfig>, "config" | "clock" | "log">,
  signal: AbortSignal,
): Promise<string | null> {
  let note: string | null = null;
  if (config.login?.by === "nickserv") {
    const { account, password } = config.login;
    await connection.ask([`PRIVMSG NickServ :IDENTIFY ${account} ${password}`], signal);
    const end = clock.monotonic() + loginMsMax;
    while (connection.self.account === null && clock.monotonic() < end && connection.isOpen)
      await pauseFor(clock, 100, signal);
    if (connection.self.account === null) {
      note = "NickServ has not confirmed the login";
      log("warn", "irc.login-unconfirmed", { account });
    }
  }
  const bot = connection.supports.get("BOT");
  const { nick } = connection.self;
  const mode = bot === undefined || bot === "" ? [] : [`MODE ${nick} +${bot}`];
  for (const { command, params } of await connection.ask([...mode, `WHOIS ${nick}`], signal)) {
    if (params[1] !== nick) continue;
    if (command === "311")
      connection.self = { ...connection.self, user: params[2] ?? null, host: params[3] ?? null };
    if (command === "330") connection.self = { ...connection.self, account: params[2] ?? null };
  }
  return note;
}
