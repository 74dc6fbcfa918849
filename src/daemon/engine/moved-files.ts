/**
 * Files of a daemon that does not run are given to Restate
 * ========================================================
 * Uploads of the web chat, files of answers, and copies of what agents send, each under the id by which nodes look for
 * it, for as long as it would have been kept. Each is read back. What is there already with the same bytes is left.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { openFileCache } from "../../adapters/media/file-cache.ts";
import { bytesOf, openUploads } from "../../adapters/media/uploads.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports/index.ts";
import type { IngressCall } from "../../engines/restate/calls/ingress-call.ts";
import { createSharedFiles, type FileFacts } from "../../engines/restate/files/shared-files.ts";
import type { Filled } from "../../engines/restate/shared/filling.ts";
import { answerFileId, outgoingFacts, uploadFacts, uploadKeepMs } from "./files.ts";

export interface MovedFilesPorts {
  readonly clock: Pick<Clock, "now">;
  readonly call: IngressCall;
  readonly config: Pick<EarshotConfig, "messages">;
  readonly stateDir: string;
}

export interface MovedFile {
  /** The id by which nodes know it. */
  readonly file: string;
  readonly result: Filled;
  readonly bytes: number;
}

interface StoredFile {
  readonly id: string;
  readonly facts: FileFacts;
  open(): Promise<AsyncIterable<Uint8Array>>;
}

const unused = () => {
  throw new EarshotError("EAR_ASSERT", "Cannot make a file here: they are only read.");
};

async function* storedFiles({
  clock,
  config,
  stateDir,
}: MovedFilesPorts): AsyncGenerator<StoredFile> {
  const now = () => clock.now();
  const uploads = openUploads({ folder: join(stateDir, "uploads"), now, unique: unused });
  for (const upload of await uploads.list()) {
    const { id, owner } = upload;
    const keepMs = uploadKeepMs(upload, config, now());
    if (keepMs <= 0) continue;
    yield {
      id: owner?.of === "answer" ? answerFileId(owner.id) : id,
      facts: uploadFacts(upload, keepMs),
      open: async () => bytesOf(await uploads.open(id)),
    };
  }
  const outgoing = openFileCache(join(stateDir, "outgoing"), unused);
  for (const id of (await outgoing.labels()).keys())
    if ((await outgoing.file(id)) !== null)
      yield { id, facts: outgoingFacts, open: async () => bytesOf(await outgoing.open(id)) };
}

/**
 * @param onMoved called with each
 * @throws EarshotError EAR_STORE_FAILED: it may be called again and goes on with what is missing.
 */
export async function moveFiles(
  ports: MovedFilesPorts,
  onMoved: (moved: MovedFile) => void,
): Promise<void> {
  const files = createSharedFiles(ports.call);
  for await (const { id, facts, open } of storedFiles(ports)) {
    const before = await files.about(id);
    if (before === null) await files.store(id, facts, await open());
    const file = before ?? (await files.about(id));
    if (file === null)
      throw new EarshotError(
        "EAR_STORE_FAILED",
        `Cannot give file ${id} to Restate: it is not there.`,
      );
    // Reads it back: other bytes than were stored are an error.
    for await (const _ of files.read(id, file));
    const isSame = (await hashOf(await open())) === file.sha256;
    const result = !isSame ? "other" : before === null ? "filled" : "same";
    onMoved({ file: id, result, bytes: file.bytes });
  }
}

async function hashOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of source) hash.update(part);
  return hash.digest("hex");
}
