// A Telegram bot of grammY with earshot in it. The lines of earshot are marked.
import { fileURLToPath } from "node:url";
import { createEarshot } from "earshot"; // earshot
import { createBridge } from "earshot/grammy"; // earshot
import { Bot } from "grammy";

/** Starts both. `options` are those of `createEarshot`, and `client` those of grammY. */
export async function start({ token, client, ...options }) {
  const bot = new Bot(token, { client });
  bot.command("dice", (context) => context.reply("You rolled a four."));

  // Behind the bot's own handlers: earshot hears what they leave.
  const bridge = createBridge(bot); // earshot
  bot.use(bridge); // earshot

  const config = fileURLToPath(new URL("earshot.json5", import.meta.url));
  const earshot = await createEarshot({ config, channels: [bridge.channel], ...options }); // earshot
  await bot.init();
  const running = bot.start({
    // Reactions come only where they are asked for.
    allowed_updates: [
      ...["message", "edited_message", "channel_post", "edited_channel_post"],
      ...["message_reaction", "callback_query"],
    ],
  });
  return {
    page: earshot.page,
    async stop() {
      await bot.stop();
      await running;
      await earshot.stop(); // earshot
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { page, stop } = await start({ token: process.env.BOT_TOKEN });
  console.log(`What it decides, and why: ${page}`);
  process.once("SIGINT", stop);
}
