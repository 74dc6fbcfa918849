/**
 * Image dimensions
 * ================
 * Read from the few header bytes that hold them, without decoding: a model's endpoint refuses a
 * call whose image is too large or broken, and with it the turn. Formats:
 * https://www.w3.org/TR/png-3, https://www.w3.org/Graphics/JPEG/itu-t81.pdf (B.2.2),
 * https://www.w3.org/Graphics/GIF/spec-gif89a.txt,
 * https://developers.google.com/speed/webp/docs/riff_container.
 */

export interface PictureSize {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** The dimensions in a PNG, JPEG, GIF or WebP header; null: none found. */
export function pictureSize(data: Uint8Array, mime: string): PictureSize | null {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const size = readSize(bytes, mime);
  return size === null || size.width === 0 || size.height === 0 ? null : size;
}

function readSize(bytes: Buffer, mime: string): PictureSize | null {
  if (mime === "image/png" && bytes.length >= 24)
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (mime === "image/gif" && bytes.length >= 10)
    return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  if (mime === "image/webp" && bytes.length >= 30) return webpSize(bytes);
  return mime === "image/jpeg" ? jpegSize(bytes) : null;
}

function webpSize(bytes: Buffer): PictureSize | null {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}

/** Follows the markers to the frame header, which holds the dimensions. */
function jpegSize(bytes: Buffer): PictureSize | null {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // A fill byte, or a marker without a segment.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return null;
}
