/**
 * What a file is
 * ==============
 * Told by its first bytes, not by its name and not by what a platform declares: only that decides
 * what is handed to a model or a program. A small table of what rooms send
 * (https://mimesniff.spec.whatwg.org, and the formats' own marks); nothing is decoded.
 */
import { TextDecoder } from "node:util";

/** Bytes that `sniff` looks at. */
export const headBytes = 4_096;

type Mark = readonly [mime: string, offset: number, bytes: string];

/** In Latin-1; the first that fits. */
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

/** Two letters are no proof: text may begin with them. */
const weak: ReadonlySet<string> = new Set(["image/bmp", "application/x-msdownload"]);

/** The type that the first bytes tell, or null when they tell none. */
export function sniff(head: Uint8Array): string | null {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 32)).toString(
    "latin1",
  );
  const found = marks.find(([, offset, bytes]) => text.startsWith(bytes, offset));
  if (found === undefined) return null;
  return weak.has(found[0]) && looksLikeText(head) ? null : found[0];
}

/** Whether bytes are text that people read: UTF-8 without controls. Cut at the end is fine. */
export function looksLikeText(head: Uint8Array): boolean {
  if (head.length === 0) return false;
  // A cut letter at the end is completed by what follows.
  const whole = head.subarray(0, Math.min(head.length, headBytes));
  const text = new TextDecoder("utf-8").decode(whole, { stream: true });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return !/[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]/.test(text);
}

/** Pictures that every model endpoint takes. */
export const picturesTaken: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/** Whether bytes of that type can be what was announced as a picture, a sound or a film. */
export function fits(kind: "image" | "audio" | "video" | "file", mime: string): boolean {
  const [major] = mime.split("/");
  if (kind === "file") return true;
  // Ogg, MP4 and WebM carry sound as well as films, and an animation may be a picture.
  if (kind === "audio") return major === "audio" || major === "video";
  if (kind === "video") return major === "video" || mime === "audio/ogg" || mime === "image/gif";
  return major === "image";
}
