/**
 * Files, both ways
 * ================
 * A file is uploaded in three steps: https://docs.slack.dev/messaging/working-with-files. Only the last
 * one shows it in the room, so only that one can be in doubt. A file of a room is fetched with the bot's
 * token, which is sent to Slack's own servers and to no other address.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { ChannelContext, MediaRequest, SendReceipt } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { createHttpClient } from "../../http/http-client.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import type { SlackClient } from "./client.ts";
import type { SlackAccountConfig } from "./config.ts";
import { messageOf } from "./rendering.ts";
import { fileInfoSchema, okSchema, uploadSchema } from "./wire.ts";

type Context = ChannelContext<SlackAccountConfig>;

const fileMsMax = 30_000;
const shareTriesMax = 4;
const shareMs = 500;

const originOf = (url: string): string => new URL(url).origin;

/** Uploads a file and shows it at `place`. */
export async function sendFile(
  client: SlackClient,
  { config, clock }: Pick<Context, "config" | "clock">,
  { name, data, caption = "", signal }: MediaRequest,
  place: { readonly channel: string; readonly thread_ts?: string },
): Promise<SendReceipt> {
  const ask = { kind: "ask", signal } as const;
  const asked = { filename: name, length: data.length };
  const upload = await client.call("files.getUploadURLExternal", asked, ask, uploadSchema);
  const http = createHttpClient({ allowPrivate: [originOf(config.apiRoot)] });
  const headers = { "content-type": "application/octet-stream" };
  const answer = await http.fetch(upload.upload_url, {
    method: "POST",
    headers,
    body: data,
    signal,
    msMax: limits.sendMsMax,
    bytesMax: limits.platformAnswerBytesMax,
  });
  if (answer.status !== 200)
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      `Cannot upload a file to Slack: its server failed (HTTP ${answer.status})`,
    );
  const { channel, ...thread } = place;
  const shown = {
    files: [{ id: upload.file_id, title: name }],
    channel_id: channel,
    ...thread,
    ...(caption !== "" && { blocks: messageOf(renderMarkdown(caption)).blocks }),
  };
  const send = { kind: "send", signal, msMax: limits.sendMsMax } as const;
  await client.call("files.completeUploadExternal", shown, send, okSchema);
  return { messageIds: await sharesOf(client, clock, upload.file_id, channel, signal) };
}

/** The message that shows a file; Slack writes it a moment later. None: it does not say. */
async function sharesOf(
  client: SlackClient,
  clock: Context["clock"],
  file: string,
  channel: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (let tries = 0; tries < shareTriesMax && !signal.aborted; tries += 1) {
    if (tries > 0) await pauseFor(clock, shareMs, signal);
    try {
      const options = { kind: "ask", signal } as const;
      const info = await client.call("files.info", { file }, options, fileInfoSchema);
      const { shares } = info.file;
      const found = shares?.public?.[channel] ?? shares?.private?.[channel];
      if (found !== undefined && found.length > 0) return found.map(({ ts }) => ts);
    } catch {
      // It is sent all the same.
      return [];
    }
  }
  return [];
}

/** Fetches a file that was sent to a room. */
export async function fetchFile(
  client: SlackClient,
  { config }: Pick<Context, "config">,
  id: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const options = { kind: "ask", signal } as const;
  const { file } = await client.call("files.info", { file: id }, options, fileInfoSchema);
  const url = file.url_private_download || file.url_private;
  if (!url || file.is_external === true || !isSlacks(url, config))
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      "Cannot fetch a file: it is not stored at Slack",
    );
  const http = createHttpClient({ allowPrivate: [originOf(config.apiRoot)] });
  const limit = { signal, bytesMax: limits.platformFileBytesMax, msMax: fileMsMax };
  const headers = { authorization: `Bearer ${config.botToken}` };
  // A redirect leads to a page to sign in, or elsewhere: the token must not follow it.
  const answer = await http.open(url, { ...limit, headers, redirectsMax: 0 });
  const type = String(answer.headers["content-type"] ?? "");
  const isPage = type.startsWith("text/html") && file.mimetype !== "text/html";
  if (answer.status !== 200 || isPage) {
    answer.close();
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      `Cannot fetch a file: Slack answers with ${isPage ? "a page to sign in" : answer.status}. ` +
        "Add the scope files:read and reinstall the app",
    );
  }
  return streamOf(answer.body, () => answer.close());
}

function streamOf(body: AsyncIterable<Uint8Array>, close: () => void): ReadableStream<Uint8Array> {
  const parts = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: close,
  });
}

/** Whether an address is one of Slack's, or of the configured server. */
function isSlacks(url: string, { apiRoot }: SlackAccountConfig): boolean {
  if (!URL.canParse(url)) return false;
  const { origin, protocol, hostname } = new URL(url);
  if (origin === originOf(apiRoot)) return true;
  return protocol === "https:" && /(^|\.)slack(?:-gov|-files)?\.com$/.test(hostname);
}
