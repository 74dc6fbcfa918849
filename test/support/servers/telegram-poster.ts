/**
 * Telegram's other way: updates posted to the bot's webhook, one after the other, with the secret
 * token in its header. What is not answered 2xx is posted again a little later.
 */
import type { TelegramWorld } from "./telegram-world.ts";

const againMs = 50;

/** Posts until it is stopped. */
export function startPoster(world: TelegramWorld): () => void {
  let stopped = false;
  let busy = false;
  const pump = async () => {
    if (busy) return;
    busy = true;
    while (!stopped && world.webhook !== null && world.queue.length > 0) {
      const [update] = world.queue;
      const { url, secret_token } = world.webhook;
      const status = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(secret_token === undefined
            ? {}
            : { "x-telegram-bot-api-secret-token": secret_token }),
        },
        body: JSON.stringify(update),
      }).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status >= 200 && status < 300) {
        world.queue = world.queue.filter((one) => one !== update);
        world.changed();
      } else {
        const message = `Wrong response from the webhook: ${status}`;
        world.webhookError = { at: Date.now(), message };
        await new Promise((go) => setTimeout(go, againMs));
      }
    }
    busy = false;
  };
  const unwatch = world.watch(() => void pump());
  return () => {
    stopped = true;
    unwatch();
  };
}
