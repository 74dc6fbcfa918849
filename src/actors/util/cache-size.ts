/**
 * The size of a text in memory, for caches that are bounded in bytes.
 */
const wide = /[^\0-\xff]/;

/** Bytes of a text's characters in memory: V8 keeps one each while all are below 256, and else two. */
export const bytesOfText = (text: string): number => text.length * (wide.test(text) ? 2 : 1);
