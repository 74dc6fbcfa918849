/**
 * Uploads
 * =======
 * The files attached to the line being written. They are uploaded at once, one after the other,
 * with progress; finished ones survive a reload in the tab's storage. A failed one shows the reason
 * and can be retried. Limits of size and number are checked here before anything is sent.
 */
import { type AttachedFile, type FileKind, filesIn, kindOf } from "../lib/file-facts.ts";
import { bytes } from "../lib/format.ts";

/** How far a file is. */
export type UploadState =
  | { readonly state: "waiting" }
  /** `part`: from 0 to 1. */
  | { readonly state: "going"; readonly part: number }
  | { readonly state: "there"; readonly file: AttachedFile & { readonly id: string } }
  | { readonly state: "failed"; readonly why: string; readonly again: boolean };

export interface Chosen {
  readonly key: string;
  readonly name: string;
  readonly kind: FileKind;
  readonly bytes: number;
  readonly fate: UploadState;
  /** The bytes, while this page has them. */
  readonly blob: Blob | null;
}

export interface UploadsView {
  readonly chosen: readonly Chosen[];
  /** What was not attached, and why; null: nothing. */
  readonly note: string | null;
}

export interface UploadsOptions {
  readonly token: string;
  /** As the daemon says; null: it has not said yet. */
  readonly limits: () => { readonly bytesMax: number; readonly countMax: number } | null;
  readonly changed: (view: UploadsView) => void;
}

const storageKey = "earshot.attached";
const path = "/api/webchat/uploads";
const countMaxDefault = 16;

/** The files of one composer. */
export class Uploads {
  readonly #options: UploadsOptions;
  #chosen: readonly Chosen[] = [];
  #note: string | null = null;
  #count = 0;
  #going: { readonly key: string; readonly request: XMLHttpRequest } | null = null;

  constructor(options: UploadsOptions) {
    this.#options = options;
    this.#chosen = readStored();
  }

  view(): UploadsView {
    return { chosen: this.#chosen, note: this.#note };
  }

  add(files: readonly File[]): void {
    const { bytesMax = Number.POSITIVE_INFINITY, countMax = countMaxDefault } =
      this.#options.limits() ?? {};
    const notes: string[] = [];
    const chosen = [...this.#chosen];
    let tooMany = 0;
    for (const file of files) {
      if (file.size === 0) notes.push(`${file.name} is empty.`);
      else if (file.size > bytesMax)
        notes.push(
          `${file.name} is ${bytes(file.size)}. The limit is ${bytes(bytesMax)} (media.maxBytes).`,
        );
      else if (chosen.length >= countMax) tooMany += 1;
      else chosen.push(this.#chosenOf(file));
    }
    if (tooMany > 0)
      notes.push(`A message can have ${countMax} files. ${tooMany} more were not attached.`);
    this.#set(chosen, notes.length === 0 ? null : notes.join(" "));
    this.#pump();
  }

  /** Says why something was not attached. */
  setNote(note: string): void {
    this.#set(this.#chosen, note);
  }

  remove(key: string): void {
    const gone = this.#chosen.find((item) => item.key === key);
    this.#set(
      this.#chosen.filter((item) => item.key !== key),
      null,
    );
    if (gone?.fate.state === "there") this.#forget(gone.fate.file.id);
    if (this.#going?.key !== key) return;
    this.#going.request.abort();
    this.#going = null;
    this.#pump();
  }

  again(key: string): void {
    this.#put(key, { state: "waiting" });
    this.#pump();
  }

  /** The daemon is there again: what could not reach it goes once more. */
  resume(): void {
    for (const { key, fate } of this.#chosen)
      if (fate.state === "failed" && fate.again) this.#put(key, { state: "waiting" });
    this.#pump();
  }

  /** Takes what is there for a message; only what failed stays. */
  take(): readonly (AttachedFile & { readonly id: string })[] {
    const files = this.#chosen.flatMap(({ fate }) => (fate.state === "there" ? [fate.file] : []));
    this.#set(
      this.#chosen.filter(({ fate }) => fate.state !== "there"),
      null,
    );
    return files;
  }

  close(): void {
    this.#going?.request.abort();
    this.#going = null;
  }

  #chosenOf(file: File): Chosen {
    this.#count += 1;
    const key = `${Date.now()}-${this.#count}`;
    const { name, size, type } = file;
    const fate = { state: "waiting" } as const;
    return { key, name, kind: kindOf(type), bytes: size, fate, blob: file };
  }

  #set(chosen: readonly Chosen[], note: string | null = this.#note): void {
    this.#chosen = chosen;
    this.#note = note;
    store(chosen);
    this.#options.changed(this.view());
  }

  #put(key: string, fate: UploadState): void {
    this.#set(this.#chosen.map((item) => (item.key === key ? { ...item, fate } : item)));
  }

  #pump(): void {
    if (this.#going !== null) return;
    const next = this.#chosen.find(({ fate }) => fate.state === "waiting");
    if (next === undefined || next.blob === null) return;
    const { key, name, blob } = next;
    const request = new XMLHttpRequest();
    this.#going = { key, request };
    this.#put(key, { state: "going", part: 0 });
    request.open("POST", `${path}?name=${encodeURIComponent(name)}`);
    request.setRequestHeader("authorization", `Bearer ${this.#options.token}`);
    request.setRequestHeader("content-type", blob.type || "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      if (this.#going?.request === request)
        this.#put(key, { state: "going", part: loaded / total });
    });
    request.addEventListener("loadend", () => {
      // Taken off: somebody else goes already.
      if (this.#going?.request !== request) return;
      this.#going = null;
      this.#put(key, resultOf(request));
      this.#pump();
    });
    request.send(blob);
  }

  #forget(id: string): void {
    const headers = { authorization: `Bearer ${this.#options.token}` };
    // The daemon removes one that is left over later.
    fetch(`${path}/${id}`, { method: "DELETE", headers }).catch(() => undefined);
  }
}

function resultOf({ status, response }: XMLHttpRequest): UploadState {
  const [file] = filesIn([withoutNull(response)]);
  if (status === 200 && file?.id !== undefined)
    return { state: "there", file: { ...file, id: file.id } };
  const why = messageIn(response);
  if (status === 0) return { state: "failed", why: "earshot is not responding.", again: true };
  return { state: "failed", why: why ?? `earshot responded with ${status}.`, again: status >= 429 };
}

/** A file without a name has none here. */
function withoutNull(response: unknown): unknown {
  if (typeof response !== "object" || response === null) return response;
  return Object.fromEntries(Object.entries(response).filter(([, value]) => value !== null));
}

function messageIn(response: unknown): string | null {
  const { error } = Object(response) as { error?: { message?: unknown } };
  return typeof error?.message === "string" ? error.message : null;
}

function store(chosen: readonly Chosen[]): void {
  const there = chosen.flatMap(({ fate }) => (fate.state === "there" ? [fate.file] : []));
  if (there.length === 0) sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, JSON.stringify(there));
}

function readStored(): readonly Chosen[] {
  let stored: unknown = [];
  try {
    stored = JSON.parse(sessionStorage.getItem(storageKey) ?? "[]");
  } catch {
    // Not ours: as if there were none.
  }
  return filesIn(stored).flatMap((file): Chosen[] => {
    const { id, kind, name = "", bytes: size = 0 } = file;
    if (id === undefined) return [];
    const fate = { state: "there", file: { ...file, id } } as const;
    return [{ key: id, name, kind, bytes: size, fate, blob: null }];
  });
}
