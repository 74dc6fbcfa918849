/**
 * Files, both ways
 * ================
 * A file is stored at WhatsApp encrypted (AES-256-CBC, and ten bytes of HMAC-SHA256 behind it), under keys
 * that follow from one which only the message has ("Transmitting Media and Other Attachments" in
 * https://www.whatsapp.com/security/WhatsApp-Security-Whitepaper.pdf). The message also names an address;
 * only its path is used, at WhatsApp's own host, because the author of a message could name any.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import type { MediaType, proto } from "baileys";
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { MediaRequest } from "../../../domain/ports/index.ts";
import { createHttpClient } from "../../http/http-client.ts";
import type { LinkedAccountConfig } from "./config.ts";
import type { Baileys } from "./library.ts";
import type { Live } from "./live.ts";

const downloads = "https://mmg.whatsapp.net";
const fileMsMax = 60_000;
const macBytes = 10;
const keyBytes = 32;
const answerBytesMax = 65_536;

type FileKind = "image" | "video" | "audio" | "document" | "sticker";

/** Where a file of a message is, and its key. */
export const storedFileSchema = z.object({
  kind: z.enum(["image", "video", "audio", "document", "sticker"]),
  /** Base64. */
  key: z.string().min(1).max(128),
  /** At WhatsApp's host. */
  path: z
    .string()
    .regex(/^\/[\w./?=&%~+:-]+$/)
    .max(limits.labelUnitsMax),
});
export type StoredFile = z.infer<typeof storedFileSchema>;

const uploadedSchema = z.object({
  url: z.string().max(limits.labelUnitsMax).optional(),
  direct_path: z.string().max(limits.labelUnitsMax),
});

/** The library's name of a kind: keys of stickers are those of pictures. */
const typeOf = (kind: FileKind): MediaType => kind;

/**
 * The contents of a file.
 * @throws EarshotError EAR_CHANNEL_REJECTED if it is another one than the message's, EAR_HTTP_FAILED if it
 * cannot be had
 */
async function fetchFile(
  baileys: Baileys,
  { mediaUrl }: LinkedAccountConfig,
  { kind, key, path }: StoredFile,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const base = mediaUrl ?? downloads;
  const http = createHttpClient({ allowPrivate: [new URL(base).origin] });
  const { status, body } = await http.fetch(`${base}${path}`, {
    method: "GET",
    headers: { origin: baileys.DEFAULT_ORIGIN },
    signal,
    msMax: fileMsMax,
    bytesMax: limits.platformFileBytesMax,
    redirectsMax: 0,
  });
  if (status !== 200)
    throw new EarshotError(
      status === 404 || status === 410 ? "EAR_CHANNEL_REJECTED" : "EAR_CHANNEL_UNAVAILABLE",
      `Cannot fetch a file from WhatsApp: it answered ${status}` +
        (status === 404 || status === 410 ? ". It is kept there for some weeks only" : ""),
    );
  const { iv, cipherKey, macKey } = await baileys.getMediaKeys(
    Buffer.from(key, "base64"),
    typeOf(kind),
  );
  const whole = Buffer.from(body);
  const cipher = whole.subarray(0, -macBytes);
  const mac = createHmac("sha256", macKey as Uint8Array)
    .update(iv)
    .update(cipher)
    .digest();
  if (whole.length <= macBytes || !mac.subarray(0, macBytes).equals(whole.subarray(-macBytes)))
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      "Cannot fetch a file from WhatsApp: what is stored there is not what the message says",
    );
  const decipher = createDecipheriv("aes-256-cbc", cipherKey, iv);
  const plain = Buffer.concat([decipher.update(cipher), decipher.final()]);
  return new Response(new Uint8Array(plain)).body as ReadableStream<Uint8Array>;
}

/** The contents of a file by the id of its attachment. @throws EarshotError */
export async function downloadOf(
  live: Live | null,
  config: LinkedAccountConfig,
  id: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  if (live === null)
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot fetch a file from WhatsApp: it is not connected",
    );
  const file = storedFileSchema.safeParse(live.store.file(id));
  if (file.success) return fetchFile(live.baileys, config, file.data, signal);
  throw new EarshotError(
    "EAR_CHANNEL_REJECTED",
    "Cannot fetch a file from WhatsApp: its key is not known",
  );
}

/** What WhatsApp shows as a picture, plays or shows as a film; anything else is a document. */
const shownTypes: Readonly<Record<"image" | "audio" | "video", RegExp>> = {
  image: /^image\/(jpeg|png)$/,
  audio: /^audio\/(aac|amr|mpeg|mp4|ogg|opus)$/,
  video: /^video\/(mp4|3gpp)$/,
};

function kindOf({ mime, kind }: MediaRequest): "image" | "audio" | "video" | "document" {
  if (kind === "file") return "document";
  const type = mime.split(";")[0]?.trim().toLowerCase() ?? "";
  for (const one of ["image", "audio", "video"] as const)
    if (shownTypes[one].test(type)) return one;
  return "document";
}

/** Uploads a file, encrypted; resolves to the message that shows it. */
export async function uploaded(
  { baileys, connection }: Live,
  { mediaUrl }: LinkedAccountConfig,
  request: MediaRequest,
  caption: string,
): Promise<proto.IMessage> {
  const { data, mime, name, signal } = request;
  const kind = kindOf(request);
  const mediaKey = randomBytes(keyBytes);
  const { iv, cipherKey, macKey } = await baileys.getMediaKeys(mediaKey, kind);
  const encipher = createCipheriv("aes-256-cbc", cipherKey, iv);
  const cipher = Buffer.concat([encipher.update(data), encipher.final()]);
  const mac = createHmac("sha256", macKey as Uint8Array)
    .update(iv)
    .update(cipher)
    .digest();
  const whole = Buffer.concat([cipher, mac.subarray(0, macBytes)]);
  const fileEncSha256 = createHash("sha256").update(whole).digest();
  const { auth, hosts } = await connection.socket.refreshMediaConn();
  const host = hosts.find(({ hostname }) => /^[\w-]+(\.[\w-]+)*\.whatsapp\.net$/.test(hostname));
  const base = mediaUrl ?? `https://${host?.hostname ?? "mmg.whatsapp.net"}`;
  const token = fileEncSha256.toString("base64url");
  const path = `${baileys.MEDIA_PATH_MAP[kind]}/${token}?auth=${encodeURIComponent(auth)}&token=${token}`;
  const http = createHttpClient({ allowPrivate: [new URL(base).origin] });
  const answer = await http.fetch(`${base}${path}`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream", origin: baileys.DEFAULT_ORIGIN },
    body: whole,
    signal,
    msMax: fileMsMax,
    bytesMax: answerBytesMax,
    redirectsMax: 0,
  });
  const stored = readUpload(answer.status, answer.body);
  const file = {
    ...(stored.url !== undefined && { url: stored.url }),
    directPath: stored.direct_path,
    mediaKey,
    mimetype: mime,
    fileEncSha256,
    fileSha256: createHash("sha256").update(data).digest(),
    fileLength: data.length,
    ...(kind !== "audio" && caption !== "" && { caption }),
  };
  if (kind === "image") return { imageMessage: file };
  if (kind === "video") return { videoMessage: file };
  if (kind === "audio") return { audioMessage: { ...file, ptt: request.kind === "voice" } };
  return { documentMessage: { ...file, fileName: name, title: name } };
}

function readUpload(status: number, body: Uint8Array): z.infer<typeof uploadedSchema> {
  const failed = (why: string) =>
    new EarshotError(
      status >= 400 && status < 500 && status !== 429
        ? "EAR_CHANNEL_REJECTED"
        : "EAR_CHANNEL_UNAVAILABLE",
      `Cannot upload a file to WhatsApp: ${why}`,
    );
  if (status !== 200) throw failed(`it answered ${status}`);
  try {
    return uploadedSchema.parse(JSON.parse(Buffer.from(body).toString()));
  } catch {
    throw failed("its answer has an unexpected form");
  }
}
