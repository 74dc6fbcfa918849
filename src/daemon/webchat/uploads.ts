/**
 * Files for the webchat
 * =====================
 * The limits of uploads: size and retention from this channel's config, the number of concurrent
 * uploads, and the messages of refusals. The bytes are stored with the other files of the state
 * directory.
 */
import type { AnswerHint, Upload, Uploads } from "../../adapters/media/uploads.ts";
import type { MediaSettings } from "../../domain/config/conversation/media.ts";
import { type EarshotConfig, resolveMedia } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Attachment, Millis } from "../../domain/message.ts";
import type { Clock, Log, MediaRequest, TimerHandle } from "../../domain/ports/index.ts";
import { ApiRefusal } from "../http/api-error.ts";
import type { WebchatRoute } from "./route.ts";

export interface WebchatUploadPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly uploads: Uploads;
  readonly config: () => EarshotConfig;
  readonly route: () => WebchatRoute;
}

/** What a page may send. */
export interface UploadLimits {
  readonly bytesMax: number;
  /** With one message. */
  readonly countMax: number;
}

export interface WebchatUploads {
  limits(): UploadLimits;
  /**
   * Stores an upload. `length`: the declared length, if any.
   * @throws ApiRefusal naming the limit, or what is wrong with the file.
   */
  take(
    source: AsyncIterable<Uint8Array>,
    about: { readonly name: string; readonly declared: string; readonly length: number | null },
  ): Promise<Upload>;
  /** A stored file; null: unknown. */
  find(id: string): Promise<Upload | null>;
  open(id: string): Promise<ReadableStream<Uint8Array>>;
  drop(id: string): Promise<boolean>;
  /**
   * The attachments of a message with these files.
   * @throws EarshotError EAR_INBOUND_INVALID when one of them is unknown or used already.
   */
  send(ids: readonly string[], message: string): Promise<readonly Attachment[]>;
  /** Stores the file or the audio of a part of an answer, once. */
  say(request: MediaRequest): Promise<{ readonly part: string; readonly upload: Upload }>;
  /** The files of a part of an answer, and what it is; `at`: when it was sent, ms since the epoch. */
  filesOf(part: string, media: AnswerHint["media"], at: Millis): Promise<readonly Upload[]>;
  /** Starts the periodic removal of old files. */
  start(): void;
  stop(): void;
}

const cleanupMs = 600_000;
const path = "media.maxBytes";

export function createWebchatUploads(ports: WebchatUploadPorts): WebchatUploads {
  const { clock, log, uploads, config } = ports;
  let arriving = 0;
  let timer: TimerHandle | null = null;
  let stopped = false;

  const settings = (): MediaSettings => {
    const { keys, agent } = ports.route();
    const place = { channel: "webchat", account: "default" } as const;
    return resolveMedia(config(), { agentId: agent.id, key: keys[0] ?? "", ...place });
  };
  const cleanUp = () => {
    const sentBefore = clock.now() - config().messages.dedupe.retentionMs;
    uploads
      .deleteOld(sentBefore, settings().storeBytesMax)
      .catch((error: unknown) => log("warn", "webchat.unswept", { error: String(error) }))
      .finally(() => {
        // Cleared at the stop, because a timer keeps the process alive.
        if (!stopped) timer = clock.setTimer(clock.now() + cleanupMs, cleanUp);
      });
  };

  return {
    limits: () => ({ bytesMax: settings().maxBytes, countMax: limits.uploadsPerMessageMax }),
    async take(source, { length, ...about }) {
      const { maxBytes: bytesMax, storeBytesMax: totalMax } = settings();
      if ((length ?? 0) > bytesMax) throw tooLarge(bytesMax);
      if (arriving >= limits.uploadsAtOnceMax)
        throw new ApiRefusal(
          "too-many",
          `Cannot accept more than ${limits.uploadsAtOnceMax} files at the same time: try again later`,
        );
      arriving += 1;
      try {
        return await uploads.keep(source, { ...about, bytesMax, totalMax });
      } catch (error) {
        throw refusalOf(error, bytesMax);
      } finally {
        arriving -= 1;
      }
    },
    find: (id) => uploads.find(id),
    open: (id) => uploads.open(id),
    drop: (id) => uploads.drop(id),
    async send(ids, message) {
      return (await uploads.send(ids, message)).map(({ id, kind, mime, bytes, name }) => ({
        id,
        kind,
        mime,
        bytes,
        ...(name === null ? {} : { name }),
      }));
    },
    async say({ id, mime, name, data }) {
      const { maxBytes: bytesMax, storeBytesMax: totalMax } = settings();
      // The audio's id is the id of its part with a suffix.
      const part = id.replace(/:speech$/u, "");
      const owner = { of: "answer", id: part } as const;
      // It was stored by an attempt whose end was lost.
      const [stored] = await uploads.ofAnswer(part);
      if (stored !== undefined) return { part, upload: stored };
      const terms = { name, declared: mime, bytesMax, totalMax, owner };
      return { part, upload: await uploads.keep(once(data), terms) };
    },
    filesOf(part, media, at) {
      const isKept = at >= clock.now() - config().messages.dedupe.retentionMs;
      const spoken = isKept && settings().speech !== null;
      return uploads.ofAnswer(part, { media: isKept ? media : null, spoken });
    },
    start: cleanUp,
    stop() {
      stopped = true;
      if (timer !== null) clock.clearTimer(timer);
    },
  };
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

const tooLarge = (bytesMax: number) =>
  new ApiRefusal(
    "too-large",
    `Cannot store the file: it is over ${bytesMax} bytes, the limit of ${path} in the config`,
  );

/** The error as a refusal for a page; other errors are unchanged. */
function refusalOf(error: unknown, bytesMax: number): unknown {
  const { code, message = "" } = Object(error) as { code?: unknown; message?: string };
  if (code === "EAR_HTTP_REFUSED") return tooLarge(bytesMax);
  if (code === "EAR_CHANNEL_REJECTED") return new ApiRefusal("wrong-type", message);
  if (code === "ENOSPC")
    return new EarshotError("EAR_STORE_FULL", "Cannot store the file: the disk is full");
  if (code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE")
    return new ApiRefusal("bad-request", "Cannot store the file: the connection was closed");
  return error;
}
