/**
 * Posts to the hooks of Slack, WhatsApp and the plain webhook, headers and body, as the daemon reads them:
 * the headers first, then the signature, then the body. SIGNATURE in a header is the right one for the
 * body that is read, so that what is broken behind a good signature is read, too; any other is refused.
 */
import { createHmac } from "node:crypto";
import { createSlackHook } from "../../../src/adapters/channels/slack/hook.ts";
import { createWebhookHook } from "../../../src/adapters/channels/webhook/hook.ts";
import { createWhatsAppHook } from "../../../src/adapters/channels/whatsapp/hook.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { ChannelHook } from "../../../src/domain/ports/index.ts";
import { canary, frames, type Log, type Target } from "../harness/target.ts";

const secret = `a-secret-of-a-test-${canary}`;
const seconds = "1700000000";
const now = Number(seconds) * 1_000;
const hmac = (prefix: string, body: Uint8Array) =>
  createHmac("sha256", secret).update(prefix).update(body).digest("hex");

/** One `name: value` a line. */
function headersIn(head: Buffer, signature: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of head.toString("latin1").split("\n")) {
    const [name = "", ...rest] = line.split(": ");
    if (rest.length > 0)
      headers[name.toLowerCase()] = rest.join(": ").replace("SIGNATURE", signature);
  }
  return headers;
}

interface Signed {
  readonly name: string;
  readonly seeds: readonly (readonly [name: string, head: string, body: string])[];
  readonly prefix: string;
  hook(take: (...taken: readonly unknown[]) => Promise<void>, log: Log): ChannelHook;
}

const signed = ({ name, seeds, prefix, hook }: Signed): Target => ({
  name: `${name}-signed`,
  claim: "a post with its signature is taken or EAR_INBOUND_INVALID, without it refused unread",
  seeds: seeds.map(([seed, head, body]) => ({ name: seed, frames: frames(head, body) })),
  async read([head = Buffer.alloc(0), body = Buffer.alloc(0)], log) {
    const taken: unknown[] = [];
    const made = hook(async (...given) => void taken.push(given), log);
    const right = hmac(prefix, body);
    const request = { headers: headersIn(head, right), now } as never;
    const before = made.inspectHeaders(request);
    if (before.kind === "refused") return log("warn", "hook.refused", { why: before.why });
    const verdict = made.verify(request, body);
    if (verdict.kind === "refused") return log("warn", "hook.refused", { why: verdict.why });
    if (!head.toString("latin1").includes("SIGNATURE"))
      throw new Error("a signature was accepted that nobody has made");
    return [await made.receive(body, request), taken];
  },
  refuses: (error) => error instanceof EarshotError && error.code === "EAR_INBOUND_INVALID",
});

const json = "content-type: application/json";
const slackHead = `x-slack-request-timestamp: ${seconds}\nx-slack-signature: v0=SIGNATURE`;
const slack = signed({
  name: "slack",
  prefix: `v0:${seconds}:`,
  hook: (take) => createSlackHook(secret, take),
  seeds: [
    [
      "event",
      `${slackHead}\n${json}\nx-slack-retry-num: 1`,
      JSON.stringify({
        type: "event_callback",
        event_id: "E1",
        event: { type: "message", channel: "C1", user: "U1", ts: "1700000000.000100", text: "hi" },
      }),
    ],
    [
      "challenge",
      `${slackHead}\n${json}`,
      JSON.stringify({ type: "url_verification", challenge: "c" }),
    ],
    [
      "button",
      `${slackHead}\ncontent-type: application/x-www-form-urlencoded`,
      `payload=${encodeURIComponent(JSON.stringify({ type: "block_actions", actions: [] }))}`,
    ],
    [
      "command",
      `${slackHead}\ncontent-type: application/x-www-form-urlencoded`,
      "command=%2Fstatus&channel_id=C1&user_id=U1&text=now",
    ],
    ["forged", `${slackHead.replace("SIGNATURE", "0".repeat(64))}\n${json}`, "{}"],
  ],
});

const whatsapp = signed({
  name: "whatsapp",
  prefix: "",
  hook: (take, log) => createWhatsAppHook({ appSecret: secret, verifyToken: secret }, log, take),
  seeds: [
    [
      "post",
      `x-hub-signature-256: sha256=SIGNATURE\n${json}`,
      JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes: [] }] }),
    ],
    ["forged", `x-hub-signature-256: sha256=${"0".repeat(64)}`, "{}"],
  ],
});

const webhookHead = `earshot-timestamp: ${seconds}\nearshot-signature: sha256=SIGNATURE`;
const webhook = signed({
  name: "webhook",
  prefix: `${seconds}.`,
  hook: (take) =>
    createWebhookHook({ accountId: "default", deliver: take } as never, {
      secret,
      windowSeconds: 300,
    }),
  seeds: [
    [
      "message",
      `${webhookHead}\n${json}`,
      JSON.stringify({
        chat: { id: "kitchen", kind: "group" },
        id: "1",
        author: { id: "ann" },
        text: "hi",
      }),
    ],
    [
      "with a digest that nobody signed",
      `${webhookHead}\nearshot-digest: sha256=${"0".repeat(64)}`,
      "{}",
    ],
    ["old", webhookHead.replace(seconds, "1600000000"), "{}"],
  ],
});

export const signedTargets: readonly Target[] = [slack, whatsapp, webhook];
