/**
 * Webhook
 * =======
 * Plain HTTP in and out, for whatever has no channel of its own. Messages come in through the
 * daemon's API or, signed, through the account's hook; what the agent answers is kept in a bounded
 * list that the API serves, and, where the account has a `url`, posted there as JSON with a
 * signature over its time and its bytes (docs/channels/webhook.md).
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Millis, Route } from "../../../domain/message.ts";
import {
  type ChannelContext,
  type ChannelDefinition,
  type ChannelOutbound,
  defineChannel,
  type SendRequest,
} from "../../../domain/ports/index.ts";
import { createHttpClient, type HttpClient } from "../../http/http-client.ts";
import { signatureHeaders } from "../../http/signature.ts";
import { createWebhookHook, type WebhookHookConfig, webhookHookSchema } from "./hook.ts";

export interface WebhookConfig {
  /** Where answers are posted; absent: they are only kept. */
  readonly url?: string | undefined;
  /** Key of the signature; required with `url`. */
  readonly secret?: string | undefined;
  /** Takes messages by post; absent: only through the API. */
  readonly hook?: WebhookHookConfig | undefined;
}

/** One thing that was sent. */
export interface WebhookSent {
  readonly account: string;
  readonly at: Millis;
  /** `turnId:index`: the same for a repeated try. */
  readonly id: string;
  readonly route: Route;
  readonly replyTo: string | null;
  readonly text: string;
  /** Posted only: the id of what has this text now. */
  readonly edits?: string;
}

export interface Webhook {
  readonly definition: ChannelDefinition<WebhookConfig>;
  /** What was sent last, oldest first, at most 1,000 of all accounts together. */
  sent(account?: string): readonly WebhookSent[];
}

const answerBytesMax = 65_536;

const accountSchema = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({ description: "Where answers are posted as JSON." }),
    secret: z
      .string()
      .min(16)
      .max(1_024)
      .optional()
      .meta({ description: "Key of the HMAC-SHA256 signature on what is posted." }),
    hook: webhookHookSchema.optional(),
  })
  .refine(({ url, secret }) => url === undefined || secret !== undefined, {
    path: ["secret"],
    message: "a url needs a secret, so that the receiver can tell who posts",
  });

/** One webhook channel for one process. */
export function createWebhook(): Webhook {
  const kept: WebhookSent[] = [];
  const definition = defineChannel<WebhookConfig>({
    id: "webhook",
    meta: { name: "Webhook", description: "Plain HTTP in and out" },
    capabilities: {
      edits: true,
      deletes: true,
      reactions: false,
      typing: false,
      threads: true,
      membership: false,
      history: false,
      media: false,
      mentions: "structured",
      replyAuthor: true,
      botFlag: true,
    },
    textLimit: 40_000,
    typingIntervalMs: 6_000,
    accountSchema: accountSchema as z.ZodType<WebhookConfig>,
    local: true,
    open: (context) => ({
      async start(signal) {
        context.reportState("live");
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener("abort", () => resolve());
        });
      },
      outbound: outboundOf(context, kept),
      ...(context.config.hook === undefined
        ? {}
        : { hook: createWebhookHook(context, context.config.hook) }),
      identify: async () => ({ id: "webhook", name: context.config.url ?? "the API" }),
    }),
  });
  return {
    definition,
    sent: (account) => kept.filter((one) => account === undefined || one.account === account),
  };
}

function outboundOf(context: ChannelContext<WebhookConfig>, kept: WebhookSent[]): ChannelOutbound {
  const { accountId } = context;
  const { url } = context.config;
  const http = createHttpClient(url === undefined ? {} : { allowPrivate: [new URL(url).origin] });
  const newOf = ({ id, route, text }: SendRequest, replyTo: string | null): WebhookSent => ({
    account: accountId,
    at: context.clock.now(),
    id,
    route,
    replyTo,
    text,
  });
  const send = async (request: SendRequest, replyTo: string | null) => {
    const sent = newOf(request, replyTo);
    if (url !== undefined) await post(http, url, context, sent, request.signal);
    kept.push(sent);
    if (kept.length > limits.webhookKeptMax) kept.shift();
    return { messageIds: [request.id] };
  };
  return {
    sendText: (request) => send(request, null),
    replyText: (request) => send(request, request.replyTo),
    async editText({ messageId, growing, ...request }) {
      const at = kept.findIndex(({ id, account }) => id === messageId && account === accountId);
      const sent = kept[at];
      // Posted are a beginning and its end; what is between is only kept.
      if (url !== undefined && growing === undefined) {
        const edit = newOf(request, sent?.replyTo ?? null);
        await post(http, url, context, { ...edit, edits: messageId }, request.signal);
      }
      if (sent !== undefined) kept[at] = { ...sent, text: request.text };
    },
  };
}

/** The receiver drops repeats by `id`, so a try that failed on the way may be repeated. */
async function post(
  http: HttpClient,
  url: string,
  { config, clock }: ChannelContext<WebhookConfig>,
  sent: WebhookSent,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(sent);
  const { status, headers } = await http.fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...signatureHeaders(config.secret ?? "", clock.now(), body),
    },
    body,
    signal,
    msMax: limits.sendMsMax,
    bytesMax: answerBytesMax,
  });
  if (status >= 200 && status < 300) return;
  const cannot = `Cannot post an answer as the receiver said ${status}`;
  if (status === 429) {
    const seconds = Number(headers["retry-after"]);
    const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 5_000;
    throw new EarshotError("EAR_CHANNEL_RATE", cannot, { retryAfterMs });
  }
  throw new EarshotError(status < 500 ? "EAR_CHANNEL_REJECTED" : "EAR_CHANNEL_UNAVAILABLE", cannot);
}
