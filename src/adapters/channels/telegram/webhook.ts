/**
 * Telegram, posting to us
 * =======================
 * The account's hook instead of the poll loop. Telegram sends a secret of ours with every update,
 * in a header, so who posts is known before the body is read; without one an account of this kind
 * does not exist. An update is answered 200 only when it is durable, and Telegram repeats what was
 * not: the message's own id tells repeats apart. What can never be read is logged and answered 200,
 * or it would come for a day.
 *
 * Telegram is told where to post at every start, and asked now and then whether it still knows:
 * any other program with the token may have told it something else.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext, ChannelHook } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { hookJson } from "../../http/hook-body.ts";
import { sameSecret } from "../../http/signature.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccountConfig, TelegramWebhookConfig } from "./config.ts";
import { pause, readUpdate, whoAmI } from "./gateway.ts";
import { offerCommands } from "./menu.ts";
import type { TelegramSelf } from "./normalise.ts";

type Context = ChannelContext<TelegramAccountConfig>;

export interface TelegramWebhook {
  readonly hook: ChannelHook;
  /** As `ChannelAccount.start`. */
  start(signal: AbortSignal): Promise<void>;
}

const callMsMax = 10_000;
const lookEveryMs = 300_000;
const secretHeader = "x-telegram-bot-api-secret-token";

export function createTelegramWebhook(
  client: TelegramClient,
  context: Context,
  webhook: TelegramWebhookConfig,
): TelegramWebhook {
  let self: TelegramSelf | null = null;
  return {
    hook: {
      inspectHeaders({ headers }) {
        const told = headers[secretHeader];
        if (told === undefined) return { kind: "refused", why: "the secret token is missing" };
        return sameSecret(told, webhook.secret)
          ? { kind: "proven" }
          : { kind: "refused", why: "the secret token is another" };
      },
      verify: () => ({ kind: "verified", replayId: null }),
      async receive(body) {
        if (self === null)
          throw new EarshotError(
            "EAR_CHANNEL_UNAVAILABLE",
            "Cannot take updates as Telegram has not said yet who the bot is: send them again",
          );
        await take(body, self, context);
        return {};
      },
    },
    async start(signal) {
      let failures = 0;
      let told = false;
      while (!signal.aborted) {
        try {
          self ??= await whoAmI(client, signal);
          if (!told) await tellWhere(client, context, webhook, signal);
          else await look(client, context, webhook, signal);
          if (!told || failures > 0) context.reportState("live");
          if (!told) void offerCommands(client, context, signal);
          told = true;
          failures = 0;
          await pauseFor(context.clock, lookEveryMs, signal);
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

async function take(body: Uint8Array, self: TelegramSelf, context: Context): Promise<void> {
  const event = readUpdate(hookJson(body), self, context);
  if (event === null) return;
  try {
    await context.deliver([event]);
  } catch (error) {
    if (error instanceof EarshotError && error.disposition === "retry") throw error;
    const code = error instanceof EarshotError ? error.code : "unknown";
    context.log("error", "telegram.event-refused", { error: code });
  }
}

async function tellWhere(
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
      allowed_updates: config.allowedUpdates as never,
      drop_pending_updates: false,
    },
    { kind: "connect", signal, msMax: callMsMax },
  );
}

/** Puts right what somebody else changed, and passes on what Telegram complains of. */
async function look(
  client: TelegramClient,
  context: Context,
  webhook: TelegramWebhookConfig,
  signal: AbortSignal,
): Promise<void> {
  const options = { kind: "connect", signal, msMax: callMsMax } as const;
  const info = await client.call("getWebhookInfo", undefined, options);
  if (info.url !== webhook.url) {
    context.log("warn", "telegram.webhook-moved", { why: "another program has set or removed it" });
    await tellWhere(client, context, webhook, signal);
  }
  const failedAgoMs = context.clock.now() - (info.last_error_date ?? 0) * 1_000;
  if (failedAgoMs < lookEveryMs)
    context.log("warn", "telegram.webhook-failing", {
      told: String(info.last_error_message ?? "").slice(0, 200),
      waiting: info.pending_update_count,
    });
}
