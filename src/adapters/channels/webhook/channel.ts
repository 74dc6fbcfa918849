/**
 * Plain HTTP in and out, for platforms without a channel. Messages arrive through the daemon's API
 * or, signed, through the account's hook. Answers are kept in a bounded list that the API serves;
 * where the account has a `url`, they are also posted there as JSON, with a signature over time and
 * body (docs/channels/webhook.md).
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Millis, Route } from "../../../domain/message.ts";
import type { OutgoingChoices, OutgoingKind } from "../../../domain/outgoing.ts";
import {
  type ChannelContext,
  type ChannelDefinition,
  type ChannelOutbound,
  type ChoicesRequest,
  defineChannel,
  type MediaRequest,
  type SendRequest,
} from "../../../domain/ports/index.ts";
import { createHttpClient, type HttpClient } from "../../http/http-client.ts";
import { signatureHeaders } from "../../http/signature.ts";
import { createWebhookHook, type WebhookHookConfig, webhookHookSchema } from "./hook.ts";

export interface WebhookConfig {
  /** Where answers are posted; absent: they are only listed. */
  readonly url?: string | undefined;
  /** Key of the signature; required with `url`. */
  readonly secret?: string | undefined;
  /** What is posted to `url` beside texts. */
  readonly also?: readonly WebhookExtra[] | undefined;
  /** Accepts posted events; absent: only through the API. */
  readonly hook?: WebhookHookConfig | undefined;
}

const extras = ["typing", "reactions", "files", "choices"] as const;
type WebhookExtra = (typeof extras)[number];

/** A sent file; a post has its bytes, too. */
export interface WebhookFile {
  readonly kind: OutgoingKind;
  readonly name: string;
  readonly mime: string;
  readonly bytes: number;
  /** The address that it was fetched from. */
  readonly url?: string;
}

/** A sent message. */
export interface WebhookSent {
  readonly account: string;
  readonly at: Millis;
  /** `turnId:index`; equal for a retry. */
  readonly id: string;
  readonly route: Route;
  readonly replyTo: string | null;
  /** Markdown; of a file its caption. */
  readonly text: string;
  readonly media?: WebhookFile;
  readonly choices?: OutgoingChoices;
  /** Only in posts: the id of the message that this text replaces. */
  readonly edits?: string;
}

export interface Webhook {
  readonly definition: ChannelDefinition<WebhookConfig>;
  /** The last sent messages, oldest first, at most 1,000 of all accounts together. */
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
      .meta({ description: "Key of the HMAC-SHA256 signature of posted answers." }),
    also: z
      .array(z.enum(extras))
      .max(extras.length)
      .optional()
      .meta({ description: "What is posted beside texts: typing, reactions, files, choices." }),
    hook: webhookHookSchema.optional(),
  })
  .refine(({ url, also }) => url !== undefined || (also ?? []).length === 0, {
    path: ["also"],
    message: "needs a url to post to",
  })
  .refine(({ url, secret }) => url === undefined || secret !== undefined, {
    path: ["secret"],
    message: "a url needs a secret, so that the receiver can tell who posts",
  });

/** One webhook channel for one process. */
export function createWebhook(): Webhook {
  const sentMessages: WebhookSent[] = [];
  const definition = defineChannel<WebhookConfig>({
    id: "webhook",
    meta: { name: "Webhook", description: "Plain HTTP in and out" },
    capabilities: {
      edits: true,
      deletes: true,
      reactions: true,
      typing: true,
      threads: true,
      membership: true,
      history: false,
      media: true,
      mentions: "structured",
      replyAuthor: true,
      botFlag: true,
    },
    textLimit: 40_000,
    typingIntervalMs: 6_000,
    accountSchema: accountSchema as z.ZodType<WebhookConfig>,
    local: true,
    connectsOnce: () => false,
    open: (context) => ({
      async start(signal) {
        context.reportState("live");
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener("abort", () => resolve());
        });
      },
      outbound: outboundOf(context, sentMessages),
      ...(context.config.hook === undefined
        ? {}
        : { hook: createWebhookHook(context, context.config.hook) }),
      identify: async () => ({ id: "webhook", name: context.config.url ?? "the API" }),
    }),
  });
  return {
    definition,
    sent: (account) =>
      sentMessages.filter((message) => account === undefined || message.account === account),
  };
}

type NewMessage = Pick<SendRequest, "id" | "route" | "text">;

function outboundOf(
  context: ChannelContext<WebhookConfig>,
  sentMessages: WebhookSent[],
): ChannelOutbound {
  const { accountId } = context;
  const { url } = context.config;
  // A post that arrives twice has the same id, by which the receiver knows it.
  const http = createHttpClient(
    url === undefined ? {} : { allowPrivate: [new URL(url).origin], keep: true },
  );
  const newOf = ({ id, route, text }: NewMessage, replyTo: string | null): WebhookSent => ({
    account: accountId,
    at: context.clock.now(),
    id,
    route,
    replyTo,
    text,
  });
  const keep = (sent: WebhookSent) => {
    sentMessages.push(sent);
    if (sentMessages.length > limits.webhookKeptMax) sentMessages.shift();
    return { messageIds: [sent.id] };
  };
  const send = async (
    request: NewMessage & { readonly signal: AbortSignal; readonly choices?: OutgoingChoices },
    replyTo: string | null,
  ) => {
    const { choices } = request;
    const sent = { ...newOf(request, replyTo), ...(choices === undefined ? {} : { choices }) };
    if (url !== undefined) await post(http, url, context, sent, request.signal);
    return keep(sent);
  };
  const sendFile = async (request: MediaRequest) => {
    const { data, caption: text = "", replyTo = null, signal } = request;
    const media = fileOf(request);
    const sent = { ...newOf({ ...request, text }, replyTo), media };
    const content = { ...sent, media: { ...media, data: Buffer.from(data).toString("base64") } };
    await post(http, url ?? "", context, content, signal);
    return keep(sent);
  };
  const signal = (body: object, stop: AbortSignal): Promise<void> =>
    post(http, url ?? "", context, { account: accountId, at: context.clock.now(), ...body }, stop);
  const posts = (kind: WebhookExtra) =>
    url !== undefined && (context.config.also ?? []).includes(kind);
  return {
    ...(posts("typing") && {
      sendTyping: (route: Route, typing: boolean, stop: AbortSignal) =>
        signal({ route, typing }, stop),
    }),
    ...(posts("reactions") && {
      addReaction: (route: Route, message: string, emoji: string, stop: AbortSignal) =>
        signal({ route, reaction: { message, emoji, on: true } }, stop),
      removeReaction: (route: Route, message: string, emoji: string, stop: AbortSignal) =>
        signal({ route, reaction: { message, emoji, on: false } }, stop),
    }),
    ...(posts("files") && { sendMedia: sendFile }),
    ...(posts("choices") && {
      // The text is the question without the list of the options.
      sendChoices: ({ replyTo, ...request }: ChoicesRequest) =>
        send({ ...request, text: request.choices.text }, replyTo ?? null),
    }),
    sendText: (request) => send(request, null),
    replyText: (request) => send(request, request.replyTo),
    async editText({ messageId, growing, ...request }) {
      const at = sentMessages.findIndex(
        ({ id, account }) => id === messageId && account === accountId,
      );
      const sent = sentMessages[at];
      // Only the first and the final text are posted; drafts in between only update the list.
      if (url !== undefined && growing === undefined) {
        const edit = newOf(request, sent?.replyTo ?? null);
        await post(http, url, context, { ...edit, edits: messageId }, request.signal);
      }
      if (sent !== undefined) sentMessages[at] = { ...sent, text: request.text };
    },
  };
}

function fileOf({ kind, name, mime, data, url }: MediaRequest): WebhookFile {
  const [major] = mime.split("/");
  const own = major === "image" || major === "audio" || major === "video" ? major : "file";
  const from = url === undefined ? {} : { url };
  return { kind: kind ?? own, name, mime, bytes: data.length, ...from };
}

/** Retries are safe: the receiver drops repeated texts by `id`; signals say what is so now. */
async function post(
  http: HttpClient,
  url: string,
  { config, clock }: ChannelContext<WebhookConfig>,
  content: WebhookSent | Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(content);
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
  const problem = `Cannot post an answer: the receiver answered ${status}`;
  if (status === 429) {
    const seconds = Number(headers["retry-after"]);
    const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 5_000;
    throw new EarshotError("EAR_CHANNEL_RATE", problem, { retryAfterMs });
  }
  throw new EarshotError(
    status < 500 ? "EAR_CHANNEL_REJECTED" : "EAR_CHANNEL_UNAVAILABLE",
    problem,
  );
}
