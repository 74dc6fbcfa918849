/**
 * Facts of a file
 * ===============
 * What is known of a file, as text: its name, kind and size. Pure.
 */

import { bytes } from "./format.ts";
import { shownName } from "./sanitize.ts";

export type FileKind = "image" | "audio" | "video" | "file";

/** A file of a message, as the daemon describes it. */
export interface AttachedFile {
  /** What its bytes are asked for by; absent: they are not to be had here. */
  readonly id?: string;
  readonly kind: FileKind;
  readonly mime?: string;
  readonly bytes?: number;
  readonly name?: string;
}

const kinds: Readonly<Record<FileKind, string>> = {
  image: "picture",
  audio: "sound",
  video: "video",
  file: "file",
};
/** What a browser draws without running anything. */
const drawn: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** "hat.png", or "Picture" where it has no name. */
export function fileName({ name, kind }: Pick<AttachedFile, "name" | "kind">): string {
  if (name !== undefined && name.trim() !== "") return shownName(name);
  const word = kinds[kind];
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** "picture, 12 kB". */
export function fileFacts({ kind, bytes: size }: Pick<AttachedFile, "kind" | "bytes">): string {
  return size === undefined ? kinds[kind] : `${kinds[kind]}, ${bytes(size)}`;
}

/** Whether it can be shown as a picture here. */
export const isDrawn = ({ id, mime }: AttachedFile): boolean =>
  id !== undefined && mime !== undefined && drawn.has(mime);

/** The kind of a MIME type. */
export function kindOf(mime: string): FileKind {
  const [major] = mime.split("/");
  return major === "image" || major === "audio" || major === "video" ? major : "file";
}

/** The files in a frame; what is none is left out. */
export function filesIn(value: unknown): readonly AttachedFile[] {
  return Array.isArray(value) ? value.filter(isFile) : [];
}

function isFile(value: unknown): value is AttachedFile {
  if (typeof value !== "object" || value === null) return false;
  const { id, kind, mime, bytes: size, name } = value as Record<string, unknown>;
  return (
    typeof kind === "string" &&
    Object.hasOwn(kinds, kind) &&
    [id, mime, name].every((item) => item === undefined || typeof item === "string") &&
    (size === undefined || typeof size === "number")
  );
}
