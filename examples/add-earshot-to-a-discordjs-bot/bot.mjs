// A Discord bot of discord.js with earshot in it. The lines of earshot are marked.
import { fileURLToPath } from "node:url";
import { Client, Events, GatewayIntentBits as Intents } from "discord.js";
import { createEarshot } from "earshot"; // earshot
import { createBridge } from "earshot/discordjs"; // earshot

const intents = [
  Intents.Guilds,
  Intents.GuildMessages,
  Intents.GuildMessageReactions, // earshot
  Intents.DirectMessages, // earshot
  Intents.DirectMessageReactions, // earshot
  Intents.MessageContent,
];

/** Starts both. `client` are options of discord.js, the others those of `createEarshot`. */
export async function start({ token, client: given, ...options }) {
  const client = new Client({ intents, ...given });
  const bridge = createBridge(client); // earshot
  client.on(Events.InteractionCreate, async (interaction) => {
    if (bridge.isOwn(interaction)) return; // earshot
    if (interaction.isButton() && interaction.customId === "dice")
      await interaction.reply("You rolled a four.");
  });

  const config = fileURLToPath(new URL("earshot.json5", import.meta.url));
  const earshot = await createEarshot({ config, channels: [bridge.channel], ...options }); // earshot
  await client.login(token);
  return {
    page: earshot.page,
    async stop() {
      await earshot.stop(); // earshot
      await client.destroy();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { page, stop } = await start({ token: process.env.DISCORD_TOKEN });
  console.log(`What it decides, and why: ${page}`);
  process.once("SIGINT", stop);
}
