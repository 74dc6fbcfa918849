/**
 * The account's hook instead of the poll loop. Telegram sends a secret header with every update, so
 * the sender is authenticated before the body is read; such an account requires a secret. An update
 * is answered 200 only when it is durable, and Telegram repeats the others; the message's id
 * identifies repeats. An unreadable update is logged and answered 200, otherwise it would be
 * repeated for a day.
 *
 * The webhook is registered at every start and checked periodically: another program with the token
 * may have changed it.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext, ChannelHook } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { hookJson } from "../../http/hook-body.ts";
import { sameSecret } from "../../http/signature.ts";
import { businessHint, requestedUpdates } from "./business.ts";
import type { TelegramChats } from "./chats.ts";
import { answerPresses } from "./choices.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccountConfig, TelegramWebhookConfig } from "./config.ts";
import { pause, readUpdate, whoAmI } from "./gateway.ts";
import { offerCommands } from "./menu.ts";
import type { TelegramSelf } from "./normalise.ts";
import { createUpdateIntake } from "./update-intake.ts";

type Context = ChannelContext<TelegramAccountConfig>;

export interface TelegramWebhook {
  readonly hook: ChannelHook;
  /** As `ChannelAccount.start`. */
  start(signal: AbortSignal): Promise<void>;
}

const callMsMax = 10_000;
const checkEveryMs = 300_000;
const secretHeader = "x-telegram-bot-api-secret-token";

export function createTelegramWebhook(
  client: TelegramClient,
  context: Context,
  webhook: TelegramWebhookConfig,
  chats: TelegramChats,
): TelegramWebhook {
  let self: TelegramSelf | null = null;
  const intake = createUpdateIntake(context, chats);
  return {
    hook: {
      inspectHeaders({ headers }) {
        const token = headers[secretHeader];
        if (token === undefined) return { kind: "refused", why: "the secret token is missing" };
        return sameSecret(token, webhook.secret)
          ? { kind: "proven" }
          : { kind: "refused", why: "the secret token is wrong" };
      },
      verify: () => ({ kind: "verified", replayId: null }),
      async receive(body) {
        if (self === null)
          throw new EarshotError(
            "EAR_CHANNEL_UNAVAILABLE",
            "Cannot accept updates: the bot's identity is not known yet. Send them again",
          );
        const receiver = { account: context.accountId, self, chats };
        await intake.take(readUpdate(hookJson(body), receiver, context));
        void answerPresses(client, context, [hookJson(body)], new AbortController().signal);
        return {};
      },
    },
    async start(signal) {
      let failures = 0;
      let registered = false;
      while (!signal.aborted) {
        try {
          if (self === null) {
            const known = await whoAmI(client, signal);
            intake.load(await context.loadCursor(known.id));
            self = known;
          }
          intake.releaseUntil(signal);
          if (!registered) await registerWebhook(client, context, webhook, signal);
          else await checkWebhook(client, context, webhook, signal);
          if (!registered || failures > 0)
            context.reportState("live", businessHint(context.config, self));
          if (!registered) void offerCommands(client, context, signal);
          registered = true;
          failures = 0;
          await pauseFor(context.clock, checkEveryMs, signal);
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof EarshotError) || error.disposition === "terminal") throw error;
          context.reportState("backing-off", error.message);
          await pause(context, error, failures, signal);
          failures += 1;
          context.reportState("resuming");
        }
      }
    },
  };
}

async function registerWebhook(
  client: TelegramClient,
  { config }: Context,
  { url, secret, connections }: TelegramWebhookConfig,
  signal: AbortSignal,
): Promise<void> {
  await client.call(
    "setWebhook",
    {
      url,
      secret_token: secret,
      max_connections: connections,
      allowed_updates: requestedUpdates(config) as never,
      drop_pending_updates: false,
    },
    { kind: "connect", signal, msMax: callMsMax },
  );
}

/** Restores a changed webhook and logs the errors that Telegram reports. */
async function checkWebhook(
  client: TelegramClient,
  context: Context,
  webhook: TelegramWebhookConfig,
  signal: AbortSignal,
): Promise<void> {
  const options = { kind: "connect", signal, msMax: callMsMax } as const;
  const info = await client.call("getWebhookInfo", undefined, options);
  if (info.url !== webhook.url) {
    context.log("warn", "telegram.webhook-moved", { why: "another program has set or removed it" });
    await registerWebhook(client, context, webhook, signal);
  }
  const failedAgoMs = context.clock.now() - (info.last_error_date ?? 0) * 1_000;
  if (failedAgoMs < checkEveryMs)
    context.log("warn", "telegram.webhook-failing", {
      told: String(info.last_error_message ?? "").slice(0, 200),
      waiting: info.pending_update_count,
    });
}
