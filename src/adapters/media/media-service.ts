/**
 * Fetches attachments, caches them, and converts them with what the config names for their kind: a
 * model, a program, or nothing. A file's type is detected from its first bytes: a file that
 * contradicts its declared type is cached and named, but not converted. Failures become a one-line
 * note; the message is processed anyway.
 */
import { createHash } from "node:crypto";
import type { ImageConverter, MediaSettings } from "../../domain/config/conversation/media.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Log, MediaItem, MediaReading, MediaService } from "../../domain/ports/index.ts";
import { unlessAborted } from "../../domain/ports/within.ts";
import { cut, oneLine, plainText } from "../../domain/sanitize.ts";
import { deadline } from "../http/deadline.ts";
import { createHttpClient, type HttpClient } from "../http/http-client.ts";
import { type CachedFile, openFileCache } from "./file-cache.ts";
import { readPage } from "./links.ts";
import { describe, transcribe } from "./model.ts";
import { pictureSize } from "./picture-size.ts";
import { runProgram } from "./program.ts";
import { fits, headBytes, looksLikeText, picturesTaken, sniff } from "./sniff.ts";
import { synthesize } from "./speech.ts";

export interface MediaServiceOptions {
  /** Created with the first file. */
  readonly folder: string;
  readonly log: Log;
  /** Returns unpredictable letters and digits. */
  readonly unique: () => string;
  /** The platform's own client; null where the channel has none. */
  readonly download: (
    channel: string,
    account: string,
    attachmentId: string,
    signal: AbortSignal,
  ) => Promise<AsyncIterable<Uint8Array> | null>;
  /** For addresses from rooms. @default the guarded client */
  readonly http?: HttpClient;
}

/** A file, or the reason why there is none. */
type Fetched = { readonly file: CachedFile } | { readonly why: string };

const noteUnitsMax = 200;
/** Output limits of programs: text is cut later, a frame is an image. */
const printedBytesMax = 1_048_576;
const frameBytesMax = 16_777_216;

const nothing: MediaReading = {
  text: null,
  words: null,
  title: null,
  note: null,
  mime: null,
  bytes: null,
};

/** Creates the service. It touches nothing before the first file. */
export function openMediaService(options: MediaServiceOptions): MediaService {
  return new LocalMediaService(options);
}

class LocalMediaService implements MediaService {
  readonly #options: MediaServiceOptions;
  readonly #cache: ReturnType<typeof openFileCache>;
  readonly #http: HttpClient;

  constructor(options: MediaServiceOptions) {
    this.#options = options;
    this.#cache = openFileCache(options.folder, options.unique);
    this.#http = options.http ?? createHttpClient();
  }

  async read(item: MediaItem, settings: MediaSettings, signal: AbortSignal): Promise<MediaReading> {
    const by = fingerprint(converterOf(item, settings));
    return this.#reading(item.id, signal, async () => {
      const known = await this.#cache.reading(item.id, by);
      if (known !== null) return known;
      const fetched = await this.#fetch(item, settings, signal);
      if ("why" in fetched) return { ...nothing, note: fetched.why };
      const { mime, bytes } = fetched.file;
      const facts = { ...nothing, mime: mime ?? item.attachment.mime ?? null, bytes };
      const mismatch = typeMismatch(item, fetched.file);
      if (mismatch !== null) return { ...facts, note: mismatch };
      const isText = mime === null && looksLikeText(await this.#cache.read(item.id, headBytes));
      if (isText && item.attachment.kind !== "file")
        return { ...facts, note: `announced as ${declaredType(item)}, but it is text` };
      const reading = await this.#convert(item, fetched.file, facts, settings, signal);
      await this.#cache.note(item.id, by, reading);
      return reading;
    });
  }

  async picture(
    item: MediaItem,
    settings: MediaSettings,
    signal: AbortSignal,
  ): ReturnType<MediaService["picture"]> {
    let image = null;
    const { note } = await this.#reading(item.id, signal, async () => {
      const fetched = await this.#fetch(item, settings, signal);
      if ("why" in fetched) return { ...nothing, note: fetched.why };
      const { mime, bytes } = fetched.file;
      const mismatch = typeMismatch(item, fetched.file);
      if (mismatch !== null) return { ...nothing, note: mismatch };
      if (mime === null || !picturesTaken.has(mime))
        return { ...nothing, note: "no model takes a picture of this type" };
      if (bytes > limits.imageBytesMax)
        return { ...nothing, note: `not shown: it is larger than ${limits.imageBytesMax} bytes` };
      const data = await this.#cache.read(item.id, bytes);
      const size = pictureSize(data, mime);
      if (size === null) return { ...nothing, note: "not shown: it is broken" };
      if (Math.max(size.width, size.height) > limits.imagePointsMax)
        return { ...nothing, note: `not shown: it is ${size.width} by ${size.height} points` };
      image = { mime, name: oneLine(item.attachment.name ?? "picture"), data };
      return nothing;
    });
    return { image, note };
  }

  async follow(
    { id, url }: { readonly id: string; readonly url: string },
    settings: MediaSettings,
    signal: AbortSignal,
  ): Promise<MediaReading> {
    const { links, timeoutMs } = settings;
    if (links === null) return nothing;
    const by = fingerprint(links);
    return this.#reading(id, signal, async () => {
      const known = await this.#cache.reading(id, by);
      if (known !== null) return known;
      const unitsMax = links.extractChars;
      const page = await readPage(this.#http, url, { unitsMax, msMax: timeoutMs, signal });
      const text = clean(page.text, unitsMax);
      const reading: MediaReading = {
        ...nothing,
        text: text === "" ? null : text,
        words: "page",
        title: page.title,
        mime: page.mime,
        bytes: page.bytes,
      };
      await this.#cache.note(id, by, reading);
      return reading;
    });
  }

  async speak(
    text: string,
    { speech, timeoutMs, maxBytes }: MediaSettings,
    signal: AbortSignal,
  ): ReturnType<MediaService["speak"]> {
    if (speech === null) return null;
    return synthesize(speech, text, { msMax: timeoutMs, bytesMax: maxBytes, signal });
  }

  prune(before: number, bytesMax: number): Promise<void> {
    return this.#cache.prune(before, bytesMax);
  }

  /** Converts an error to a note. */
  async #reading(
    id: string,
    signal: AbortSignal,
    work: () => Promise<MediaReading>,
  ): Promise<MediaReading> {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      this.#options.log("warn", "media.failed", { media: id, error: reasonOf(error) });
      return { ...nothing, note: reasonOf(error) };
    }
  }

  async #fetch(item: MediaItem, settings: MediaSettings, signal: AbortSignal): Promise<Fetched> {
    const cached = await this.#cache.file(item.id);
    if (cached !== null) return { file: cached };
    const { maxBytes: bytesMax, timeoutMs, storeBytesMax: totalMax } = settings;
    // A declared size is trusted only when it is too large.
    if ((item.attachment.bytes ?? 0) > bytesMax)
      return { why: `not fetched: it is larger than ${bytesMax} bytes` };
    const limit = deadline(signal, timeoutMs);
    try {
      const source = await this.#open(item, settings, limit.signal);
      if (source === null) return { why: `${item.channel} cannot fetch files` };
      const bytes = bytesUnlessAborted(source, limit.signal);
      return { file: await this.#cache.put(item.id, bytes, { bytesMax, totalMax }) };
    } catch (error) {
      signal.throwIfAborted();
      const late = limit.signal.aborted ? `it took longer than ${timeoutMs} ms` : reasonOf(error);
      this.#options.log("warn", "media.unfetched", { media: item.id, error: late });
      return { why: `not fetched: ${late}` };
    } finally {
      limit.done();
    }
  }

  async #open(
    { channel, account, attachment }: MediaItem,
    { maxBytes: bytesMax, timeoutMs: msMax }: MediaSettings,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array> | null> {
    const { download } = this.#options;
    const downloaded = await unlessAborted(
      download(channel, account, attachment.id, signal),
      signal,
    );
    if (downloaded !== null || attachment.url === undefined) return downloaded;
    const answer = await this.#http.stream(attachment.url, { signal, msMax, bytesMax });
    return answer as unknown as AsyncIterable<Uint8Array>;
  }

  async #convert(
    { id, attachment }: MediaItem,
    file: CachedFile,
    facts: MediaReading,
    settings: MediaSettings,
    signal: AbortSignal,
  ): Promise<MediaReading> {
    const { audio, image, video, timeoutMs: msMax } = settings;
    const head = await this.#cache.read(id, headBytes);
    if (file.mime === null && looksLikeText(head)) {
      const data = await this.#cache.read(id, limits.mediaTextUnitsMax * 4);
      return textReading(facts, "content", new TextDecoder().decode(data));
    }
    const path = this.#cache.path(id);
    const data = () => this.#cache.read(id, file.bytes);
    const request = { mime: facts.mime ?? "application/octet-stream", msMax, signal };
    const kind = attachment.kind;
    if (kind === "audio" && audio !== null) {
      const transcript =
        audio.kind === "command"
          ? await printed(audio, { file: path, msMax, signal })
          : await transcribe(audio, { ...request, data: await data() });
      return textReading(facts, "transcript", transcript);
    }
    if (kind === "image" && image !== null && image !== "pass") {
      const shown = { path, ...request, data };
      return textReading(facts, "description", await describePicture(image, shown));
    }
    if (kind === "video" && video !== null) {
      if (video.kind === "command")
        return textReading(
          facts,
          "description",
          await printed(video, { file: path, msMax, signal }),
        );
      const frame = await runProgram(video.frame, {
        file: path,
        bytesMax: frameBytesMax,
        msMax,
        signal,
      });
      const mime = sniff(frame);
      if (mime === null || !picturesTaken.has(mime))
        return { ...facts, note: `${oneLine(video.frame.command)} printed no picture` };
      return textReading(
        facts,
        "description",
        await describe(video, { ...request, mime, data: frame }),
      );
    }
    return facts;
  }
}

async function describePicture(
  image: ImageConverter,
  picture: {
    readonly path: string;
    readonly mime: string;
    readonly msMax: number;
    readonly signal: AbortSignal;
    data(): Promise<Uint8Array>;
  },
): Promise<string> {
  const { path: file, msMax, signal, mime } = picture;
  if (image.kind === "command") return printed(image, { file, msMax, signal });
  return describe(image, { data: await picture.data(), mime, msMax, signal });
}

async function printed(
  program: Parameters<typeof runProgram>[0],
  run: Omit<Parameters<typeof runProgram>[1], "bytesMax">,
): Promise<string> {
  const output = await runProgram(program, { ...run, bytesMax: printedBytesMax });
  return new TextDecoder().decode(output);
}

/** The configured converter for the attachment's kind. */
function converterOf({ attachment: { kind } }: MediaItem, settings: MediaSettings): unknown {
  return kind === "file" ? null : settings[kind];
}

/** Identifies a converter, so that another one converts again; a new key does not. */
function fingerprint(converter: unknown): string {
  const { apiKey: _secret, ...rest } = Object(converter) as { apiKey?: unknown };
  const named = typeof converter === "string" ? converter : JSON.stringify(rest);
  return createHash("sha256").update(named).digest("hex").slice(0, 16);
}

/** Describes a mismatch of declared and detected type, or null. */
function typeMismatch(item: MediaItem, file: CachedFile): string | null {
  if (file.mime === null || fits(item.attachment.kind, file.mime)) return null;
  return `announced as ${declaredType(item)}, but it is ${file.mime}`;
}

const declaredType = ({ attachment: { mime, kind } }: MediaItem): string => oneLine(mime ?? kind);

const clean = (text: string, unitsMax: number): string =>
  cut(plainText(cut(text, unitsMax * 2)), unitsMax).trim();

function textReading(
  facts: MediaReading,
  kind: NonNullable<MediaReading["words"]>,
  transcript: string,
): MediaReading {
  const text = clean(transcript, limits.mediaTextUnitsMax);
  if (text === "") return { ...facts, note: "no words in it" };
  const note = transcript.length > limits.mediaTextUnitsMax ? "only its beginning" : facts.note;
  return { ...facts, text, words: kind, note };
}

/**
 * For people and agents: earshot's errors in full, other errors by name, because their text may
 * hold a secret.
 */
function reasonOf(error: unknown): string {
  if (error instanceof EarshotError)
    return oneLine(error.message.replace(/^Cannot .*?: /, ""), noteUnitsMax);
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === "ENOSPC") return "the disk is full";
  return code ?? (error instanceof Error ? error.name : "it failed");
}

/** The bytes of a source that may ignore the signal itself. */
async function* bytesUnlessAborted(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const part = await unlessAborted(reader.next(), signal);
      if (part.done === true) return;
      yield part.value;
    }
  } finally {
    // Not awaited: a stuck source would block here.
    void reader.return?.().then(undefined, () => undefined);
  }
}
