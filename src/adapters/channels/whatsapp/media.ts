/**
 * Files, both ways
 * ================
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/media
 * A file is uploaded first, which may be repeated, and then sent by its id. One of a person is fetched from an
 * address that is valid for five minutes, with the token, which goes to Meta's servers only.
 */
import { randomUUID } from "node:crypto";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { MediaRequest } from "../../../domain/ports/index.ts";
import { createHttpClient } from "../../http/http-client.ts";
import type { WhatsAppApi } from "./api.ts";
import type { WhatsAppAccountConfig } from "./config.ts";
import { mediaUrlSchema, uploadSchema } from "./wire.ts";

const fileMsMax = 30_000;

type Kind = "image" | "audio" | "video" | "document";

/** What WhatsApp shows as a picture, plays or shows as a film; anything else is a document. */
const shownTypes: Readonly<Record<Exclude<Kind, "document">, RegExp>> = {
  image: /^image\/(jpeg|png)$/,
  audio: /^audio\/(aac|amr|mpeg|mp4|ogg|opus)$/,
  video: /^video\/(mp4|3gpp)$/,
};
const bytesMax: Readonly<Record<Exclude<Kind, "document">, number>> = {
  image: 5_242_880,
  audio: 16_777_216,
  video: 16_777_216,
};

export function kindOf({ mime, kind, data }: MediaRequest): Kind {
  if (kind === "file") return "document";
  const type = mime.split(";")[0]?.trim().toLowerCase() ?? "";
  for (const one of ["image", "audio", "video"] as const)
    if (shownTypes[one].test(type) && data.length <= bytesMax[one]) return one;
  return "document";
}

/** Uploads a file; resolves to its id. */
export async function upload(
  api: WhatsAppApi,
  phoneNumberId: string,
  { mime, name, data, signal }: MediaRequest,
): Promise<string> {
  const boundary = `earshot-${randomUUID()}`;
  const type = /^[\w.+-]+\/[\w.+-]+(?:; ?codecs=[\w.-]+)?$/.test(mime)
    ? mime
    : "application/octet-stream";
  const safeName = name.replace(/["\\\r\n]/g, "_");
  const field = (key: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`;
  const body = Buffer.concat([
    Buffer.from(
      field("messaging_product", "whatsapp") +
        field("type", type) +
        `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${safeName}"\r\n` +
        `content-type: ${type}\r\n\r\n`,
    ),
    data,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const { id } = await api.call(`${phoneNumberId}/media`, {
    kind: "ask",
    signal,
    schema: uploadSchema,
    body: { type: `multipart/form-data; boundary=${boundary}`, data: body },
    what: "upload a file",
  });
  return id;
}

/** Fetches a file that a person sent. */
export async function fetchFile(
  api: WhatsAppApi,
  config: WhatsAppAccountConfig,
  id: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  if (!/^\w{1,128}$/.test(id)) throw refused("its id is none of WhatsApp's");
  const path = `${id}?phone_number_id=${config.phoneNumberId}`;
  const call = { kind: "ask", signal, schema: mediaUrlSchema, what: "look up a file" } as const;
  const { url } = await api.call(path, call);
  const { origin } = new URL(config.apiRoot);
  if (!isMetas(url, origin)) throw refused("it is not stored at WhatsApp");
  const http = createHttpClient({ allowPrivate: [origin] });
  return http.stream(url, {
    headers: { authorization: `Bearer ${config.accessToken}` },
    signal,
    msMax: fileMsMax,
    bytesMax: limits.platformFileBytesMax,
    redirectsMax: 0,
  });
}

const refused = (why: string) =>
  new EarshotError("EAR_CHANNEL_REJECTED", `Cannot fetch a file: ${why}`);

function isMetas(address: string, configured: string): boolean {
  const { origin, protocol, hostname } = new URL(address);
  if (origin === configured) return true;
  return (
    protocol === "https:" && /(^|\.)(fbsbx|facebook|fbcdn|whatsapp)\.(com|net)$/.test(hostname)
  );
}
