/**
 * SHA-256
 * =======
 * Of a text's UTF-16 units, the high byte first: unlike in UTF-8, no two texts share their bytes,
 * lone surrogates included. What is stored was made so; another encoding would not find it again.
 */
import { createHash } from "node:crypto";
import type { Digest } from "../../domain/ports/index.ts";

export const sha256: Digest = (text) =>
  createHash("sha256").update(Buffer.from(text, "utf16le").swap16()).digest("hex");
