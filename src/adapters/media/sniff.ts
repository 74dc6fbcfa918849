/**
 * File types
 * ==========
 * Detected from the first bytes, not from the name or the declared type: only the detected type
 * decides what is given to a model or a program. A small table of what rooms send
 * (https://mimesniff.spec.whatwg.org, and the formats' own magic numbers); nothing is decoded.
 */
import { TextDecoder } from "node:util";

/** Bytes that `sniff` looks at. */
export const headBytes = 4_096;

type Mark = readonly [mime: string, offset: number, bytes: string];

/** Latin-1 strings; the first match wins. */
const marks: readonly Mark[] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF87a"],
  ["image/gif", 0, "GIF89a"],
  ["image/webp", 8, "WEBPVP"],
  ["image/bmp", 0, "BM"],
  ["image/tiff", 0, "II*\0"],
  ["image/tiff", 0, "MM\0*"],
  ["image/avif", 4, "ftypavif"],
  ["image/heic", 4, "ftyphei"],
  ["image/heic", 4, "ftypmif1"],
  ["audio/mp4", 4, "ftypM4A"],
  ["video/quicktime", 4, "ftypqt"],
  ["video/mp4", 4, "ftyp"],
  ["audio/wav", 8, "WAVE"],
  ["video/x-msvideo", 8, "AVI "],
  ["audio/ogg", 0, "OggS"],
  ["audio/flac", 0, "fLaC"],
  ["audio/mpeg", 0, "ID3"],
  ["audio/mpeg", 0, "\xff\xfb"],
  ["audio/mpeg", 0, "\xff\xf3"],
  ["audio/aac", 0, "\xff\xf1"],
  ["audio/amr", 0, "#!AMR"],
  ["video/webm", 0, "\x1a\x45\xdf\xa3"],
  ["application/pdf", 0, "%PDF-"],
  ["application/zip", 0, "PK\x03\x04"],
  ["application/gzip", 0, "\x1f\x8b"],
  ["application/x-7z-compressed", 0, "7z\xbc\xaf\x27\x1c"],
  ["application/x-executable", 0, "\x7fELF"],
  ["application/x-msdownload", 0, "MZ"],
];

/** Two letters are weak evidence: text may begin with them. */
const weak: ReadonlySet<string> = new Set(["image/bmp", "application/x-msdownload"]);

/** The type detected from the first bytes, or null. */
export function sniff(head: Uint8Array): string | null {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 32)).toString(
    "latin1",
  );
  const found = marks.find(([, offset, bytes]) => text.startsWith(bytes, offset));
  if (found === undefined) return null;
  return weak.has(found[0]) && looksLikeText(head) ? null : found[0];
}

/**
 * Whether bytes are readable text: UTF-8 without control characters. A character cut at the end is
 * accepted.
 */
export function looksLikeText(head: Uint8Array): boolean {
  if (head.length === 0) return false;
  // In stream mode the decoder keeps an incomplete last character.
  const start = head.subarray(0, Math.min(head.length, headBytes));
  const text = new TextDecoder("utf-8").decode(start, { stream: true });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters.
  return !/[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]/.test(text);
}

/** Image types that every model endpoint accepts. */
export const picturesTaken: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/** Whether the detected type is compatible with the declared kind. */
export function fits(kind: "image" | "audio" | "video" | "file", mime: string): boolean {
  const [major] = mime.split("/");
  if (kind === "file") return true;
  // Ogg, MP4 and WebM hold audio or video, and an animation may be a GIF.
  if (kind === "audio") return major === "audio" || major === "video";
  if (kind === "video") return major === "video" || mime === "audio/ogg" || mime === "image/gif";
  return major === "image";
}
