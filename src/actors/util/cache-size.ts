/**
 * The sizes of what caches hold
 * =============================
 * An LRU cache of at most so many entries takes memory as it fills. With `max`, lru-cache allocates all entries
 * when it is made: 0.7 ms and 240 kB for 10,000 of them, which most daemons and rooms never need.
 */
const one = () => 1;

const wide = /[^\0-\xff]/;

/** Bytes of a text's characters in memory: V8 keeps one each while all are below 256, and else two. */
export const bytesOfText = (text: string): number => text.length * (wide.test(text) ? 2 : 1);

/** Options for a cache of at most this many entries. */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: one });
