/**
 * Files that any node may read
 * ============================
 * Stores them in Restate piece by piece as they are read, and reads them so: none is ever in memory as a whole. What is
 * read is compared with what was stored.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { answerOf, type IngressCall } from "../calls/ingress-call.ts";
import { filePath, fileSchema, type Owned, ownedSchema, type SharedFile } from "./wire.ts";

/** What is stored with a file. */
export interface FileFacts {
  readonly label: string;
  /** What it belongs to; null: nothing yet. */
  readonly owner: string | null;
  /** How long it is kept from now on, ms. */
  readonly keepMs: Millis;
}

/** Each rejects with EAR_STORE_FAILED where Restate cannot be reached. */
export interface SharedFiles {
  /**
   * Stores a file; resolves when every node can read it.
   * @throws EarshotError EAR_STORE_FAILED also where one of that id is stored; what `source` throws
   */
  store(id: string, facts: FileFacts, source: AsyncIterable<Uint8Array>): Promise<void>;
  /** Null: there is none, or no longer. */
  about(id: string): Promise<SharedFile | null>;
  /**
   * The bytes of the file that `about` has found.
   * @throws EarshotError EAR_STORE_FAILED when it is deleted meanwhile, EAR_STORE_DAMAGED when the bytes are others
   */
  read(id: string, file: SharedFile): AsyncIterable<Uint8Array>;
  /** It belongs to `owner` from now on, and is kept for `keepMs`; repeated, it changes nothing. */
  own(id: string, owner: string, keepMs: Millis): Promise<Owned>;
  /** Deletes it, `owned` also where it belongs to something. False: there was nothing to delete. */
  erase(id: string, owned: boolean): Promise<boolean>;
}

const wholeMs = (ms: Millis) => Math.max(1, Math.ceil(ms));

/** @param look makes the calls that a reader waits for: of a shorter time than `call` */
export function createSharedFiles(call: IngressCall, look: IngressCall = call): SharedFiles {
  return {
    async store(id, { label, owner, keepMs }, source) {
      const hash = createHash("sha256");
      let bytes = 0;
      let pieces = 0;
      for await (const piece of piecesOf(source, engineLimits.filePieceBytes)) {
        if (pieces >= engineLimits.filePiecesMax) throw tooLarge(id);
        hash.update(piece);
        bytes += piece.length;
        await call(filePath(id, "add"), { place: pieces, data: piece.toString("base64") });
        pieces += 1;
      }
      const file: SharedFile = { bytes, pieces, sha256: hash.digest("hex"), label, owner };
      await call(filePath(id, "seal"), { ...file, keepMs: wholeMs(keepMs) });
    },
    async about(id) {
      const path = filePath(id, "about");
      return answerOf(fileSchema.nullable(), await look(path), path);
    },
    async *read(id, { bytes, pieces, sha256 }) {
      const path = filePath(id, "read");
      const hash = createHash("sha256");
      let length = 0;
      for (let place = 0; place < pieces; place += 1) {
        const data = answerOf(z.string().nullable(), await call(path, { place }), path);
        if (data === null)
          throw new EarshotError("EAR_STORE_FAILED", "Cannot read a file: it was just deleted");
        const piece = Buffer.from(data, "base64");
        hash.update(piece);
        length += piece.length;
        yield piece;
      }
      if (length !== bytes || hash.digest("hex") !== sha256)
        throw new EarshotError(
          "EAR_STORE_DAMAGED",
          `Cannot read file ${id}: Restate has other bytes than were stored`,
        );
    },
    async own(id, owner, keepMs) {
      const path = filePath(id, "own");
      return answerOf(ownedSchema, await call(path, { owner, keepMs: wholeMs(keepMs) }), path);
    },
    async erase(id, owned) {
      const path = filePath(id, "erase");
      return answerOf(z.boolean(), await call(path, { owned }), path);
    },
  };
}

const tooLarge = (id: string) =>
  new EarshotError(
    "EAR_HTTP_REFUSED",
    `Cannot store file ${id}: it is larger than ${engineLimits.filePieceBytes * engineLimits.filePiecesMax} bytes`,
  );

/** The bytes of a source in pieces of that size; only the last may be smaller. */
async function* piecesOf(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const part of source) {
    for (let from = 0; from < part.length; ) {
      const next = part.subarray(from, from + size - length);
      waiting.push(next);
      length += next.length;
      from += next.length;
      if (length < size) continue;
      yield Buffer.concat(waiting, length);
      waiting = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(waiting, length);
}
