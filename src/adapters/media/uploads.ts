/**
 * Uploads
 * =======
 * Files that pages give to the webchat, on a shelf of their own under names that nobody can guess.
 * A file first belongs to nobody, then to the one message it was sent with; which one is written
 * beside it before the message is taken, so a restart between the two loses nothing and a message
 * that is sent again has the same files. What was never sent, or is too old, is swept.
 *
 * What a page says of a file is data: its name is only shown, and its type is what its first bytes
 * say.
 */
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { type Attachment, attachmentSchema, type Millis } from "../../domain/message.ts";
import { oneLine } from "../../domain/sanitize.ts";
import { openFileCache } from "./file-cache.ts";
import { fits, headBytes, looksLikeText } from "./sniff.ts";

const ownerSchema = z.object({ of: z.enum(["message", "answer"]), id: z.string().min(1) });
const labelSchema = z.object({
  kind: attachmentSchema.shape.kind,
  mime: z.string(),
  bytes: z.number().int().min(0),
  name: z.string().nullable(),
  /** When it came, ms since the epoch. */
  at: z.number(),
  /** A person's message or a part of an answer; null: it was sent with none yet. */
  owner: ownerSchema.nullable(),
});

export type UploadOwner = z.infer<typeof ownerSchema>;
export interface Upload extends z.infer<typeof labelSchema> {
  readonly id: string;
}

export interface UploadTerms {
  /** As the page calls it. */
  readonly name: string;
  /** What the page says it is; empty: nothing. */
  readonly declared: string;
  readonly bytesMax: number;
  /** Of all uploads; the oldest make room. */
  readonly totalMax: number;
  /** Whose it is from the beginning. @default nobody's */
  readonly owner?: UploadOwner;
}

export interface Uploads {
  /**
   * Keeps a file. Throws what the source throws; nothing is left then.
   * @throws EarshotError EAR_HTTP_REFUSED when it is larger than it may be, EAR_INBOUND_INVALID
   * when it is empty, EAR_CHANNEL_REJECTED when it is not what it was announced as.
   */
  keep(source: AsyncIterable<Uint8Array>, terms: UploadTerms): Promise<Upload>;
  find(id: string): Promise<Upload | null>;
  /**
   * Gives files to the message they are sent with; once more is no change.
   * @throws EarshotError EAR_INBOUND_INVALID when one is not here or another message has it.
   */
  send(ids: readonly string[], message: string): Promise<readonly Upload[]>;
  /** The files of a message or an answer, as far as they are kept. */
  of(owner: UploadOwner): Promise<readonly Upload[]>;
  /** The bytes of a file that was found. */
  open(id: string): Promise<ReadableStream<Uint8Array>>;
  /** Forgets a file that was not sent. False: there is no such one. */
  drop(id: string): Promise<boolean>;
  /** Forgets what was sent before that moment, what was not sent for long, and what is too much. */
  sweep(sentBefore: Millis, bytesMax: number): Promise<void>;
}

export interface UploadOptions {
  /** Created with the first file. */
  readonly folder: string;
  readonly now: () => Millis;
  /** Letters and digits nobody can foresee. */
  readonly unique: () => string;
}

const nameUnitsMax = 120;

/** Opens the uploads of a folder; what lies there is read when it is first needed. */
export function openUploads({ folder, now, unique }: UploadOptions): Uploads {
  const shelf = openFileCache(folder, unique);
  let loading: Promise<Map<string, Upload>> | null = null;
  const all = (): Promise<Map<string, Upload>> => {
    loading ??= load(shelf).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };

  /** Known by its new owner at once: two messages that ask for it at the same time do not get it. */
  async function give(
    known: Map<string, Upload>,
    upload: Upload,
    owner: UploadOwner,
  ): Promise<Upload> {
    const given = { ...upload, owner };
    known.set(upload.id, given);
    await label(shelf, given).catch((error: unknown) => {
      known.set(upload.id, upload);
      throw error;
    });
    return given;
  }
  async function forget(upload: Upload): Promise<void> {
    (await all()).delete(upload.id);
    await shelf.remove(upload.id);
  }
  async function sweep(sentBefore: Millis, bytesMax: number, spare?: string): Promise<void> {
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
    async keep(source, { name, declared, bytesMax, totalMax, owner = null as UploadOwner | null }) {
      const known = await all();
      const id = unique().toLowerCase();
      const anySize = Number.POSITIVE_INFINITY;
      const { bytes, mime } = await shelf.put(id, source, { bytesMax, totalMax: anySize });
      try {
        const is = whatIs(await shelf.read(id, headBytes), mime, declared);
        const upload = { id, ...is, bytes, name: nameOf(name), at: now(), owner };
        await label(shelf, upload);
        known.set(id, upload);
        await sweep(Number.NEGATIVE_INFINITY, totalMax, id);
        return upload;
      } catch (error) {
        await shelf.remove(id);
        throw error;
      }
    },
    find: async (id) => (await all()).get(id) ?? null,
    async send(ids, message) {
      const known = await all();
      const owner = { of: "message", id: message } as const;
      const uploads = [...new Set(ids)].map((id) => {
        const upload = known.get(id);
        if (upload !== undefined && (upload.owner === null || sameOwner(upload.owner, owner)))
          return upload;
        throw new EarshotError(
          "EAR_INBOUND_INVALID",
          "Cannot send this as a file of it is not here any more: attach it again",
        );
      });
      return Promise.all(
        uploads.map((upload) => (upload.owner === null ? give(known, upload, owner) : upload)),
      );
    },
    async of(owner) {
      const uploads = [...(await all()).values()];
      return uploads.filter((one) => one.owner !== null && sameOwner(one.owner, owner));
    },
    open: (id) => shelf.open(id),
    async drop(id) {
      const upload = (await all()).get(id);
      if (upload === undefined || upload.owner !== null) return false;
      await forget(upload);
      return true;
    },
    sweep,
  };
}

const sameOwner = (a: UploadOwner, b: UploadOwner): boolean => a.of === b.of && a.id === b.id;

type Shelf = ReturnType<typeof openFileCache>;

const label = (shelf: Shelf, { id, ...about }: Upload): Promise<void> =>
  shelf.label(id, JSON.stringify(about));

/** What lies there. A file that nothing is known of was never whole for anybody. */
async function load(shelf: Shelf): Promise<Map<string, Upload>> {
  const known = new Map<string, Upload>();
  for (const [id, words] of await shelf.labels()) {
    const about = words === null ? null : labelSchema.safeParse(parsed(words));
    const file = await shelf.file(id);
    if (about?.success === true && file !== null) known.set(id, { id, ...about.data });
    else await shelf.remove(id);
  }
  return known;
}

function parsed(words: string): unknown {
  try {
    return JSON.parse(words);
  } catch {
    // Torn: as if there were none.
    return null;
  }
}

/** A name as it is shown: what stands behind the last slash of either kind. */
function nameOf(name: string): string | null {
  const last = name.split(/[/\\]/u).at(-1) ?? "";
  return oneLine(last, nameUnitsMax) || null;
}

type Kind = Attachment["kind"];

/** What a file is by its first bytes; its announcement only chooses between what they allow. */
function whatIs(
  head: Uint8Array,
  sniffed: string | null,
  declared: string,
): { readonly kind: Kind; readonly mime: string } {
  if (head.length === 0)
    throw new EarshotError("EAR_INBOUND_INVALID", "Cannot take the file as it is empty");
  const announced = kindOf(declared);
  const isText = sniffed === null && looksLikeText(head);
  const mime = sniffed ?? (isText ? "text/plain" : "application/octet-stream");
  // A drawing in words is text like any other.
  const isDrawing = /^image\/svg\b/iu.test(declared) && isText;
  const lies = announced !== "file" && (isText || (sniffed !== null && !fits(announced, sniffed)));
  if (lies && !isDrawing)
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      `Cannot take the file as it was announced as ${oneLine(declared)}, but it is ${mime}`,
    );
  if (sniffed === null) return { kind: "file", mime };
  return { kind: announced === "file" ? kindOf(sniffed) : announced, mime };
}

function kindOf(mime: string): Kind {
  const [major] = mime.trim().toLowerCase().split("/");
  return major === "image" || major === "audio" || major === "video" ? major : "file";
}
