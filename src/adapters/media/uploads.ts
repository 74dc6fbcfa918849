/**
 * Files that pages upload to the webchat, in a cache of their own under unguessable names. A file
 * first has no owner, then belongs to the one message it is sent with; the owner is stored before
 * the message is accepted, so a restart in between loses nothing and a repeated message gets the
 * same files. Uploads that were never sent, or are too old, are deleted.
 *
 * A page's description of a file is untrusted: the name is only shown, and the type is detected
 * from the first bytes.
 */
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { type Attachment, attachmentSchema, type Millis } from "../../domain/message.ts";
import type { OutgoingMedia } from "../../domain/outgoing.ts";
import { oneLine } from "../../domain/sanitize.ts";
import { type FileCache, openFileCache } from "./file-cache.ts";
import { fits, headBytes, looksLikeText } from "./sniff.ts";

/** The message or the part of an answer that an upload belongs to. */
export const ownerSchema = z.object({ of: z.enum(["message", "answer"]), id: z.string().min(1) });
const labelSchema = z.object({
  kind: attachmentSchema.shape.kind,
  mime: z.string(),
  bytes: z.number().int().min(0),
  name: z.string().nullable(),
  /** Upload time, ms since the epoch. */
  at: z.number(),
  /** The message or answer part it belongs to; null: not sent yet. */
  owner: ownerSchema.nullable(),
});

export type UploadOwner = z.infer<typeof ownerSchema>;
export interface Upload extends z.infer<typeof labelSchema> {
  /** Letters and digits. */
  readonly id: string;
}

/** Where uploads are kept besides this folder. */
export interface UploadsElsewhere {
  /** Stores a file that was just completed, and is not known here before. */
  store(upload: Upload, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** It was deleted here. */
  deleted(upload: Upload): void;
}

export interface UploadTerms {
  readonly name: string;
  /** The type declared by the page; empty: none. */
  readonly declared: string;
  readonly bytesMax: number;
  /** Size of all uploads; the oldest are deleted. */
  readonly totalMax: number;
  /** Its initial owner. @default none */
  readonly owner?: UploadOwner;
  /** Its id, which no other has. @default an unguessable one */
  readonly id?: string;
}

/** What is known of a part of an answer. */
export interface AnswerHint {
  /** The file that it is; null: it is a text. */
  readonly media: Pick<OutgoingMedia, "mime" | "name" | "bytes"> | null;
  /** It may have been spoken, too. */
  readonly spoken: boolean;
}

export interface Uploads {
  /**
   * Stores a file. Errors of the source are thrown; then nothing is stored.
   * @throws EarshotError EAR_HTTP_REFUSED when it is too large, EAR_INBOUND_INVALID when it is
   * empty, EAR_CHANNEL_REJECTED when its content contradicts the declared type.
   */
  keep(source: AsyncIterable<Uint8Array>, terms: UploadTerms): Promise<Upload>;
  find(id: string): Promise<Upload | null>;
  /** All that are in the folder. */
  list(): Promise<readonly Upload[]>;
  /**
   * Assigns files to the message they are sent with; idempotent.
   * @throws EarshotError EAR_INBOUND_INVALID when a file is gone or belongs to another message.
   */
  send(ids: readonly string[], message: string): Promise<readonly Upload[]>;
  /**
   * The stored files of a part of an answer.
   * @param hint whether it may have files that are not in this folder. @default it may
   */
  ofAnswer(part: string, hint?: AnswerHint): Promise<readonly Upload[]>;
  /** A stream of a file's bytes. */
  open(id: string): Promise<ReadableStream<Uint8Array>>;
  /** Deletes an unsent file. False: there is no such file. */
  drop(id: string): Promise<boolean>;
  /**
   * Deletes files sent before that time, files unsent for too long, and the oldest above
   * `bytesMax`.
   */
  deleteOld(sentBefore: Millis, bytesMax: number): Promise<void>;
}

export interface UploadOptions {
  /** Created with the first file. */
  readonly folder: string;
  readonly now: () => Millis;
  /** Returns unpredictable letters and digits. */
  readonly unique: () => string;
  /** @default nowhere */
  readonly elsewhere?: UploadsElsewhere | undefined;
}

const nameUnitsMax = 120;

/** Opens the uploads of a folder, which is read on first use. */
export function openUploads({ folder, now, unique, elsewhere }: UploadOptions): Uploads {
  const cache = openFileCache(folder, unique);
  let loading: Promise<Map<string, Upload>> | null = null;
  const all = (): Promise<Map<string, Upload>> => {
    loading ??= load(cache).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };

  /** The owner changes synchronously: of two concurrent messages with the same file, one fails. */
  async function give(
    known: Map<string, Upload>,
    upload: Upload,
    owner: UploadOwner,
  ): Promise<Upload> {
    const assigned = { ...upload, owner };
    known.set(upload.id, assigned);
    await label(cache, assigned).catch((error: unknown) => {
      known.set(upload.id, upload);
      throw error;
    });
    return assigned;
  }
  async function forget(upload: Upload): Promise<void> {
    (await all()).delete(upload.id);
    await cache.remove(upload.id);
    elsewhere?.deleted(upload);
  }
  async function deleteOld(sentBefore: Millis, bytesMax: number, spare?: string): Promise<void> {
    const oldestFirst = [...(await all()).values()].sort((a, b) => a.at - b.at);
    const unsentBefore = now() - limits.uploadUnsentMsMax;
    let unsent = oldestFirst.filter(({ owner }) => owner === null).length;
    let total = oldestFirst.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const upload of oldestFirst) {
      const { id, at, owner, bytes } = upload;
      const tooOld = at < (owner === null ? unsentBefore : sentBefore);
      const tooMany = owner === null && unsent > limits.uploadsUnsentMax;
      if (id === spare || !(tooOld || tooMany || total > bytesMax)) continue;
      if (owner === null) unsent -= 1;
      total -= bytes;
      await forget(upload);
    }
  }

  return {
    async keep(source, terms) {
      const { name, declared, bytesMax, totalMax, owner = null } = terms;
      const known = await all();
      const id = terms.id ?? unique().toLowerCase();
      const anySize = Number.POSITIVE_INFINITY;
      const { bytes, mime } = await cache.put(id, source, { bytesMax, totalMax: anySize });
      try {
        const type = detectType(await cache.read(id, headBytes), mime, declared);
        const upload = { id, ...type, bytes, name: nameOf(name), at: now(), owner };
        // Before the label: without one it is deleted at the next start, as it was never completed.
        if (elsewhere !== undefined) await elsewhere.store(upload, bytesOf(await cache.open(id)));
        await label(cache, upload);
        known.set(id, upload);
        await deleteOld(Number.NEGATIVE_INFINITY, totalMax, id);
        return upload;
      } catch (error) {
        await cache.remove(id);
        throw error;
      }
    },
    find: async (id) => (await all()).get(id) ?? null,
    list: async () => [...(await all()).values()],
    async send(ids, message) {
      const known = await all();
      const owner = { of: "message", id: message } as const;
      const uploads = [...new Set(ids)].map((id) => {
        const upload = known.get(id);
        if (upload !== undefined && (upload.owner === null || sameOwner(upload.owner, owner)))
          return upload;
        throw new EarshotError(
          "EAR_INBOUND_INVALID",
          "Cannot send this message: one of its files is no longer here. Attach it again",
        );
      });
      return Promise.all(
        uploads.map((upload) => (upload.owner === null ? give(known, upload, owner) : upload)),
      );
    },
    async ofAnswer(part) {
      const owner = { of: "answer", id: part } as const;
      const uploads = [...(await all()).values()];
      return uploads.filter((one) => one.owner !== null && sameOwner(one.owner, owner));
    },
    open: (id) => cache.open(id),
    async drop(id) {
      const upload = (await all()).get(id);
      if (upload === undefined || upload.owner !== null) return false;
      await forget(upload);
      return true;
    },
    deleteOld,
  };
}

export const sameOwner = (a: UploadOwner, b: UploadOwner): boolean =>
  a.of === b.of && a.id === b.id;

/** What is stored beside the bytes of an upload. */
export const labelOf = ({ id: _, ...rest }: Upload): string => JSON.stringify(rest);

/** The upload with that label; null: it is torn, or none. */
export function uploadOf(id: string, labelText: string): Upload | null {
  const { data } = labelSchema.safeParse(parsed(labelText));
  return data === undefined ? null : { id, ...data };
}

const label = (cache: FileCache, upload: Upload): Promise<void> =>
  cache.label(upload.id, labelOf(upload));

/** The bytes of a stream. */
export const bytesOf = (stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> =>
  stream as unknown as AsyncIterable<Uint8Array>;

/** Loads the folder's uploads. A file without a label was never completed and is deleted. */
async function load(cache: FileCache): Promise<Map<string, Upload>> {
  const known = new Map<string, Upload>();
  for (const [id, labelText] of await cache.labels()) {
    const upload = labelText === null ? null : uploadOf(id, labelText);
    const file = await cache.file(id);
    if (upload !== null && file !== null) known.set(id, upload);
    else await cache.remove(id);
  }
  return known;
}

function parsed(labelText: string): unknown {
  try {
    return JSON.parse(labelText);
  } catch {
    // Torn: treated as missing.
    return null;
  }
}

/** A name for display: the part after the last slash of either kind. */
function nameOf(name: string): string | null {
  const last = name.split(/[/\\]/u).at(-1) ?? "";
  return oneLine(last, nameUnitsMax) || null;
}

type Kind = Attachment["kind"];

/**
 * The type of a file by its first bytes; the declared type only chooses between compatible kinds.
 */
function detectType(
  head: Uint8Array,
  sniffed: string | null,
  declared: string,
): { readonly kind: Kind; readonly mime: string } {
  if (head.length === 0)
    throw new EarshotError("EAR_INBOUND_INVALID", "Cannot accept the file: it is empty");
  const declaredKind = kindOf(declared);
  const isText = sniffed === null && looksLikeText(head);
  const mime = sniffed ?? (isText ? "text/plain" : "application/octet-stream");
  // SVG is text like any other.
  const isDrawing = /^image\/svg\b/iu.test(declared) && isText;
  const mismatch =
    declaredKind !== "file" && (isText || (sniffed !== null && !fits(declaredKind, sniffed)));
  if (mismatch && !isDrawing)
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      `Cannot accept the file: it was declared as ${oneLine(declared)}, but it is ${mime}`,
    );
  if (sniffed === null) return { kind: "file", mime };
  return { kind: declaredKind === "file" ? kindOf(sniffed) : declaredKind, mime };
}

function kindOf(mime: string): Kind {
  const [major] = mime.trim().toLowerCase().split("/");
  return major === "image" || major === "audio" || major === "video" ? major : "file";
}
