/**
 * Files that agents send
 * ======================
 * Copies them into a folder of the state directory. A path must lead to a plain file inside the
 * agent's folder: links are followed first and what they lead to is checked, so no link leads out, and
 * what is opened is what was checked. An address passes the guarded client: no private address, also
 * not after a redirect. The type is detected from the first bytes.
 */
import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { basename, isAbsolute, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { OutgoingFile, OutgoingFiles, OutgoingSource } from "../../domain/ports/index.ts";
import { oneLine } from "../../domain/sanitize.ts";
import { createHttpClient, type HttpClient } from "../http/http-client.ts";
import { openFileCache } from "./file-cache.ts";
import { headBytes, looksLikeText } from "./sniff.ts";

export interface OutgoingFilesOptions {
  /** Created with the first file. */
  readonly folder: string;
  readonly stateDir: string;
  /** Folders that are closed even inside a workspace: transcripts of other conversations. */
  readonly closed: () => readonly string[];
  readonly now: () => number;
  /** Returns unpredictable letters and digits. */
  readonly unique: () => string;
  /** The absolute path of an agent's folder. */
  readonly folderOf: (workspace: string) => string;
  /** @default the guarded client */
  readonly http?: HttpClient;
  /** Called with copies that are too old, or too many. @default nothing */
  readonly onDeleted?: ((id: string) => void) | undefined;
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const nameUnitsMax = 120;

export function openOutgoingFiles(options: OutgoingFilesOptions): OutgoingFiles {
  const cache = openFileCache(options.folder, options.unique, options.onDeleted);
  const http = options.http ?? createHttpClient();

  async function opened(order: OutgoingSource, signal: AbortSignal) {
    const { source, bytesMax, msMax } = order;
    if (/^https?:/iu.test(source)) {
      const body = await http.stream(source, { signal, msMax, bytesMax });
      const name = basename(decoded(new URL(source).pathname));
      return { name, bytes: body as unknown as AsyncIterable<Uint8Array> };
    }
    const path = await checkedPath(order, options);
    return { name: basename(path), bytes: plainFile(path, bytesMax) };
  }

  return {
    async take(order, signal): Promise<OutgoingFile> {
      const { bytesMax, totalMax } = order;
      const { name, bytes: source } = await opened(order, signal);
      const id = options.unique().toLowerCase();
      const { bytes, mime } = await cache.put(id, source, { bytesMax, totalMax });
      if (bytes === 0) {
        await cache.remove(id);
        throw new EarshotError("EAR_INBOUND_INVALID", "Cannot send the file: it is empty");
      }
      await cache.prune(options.now() - limits.outgoingMsMax, totalMax);
      const isText = mime === null && looksLikeText(await cache.read(id, headBytes));
      const type = mime ?? (isText ? "text/plain" : "application/octet-stream");
      return { id, name: oneLine(name, nameUnitsMax) || "file", mime: type, bytes };
    },
    async keep(text, { totalMax }) {
      const id = options.unique().toLowerCase();
      const data = Buffer.from(text);
      await cache.put(id, once(data), { bytesMax: data.length, totalMax });
      await cache.prune(options.now() - limits.outgoingMsMax, totalMax);
      return { id, name: "answer.md", mime: "text/markdown", bytes: data.length };
    },
    async read(id) {
      const file = await cache.file(id);
      return file === null ? null : cache.read(id, file.bytes);
    },
  };
}

const unsafe = (why: string) => new EarshotError("EAR_STATE_UNSAFE", `Cannot send a file: ${why}`);

/**
 * The real path of a file in the agent's folder.
 * @throws EarshotError EAR_STATE_UNSAFE
 */
async function checkedPath(
  { source, workspace }: OutgoingSource,
  { folderOf, stateDir, closed }: OutgoingFilesOptions,
): Promise<string> {
  const given = /^file:/iu.test(source) ? pathOf(source) : source;
  if (/^[a-z][a-z0-9+.-]+:/iu.test(given) || given.includes("\0"))
    throw unsafe("only paths in your workspace, http and https are allowed");
  const folder = folderOf(workspace);
  const real = async (path: string) =>
    realpath(path).catch((error: NodeJS.ErrnoException) => {
      throw unsafe(error.code === "ELOOP" ? "its links go in a circle" : "there is no such file");
    });
  const path = await real(resolve(folder, given));
  const root = await real(folder);
  if (!isInside(root, path)) throw unsafe("it is outside your workspace");
  // A workspace around the state directory does not open it.
  const state = await real(stateDir);
  if (isInside(state, path) && !isInside(state, root)) throw unsafe("it is in the state directory");
  for (const one of closed())
    if (isInside(await realpath(one).catch(() => one), path))
      throw unsafe("transcripts cannot be sent");
  return path;
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw unsafe("its file address is not valid");
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The bytes of a plain file: no link, no pipe, no device, and the one that was checked. */
async function* plainFile(path: string, bytesMax: number): AsyncGenerator<Uint8Array> {
  // O_NONBLOCK, because opening a pipe would wait for a writer.
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => {
    throw unsafe("it cannot be opened");
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw unsafe("it is not a plain file");
    if (found.size > bytesMax) throw unsafe(`it is larger than ${bytesMax} bytes`);
    // A folder on the way may have become a link since the check.
    const now = await realpath(path).then(
      (again) => (again === path ? stat(again) : null),
      () => null,
    );
    if (now === null || now.ino !== found.ino || now.dev !== found.dev)
      throw unsafe("it was replaced meanwhile");
    yield* file.createReadStream({ autoClose: false });
  } finally {
    await file.close();
  }
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
