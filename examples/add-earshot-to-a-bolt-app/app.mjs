// A Slack app of Bolt with earshot in it. The lines of earshot are marked.
import { fileURLToPath } from "node:url";
import { App } from "@slack/bolt";
import { createEarshot } from "earshot"; // earshot
import { createBridge } from "earshot/bolt"; // earshot

/** Starts both. `app` are options of Bolt, the others those of `createEarshot`. */
export async function start({ app: given, ...options }) {
  const app = new App({ socketMode: true, ...given });
  const bridge = createBridge(app); // earshot
  app.use(bridge.middleware); // earshot
  app.event("reaction_added", async ({ event, client }) => {
    if (event.reaction !== "game_die") return;
    await client.chat.postMessage({ channel: event.item.channel, text: "You rolled a four." });
  });

  const config = fileURLToPath(new URL("earshot.json5", import.meta.url));
  const earshot = await createEarshot({ config, channels: [bridge.channel], ...options }); // earshot
  await app.start();
  return {
    page: earshot.page,
    async stop() {
      await app.stop();
      await earshot.stop(); // earshot
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { SLACK_BOT_TOKEN: token, SLACK_APP_TOKEN: appToken } = process.env;
  const { page, stop } = await start({ app: { token, appToken } });
  console.log(`What it decides, and why: ${page}`);
  process.once("SIGINT", stop);
}
