/**
 * What Slack posts to an account's hook
 * =====================================
 * Events, buttons and slash commands, signed over time and body
 * (https://docs.slack.dev/authentication/verifying-requests-from-slack). An answer of 200 means durable;
 * Slack repeats the others at once, after a minute and after five.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { ChannelHook, HookRequest } from "../../../domain/ports/index.ts";
import { hookJson } from "../../http/hook-body.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Takes what was posted: `events_api`, `interactive` or `slash_commands`, as over a socket. Repeated: an
 * earlier post of it was not answered.
 */
export type TakePosted = (type: string, body: Fields, isRepeated: boolean) => Promise<void>;

/** How old a request may be, as Slack recommends. */
const windowMs = 300_000;

export function createSlackHook(signingSecret: string, take: TakePosted): ChannelHook {
  return {
    inspectHeaders(request) {
      const signed = readHeaders(request);
      if (typeof signed === "string") return { kind: "refused", why: signed };
      return { kind: "unproven", bytesMax: limits.bodyBytesMax };
    },
    verify(request, body) {
      const signed = readHeaders(request);
      if (typeof signed === "string") return { kind: "refused", why: signed };
      const mac = createHmac("sha256", signingSecret)
        .update(`v0:${signed.timestamp}:`)
        .update(body)
        .digest();
      if (!timingSafeEqual(mac, signed.mac))
        return { kind: "refused", why: "the signature does not match the body" };
      return { kind: "verified", replayId: signed.mac.toString("base64") };
    },
    async receive(body, { headers }) {
      const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? "");
      if (isForm) return receiveForm(body, take);
      const posted = fieldsIn(hookJson(body));
      if (posted.type === "url_verification") {
        if (typeof posted.challenge === "string") return posted.challenge.slice(0, 1_024);
        throw invalid("it has no challenge");
      }
      // Any other is of no interest, such as that Slack sends less for a while.
      const isRepeated = /^[1-9]/.test(headers["x-slack-retry-num"] ?? "");
      if (posted.type === "event_callback") await take("events_api", posted, isRepeated);
      return "";
    },
  };
}

/** A button, or a slash command. An empty answer shows nothing in the room. */
async function receiveForm(body: Uint8Array, take: TakePosted): Promise<string> {
  const form = Object.fromEntries(new URLSearchParams(Buffer.from(body).toString("utf8")));
  if (form.ssl_check === "1") return "";
  if (form.payload === undefined) await take("slash_commands", form, false);
  else await take("interactive", fieldsIn(hookJson(Buffer.from(form.payload))), false);
  return "";
}

function fieldsIn(value: unknown): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw invalid("it is no object");
}

const invalid = (why: string) =>
  new EarshotError("EAR_INBOUND_INVALID", `Cannot accept the body: ${why}`);

/** The signature and its time; a string is the reason for a refusal. */
function readHeaders({ headers, now }: HookRequest): string | { timestamp: string; mac: Buffer } {
  const timestamp = headers["x-slack-request-timestamp"] ?? "";
  const hex = /^v0=([0-9a-f]{64})$/i.exec(headers["x-slack-signature"] ?? "")?.[1];
  if (hex === undefined) return "x-slack-signature is missing or malformed";
  if (!/^[1-9]\d{0,11}$/.test(timestamp))
    return "x-slack-request-timestamp is missing or malformed";
  const ageMs = now - Number(timestamp) * 1_000;
  if (Math.abs(ageMs) > windowMs) return `it was signed ${Math.round(ageMs / 1_000)} s ago`;
  return { timestamp, mac: Buffer.from(hex, "hex") };
}
