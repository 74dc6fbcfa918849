/**
 * Fetched files under generated names, in a folder that only this user may enter. A file is written
 * to a fresh, unpredictable name and renamed when complete, so a file with its final name is whole.
 * Beside each file lies what was derived from it, so nothing is fetched or converted twice, also
 * across restarts.
 */
import {
  constants,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
} from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import type { MediaReading } from "../../domain/ports/index.ts";
import { headBytes, sniff } from "./sniff.ts";

const readingSchema = z.object({
  text: z.string().nullable(),
  words: z.enum(["transcript", "description", "content", "page"]).nullable(),
  title: z.string().nullable(),
  note: z.string().nullable(),
  mime: z.string().nullable(),
  bytes: z.number().nullable(),
});
const notesSchema = z.object({
  /** Null: nothing was fetched (a page has only a reading). */
  file: z.object({ bytes: z.number().int().min(0), mime: z.string().nullable() }).nullable(),
  /** By converter fingerprint. */
  readings: z.record(z.string(), readingSchema),
});
type Notes = z.infer<typeof notesSchema>;

export interface CachedFile {
  readonly bytes: number;
  /** Detected from its first bytes. */
  readonly mime: string | null;
}

export interface PutOptions {
  readonly bytesMax: number;
  /** Size of all files; the oldest are deleted. */
  readonly totalMax: number;
}

export interface FileCache {
  file(id: string): Promise<CachedFile | null>;
  /**
   * Stores a stream of at most `bytesMax`. Errors of the source are thrown; then nothing is stored.
   * @throws EarshotError EAR_HTTP_REFUSED when it is larger, EAR_STATE_UNSAFE for a folder that
   * others can enter.
   */
  put(id: string, source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<CachedFile>;
  /** The whole file, or its first `bytesMax`. */
  read(id: string, bytesMax: number): Promise<Uint8Array>;
  /** Its path, for a program. */
  path(id: string): string;
  reading(id: string, by: string): Promise<MediaReading | null>;
  note(id: string, by: string, reading: MediaReading): Promise<void>;
  /** Stores a label beside a file, replacing the previous one. */
  label(id: string, words: string): Promise<void>;
  /** The files with their labels; null: no label. */
  labels(): Promise<ReadonlyMap<string, string | null>>;
  /** A stream of a file's bytes. */
  open(id: string): Promise<ReadableStream<Uint8Array>>;
  remove(id: string): Promise<void>;
  prune(before: number, bytesMax: number): Promise<void>;
}

const name = /^[a-z0-9]{1,64}$/;
const notesBytesMax = 1_048_576;
/** Age at which an unfinished file is abandoned. */
const partMsMax = 3_600_000;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/**
 * @param unique returns unpredictable letters and digits
 * @param onPruned called with each file that was too old, or too much. @default nothing
 */
export function openFileCache(
  folder: string,
  unique: () => string,
  onPruned: (id: string) => void = () => undefined,
): FileCache {
  let ready: Promise<void> | null = null;
  /** Total bytes; null: not counted yet. */
  let total: number | null = null;
  const prepared = (): Promise<void> => {
    ready ??= prepareFolder(folder).catch((error: unknown) => {
      ready = null;
      throw error;
    });
    return ready;
  };
  const place = (id: string, ending = ""): string => {
    if (!name.test(id))
      throw new EarshotError("EAR_ASSERT", "Cannot store media: the id is not a file name");
    return join(folder, `${id}${ending}`);
  };
  const notesOf = async (id: string): Promise<Notes> => {
    const empty: Notes = { file: null, readings: {} };
    const raw = await readFile(place(id, ".json"), notesBytesMax).catch(() => null);
    if (raw === null) return empty;
    try {
      return notesSchema.parse(JSON.parse(Buffer.from(raw).toString("utf8")));
    } catch {
      // Torn or foreign: ignored and rewritten.
      return empty;
    }
  };
  /** Writes to a temporary name first: a file with its final name is whole. */
  const put = async (path: string, write: (file: FileHandle) => Promise<void>): Promise<void> => {
    await prepared();
    const part = join(folder, `${unique().toLowerCase()}.part`);
    const file = await open(part, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
    try {
      await write(file);
      await file.close();
      await rename(part, path);
    } catch (error) {
      await file.close().catch(() => undefined);
      await rm(part, { force: true });
      throw error;
    }
  };
  const writeNotes = (id: string, notes: Notes) =>
    put(place(id, ".json"), async (file) => file.writeFile(JSON.stringify(notes)));

  return {
    async file(id) {
      const { file } = await notesOf(id);
      if (file === null) return null;
      const found = await lstat(place(id)).catch(() => null);
      // A link or a torn file is not what was stored.
      return found?.isFile() === true && found.size === file.bytes ? file : null;
    },
    async put(id, source, { bytesMax, totalMax }) {
      let head: Uint8Array = new Uint8Array();
      let bytes = 0;
      await put(place(id), async (file) => {
        for await (const part of source) {
          bytes += part.length;
          if (bytes > bytesMax)
            throw new EarshotError(
              "EAR_HTTP_REFUSED",
              `Cannot store a file: it is larger than ${bytesMax} bytes`,
            );
          if (head.length < headBytes)
            head = Buffer.concat([head, part.subarray(0, headBytes - head.length)]);
          await file.writeFile(part);
        }
      });
      const file = { bytes, mime: sniff(head) };
      await writeNotes(id, { file, readings: {} });
      if (total !== null) total += bytes;
      if (total === null || total > totalMax)
        total = await pruneFolder(folder, 0, totalMax, onPruned, id);
      return file;
    },
    read: (id, bytesMax) => readFile(place(id), bytesMax),
    path: (id) => place(id),
    reading: async (id, by) => {
      const { readings } = await notesOf(id);
      return Object.hasOwn(readings, by) ? (readings[by] as MediaReading) : null;
    },
    async note(id, by, reading) {
      const notes = await notesOf(id);
      await writeNotes(id, { ...notes, readings: { ...notes.readings, [by]: reading } });
    },
    label: (id, words) => put(place(id, ".label"), async (file) => file.writeFile(words)),
    async labels() {
      const names = await namesIn(folder);
      const found = new Map<string, string | null>();
      for (const id of names.filter((file) => name.test(file))) {
        const raw = await readFile(place(id, ".label"), notesBytesMax).catch(() => null);
        found.set(id, raw === null ? null : Buffer.from(raw).toString("utf8"));
      }
      return found;
    },
    async open(id) {
      const file = await open(place(id), O_RDONLY | O_NOFOLLOW);
      return Readable.toWeb(file.createReadStream()) as unknown as ReadableStream<Uint8Array>;
    },
    async remove(id) {
      // The file last: while it exists, what is left is found again.
      for (const ending of [".label", ".json", ""]) await rm(place(id, ending), { force: true });
    },
    async prune(before, bytesMax) {
      total = await pruneFolder(folder, before, bytesMax, onPruned);
    },
  };
}

/**
 * Creates the folder if it is missing, and checks that it is a real directory that only this user
 * can enter.
 */
async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const found = await lstat(folder);
  const me = process.getuid?.();
  const problem = !found.isDirectory()
    ? "it is not a directory"
    : me !== undefined && found.uid !== me
      ? "it belongs to another user"
      : process.platform !== "win32" && (found.mode & 0o077) !== 0
        ? "other users may enter it. Run chmod 700"
        : null;
  if (problem !== null)
    throw new EarshotError("EAR_STATE_UNSAFE", `Cannot store files in ${folder}: ${problem}`);
}

/** Reads a file, never following a link. */
async function readFile(path: string, bytesMax: number): Promise<Uint8Array> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, bytesMax));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Empty when the folder does not exist yet. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

/**
 * Deletes files older than `before` and, above `bytesMax` in total, the oldest; never `spare`.
 * Returns the remaining bytes.
 */
async function pruneFolder(
  folder: string,
  before: number,
  bytesMax: number,
  onPruned: (id: string) => void,
  spare?: string,
): Promise<number> {
  const names = await namesIn(folder);
  const entries = new Map<string, { bytes: number; at: number; names: string[] }>();
  for (const file of names) {
    const path = join(folder, file);
    const found = await lstat(path).catch(() => null);
    if (found === null) continue;
    if (file.endsWith(".part")) {
      if (Date.now() - found.mtimeMs > partMsMax) await rm(path, { force: true });
      continue;
    }
    const id = file.replace(/\..*$/, "");
    const entry = entries.get(id) ?? { bytes: 0, at: 0, names: [] };
    entries.set(id, {
      bytes: entry.bytes + found.size,
      at: Math.max(entry.at, found.mtimeMs),
      names: [...entry.names, file],
    });
  }
  let total = 0;
  for (const { bytes } of entries.values()) total += bytes;
  const oldestFirst = [...entries].sort(([, a], [, b]) => a.at - b.at);
  for (const [id, entry] of oldestFirst) {
    if (id === spare || (entry.at >= before && total <= bytesMax)) continue;
    for (const file of entry.names) await rm(join(folder, file), { force: true, recursive: true });
    total -= entry.bytes;
    onPruned(id);
  }
  return total;
}
