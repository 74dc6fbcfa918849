/**
 * Files of all nodes
 * ==================
 * What this node takes or makes is in Restate, too, before anything names it: uploads of the web chat, files of answers
 * there, and copies of files that agents send. So any node has each of them, also when the one that took it is gone. A
 * file that is not here is looked for there, and its bytes are read once into a folder of this node. Whether it is kept
 * any longer, and what it belongs to, Restate knows: an upload has one message, whichever nodes want it.
 *
 * A node deletes in Restate what it deletes of its own folder. What a dead node has left is deleted by its time.
 */
import { join } from "node:path";
import { z } from "zod";
import { type FileCache, openFileCache } from "../../adapters/media/file-cache.ts";
import {
  bytesOf,
  labelOf,
  ownerSchema,
  sameOwner,
  type Upload,
  type UploadOwner,
  type Uploads,
  type UploadsElsewhere,
  uploadOf,
} from "../../adapters/media/uploads.ts";
import { sha256 } from "../../adapters/system/digest.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Clock, Log, OutgoingFile, OutgoingFiles } from "../../domain/ports/index.ts";
import { ingressCaller } from "../../engines/restate/calls/ingress-call.ts";
import { createSharedFiles, type SharedFiles } from "../../engines/restate/files/shared-files.ts";

export interface NodeFilesPorts {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Log;
  readonly config: () => EarshotConfig;
  readonly stateDir: string;
  /** Returns unpredictable letters and digits. */
  readonly unique: () => string;
}

/** Files of a node and of the others. */
export interface NodeFiles {
  /** What the node's own uploads are given to. */
  readonly elsewhere: UploadsElsewhere;
  /** The node's own uploads and those of the others. */
  uploads(own: Uploads): Uploads;
  /** The node's own copies and those of the others. */
  outgoing(own: OutgoingFiles): OutgoingFiles;
  /** A copy was deleted here. */
  outgoingDeleted(id: string): void;
}

/** Ids of files are names of files here. */
const isId = (id: string) => /^[a-z0-9]{1,64}$/.test(id);

/** The file of a part of an answer has the same id wherever it is made again. */
export const answerFileId = (part: string): string => sha256(`answer ${part}`).slice(0, 40);

const ownerText = (owner: UploadOwner) => JSON.stringify([owner.of, owner.id]);

const ownerTextSchema = z.tuple([ownerSchema.shape.of, ownerSchema.shape.id]);

function ownerOf(text: string | null): UploadOwner | null {
  if (text === null) return null;
  const [of, id] = ownerTextSchema.parse(JSON.parse(text));
  return { of, id };
}

/** An upload as it is kept in Restate, which knows its owner. */
export const uploadFacts = (upload: Upload, keepMs: number) => ({
  label: labelOf({ ...upload, owner: null }),
  owner: upload.owner === null ? null : ownerText(upload.owner),
  keepMs,
});

/** How long an upload is kept from `now` on, ms. */
export function uploadKeepMs(
  { at, owner }: Upload,
  config: Pick<EarshotConfig, "messages">,
  now: number,
): number {
  return (
    at + (owner === null ? limits.uploadUnsentMsMax : config.messages.dedupe.retentionMs) - now
  );
}

/** Copies of an agent's files, as they are kept in Restate. */
export const outgoingFacts = { label: "outgoing", owner: null, keepMs: limits.outgoingMsMax };

/** The files of the nodes that the config names. */
export function createNodeFiles(ports: NodeFilesPorts): NodeFiles {
  const { clock, log, config, stateDir, unique } = ports;
  const ingress = config().engine.ingress.replace(/\/$/u, "");
  const files = createSharedFiles(
    ingressCaller(ingress),
    ingressCaller(ingress, engineLimits.fileLookMsMax),
  );
  const copies = openFileCache(join(stateDir, "copies"), unique);
  const parts = { clock, log, config, files, copies, fetch: fetcher(files, copies, config) };
  const erase = (id: string, owned: boolean) =>
    void files
      .erase(id, owned)
      .catch((error: unknown) => log("debug", "files.unerased", { id, error: String(error) }));
  return {
    elsewhere: {
      store: (upload, bytes) => storeUpload(parts, upload, bytes),
      // One that was not sent from here may have been from another node.
      deleted: ({ id, owner }) => erase(id, owner !== null),
    },
    uploads: (own) => sharedUploads(parts, own),
    outgoing: (own) => sharedOutgoing(parts, own),
    outgoingDeleted: (id) => erase(id, true),
  };
}

interface Parts {
  readonly clock: NodeFilesPorts["clock"];
  readonly log: Log;
  readonly config: () => EarshotConfig;
  readonly files: SharedFiles;
  readonly copies: FileCache;
  /** Reads a file into the folder of copies. False: no node has it. */
  readonly fetch: (id: string) => Promise<boolean>;
}

function fetcher(files: SharedFiles, copies: FileCache, config: () => EarshotConfig) {
  /** Files that are being read: one that is asked for again meanwhile is read once. */
  const underWay = new Map<string, Promise<boolean>>();
  async function fetch(id: string): Promise<boolean> {
    // Asked each time: it may have been deleted since it was read.
    const file = await files.about(id);
    if (file === null) {
      await copies.remove(id);
      return false;
    }
    if ((await copies.file(id))?.bytes === file.bytes) return true;
    const { storeBytesMax: totalMax } = config().media;
    try {
      await copies.put(id, files.read(id, file), { bytesMax: file.bytes, totalMax });
    } catch (error) {
      const { code } = Object(error) as { readonly code?: unknown };
      if (error instanceof EarshotError) throw error;
      throw new EarshotError(
        code === "ENOSPC" ? "EAR_STORE_FULL" : "EAR_STORE_FAILED",
        `Cannot copy a file from another node: the file system failed (${String(code)})`,
        { cause: error },
      );
    }
    return true;
  }
  return (id: string): Promise<boolean> => {
    const before = underWay.get(id);
    if (before !== undefined) return before;
    const work = fetch(id).finally(() => underWay.delete(id));
    underWay.set(id, work);
    return work;
  };
}

function storeUpload(
  { clock, config, files }: Parts,
  upload: Upload,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const facts = uploadFacts(upload, uploadKeepMs(upload, config(), clock.now()));
  return files.store(upload.id, facts, bytes);
}

function sharedUploads(parts: Parts, own: Uploads): Uploads {
  const { clock, log, config, files, copies, fetch } = parts;
  /** Until then nothing is asked about answers, as Restate did not answer. */
  let quietUntil = Number.NEGATIVE_INFINITY;

  async function elsewhere(id: string): Promise<Upload | null> {
    const file = isId(id) ? await files.about(id) : null;
    const upload = file === null ? null : uploadOf(id, file.label);
    return upload === null ? null : { ...upload, owner: ownerOf(file?.owner ?? null) };
  }

  /** One of an older version, or of a daemon that had no other nodes, is only here. */
  async function share(upload: Upload): Promise<void> {
    await storeUpload(parts, upload, bytesOf(await own.open(upload.id)));
  }

  async function give(upload: Upload, owner: UploadOwner): Promise<Upload> {
    const given = { ...upload, owner };
    const keepMs = uploadKeepMs(given, config(), clock.now());
    const ask = () => files.own(upload.id, ownerText(owner), keepMs);
    let owned = await ask();
    if (owned === "gone" && (await own.find(upload.id)) !== null) {
      await share({ ...upload, owner: null });
      owned = await ask();
    }
    if (owned !== "owned") throw noLongerHere();
    return given;
  }

  return {
    ...own,
    keep: (source, terms) => {
      const { owner } = terms;
      return own.keep(source, {
        ...terms,
        ...(owner?.of === "answer" && { id: answerFileId(owner.id) }),
      });
    },
    find: async (id) => (await own.find(id)) ?? elsewhere(id),
    async send(ids, message) {
      const owner = { of: "message", id: message } as const;
      const wanted = await Promise.all(
        [...new Set(ids)].map(async (id) => (await own.find(id)) ?? elsewhere(id)),
      );
      const uploads = wanted.map((upload) => {
        const isFree = upload?.owner === null || (upload && sameOwner(upload.owner, owner));
        if (upload === null || !isFree) throw noLongerHere();
        return upload;
      });
      const given = await Promise.all(uploads.map((upload) => give(upload, owner)));
      const here = await Promise.all(given.map(({ id }) => own.find(id)));
      await own.send(
        here.flatMap((upload) => (upload === null ? [] : [upload.id])),
        message,
      );
      return given;
    },
    async ofAnswer(part, hint) {
      const here = await own.ofAnswer(part);
      if (here.length > 0) return here;
      const id = answerFileId(part);
      if (hint === undefined) return listOf(await elsewhere(id));
      const { media, spoken } = hint;
      if (media === null && !spoken) return [];
      try {
        if (clock.monotonic() >= quietUntil) return listOf(await elsewhere(id));
      } catch (error) {
        quietUntil = clock.monotonic() + engineLimits.fileLookAgainMs;
        log("warn", "files.unknown", { id, error: String(error) });
      }
      // Who asks for it is given the reason then.
      return media === null ? [] : [announced(id, media, clock.now())];
    },
    async open(id) {
      if ((await own.find(id)) !== null) return own.open(id);
      if (isId(id) && (await fetch(id))) return copies.open(id);
      throw new EarshotError(
        "EAR_INBOUND_INVALID",
        "Cannot read the file: no node has it any more",
      );
    },
    async drop(id) {
      // Here it may look unsent that was sent through another node.
      const file = isId(id) ? await files.about(id) : null;
      if (file !== null && !(await files.erase(id, false))) return false;
      return (await own.drop(id)) || file !== null;
    },
    async deleteOld(sentBefore, bytesMax) {
      await own.deleteOld(sentBefore, bytesMax);
      await copies.prune(sentBefore, bytesMax);
    },
  };
}

const listOf = (upload: Upload | null): readonly Upload[] => (upload === null ? [] : [upload]);

const noLongerHere = () =>
  new EarshotError(
    "EAR_INBOUND_INVALID",
    "Cannot send this message: one of its files is no longer here. Attach it again",
  );

/** The file of an answer as its row has it. */
function announced(
  id: string,
  { mime, name, bytes }: { mime: string; name: string; bytes: number },
  at: number,
): Upload {
  const [major] = mime.split("/");
  const kind = major === "image" || major === "audio" || major === "video" ? major : "file";
  return { id, kind, mime, bytes, name, at, owner: null };
}

function sharedOutgoing({ files, copies, fetch }: Parts, own: OutgoingFiles): OutgoingFiles {
  /** The row that names it is stored afterwards. */
  async function stored(file: OutgoingFile): Promise<OutgoingFile> {
    const data = await own.read(file.id);
    if (data === null)
      throw new EarshotError("EAR_STORE_FAILED", "Cannot send the file: its copy is gone");
    await files.store(file.id, outgoingFacts, once(data));
    return file;
  }
  return {
    take: async (source, signal) => stored(await own.take(source, signal)),
    keep: async (text, options) => stored(await own.keep(text, options)),
    async read(id) {
      const here = await own.read(id);
      if (here !== null || !isId(id) || !(await fetch(id))) return here;
      return copies.read(id, Number.POSITIVE_INFINITY);
    },
  };
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
