/**
 * SHA-256
 * =======
 * The hash of FIPS 180-4, in plain arithmetic, because the domain may not import Node's. Used for
 * names of files, and to keep a random code without keeping the code; never for words that people
 * choose, which a fast hash does not hide.
 */
const primes: readonly number[] = (() => {
  const found: number[] = [];
  for (let n = 2; found.length < 64; n += 1) if (found.every((p) => n % p !== 0)) found.push(n);
  return found;
})();
/** The first 32 bits of the fractional part. */
const fraction = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
const roundConstants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const initial = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

const rotated = (value: number, by: number): number => (value >>> by) | (value << (32 - by));

/** UTF-16 units as big-endian pairs of bytes: unlike UTF-8, no two texts share them. */
function padded(text: string): DataView {
  const bytes = text.length * 2;
  const view = new DataView(new ArrayBuffer(Math.ceil((bytes + 9) / 64) * 64));
  for (let index = 0; index < text.length; index += 1)
    view.setUint16(index * 2, text.charCodeAt(index));
  view.setUint8(bytes, 0x80);
  view.setUint32(view.byteLength - 8, Math.floor((bytes * 8) / 2 ** 32));
  view.setUint32(view.byteLength - 4, (bytes * 8) >>> 0);
  return view;
}

function schedule(view: DataView, offset: number, words: Int32Array): void {
  for (let index = 0; index < 16; index += 1) words[index] = view.getInt32(offset + index * 4);
  for (let index = 16; index < 64; index += 1) {
    const early = words[index - 15] as number;
    const late = words[index - 2] as number;
    const small = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const large = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[index] =
      ((words[index - 16] as number) + small + (words[index - 7] as number) + large) | 0;
  }
}

function compress(state: number[], words: Int32Array): void {
  let [a, b, c, d, e, f, g, h] = state as [
    ...[number, number, number, number],
    ...[number, number, number, number],
  ];
  for (let index = 0; index < 64; index += 1) {
    const large = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first =
      (h + large + choice + (roundConstants[index] as number) + (words[index] as number)) | 0;
    const small = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + small + majority) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, index) => {
    state[index] = ((state[index] as number) + value) | 0;
  });
}

/**
 * The 32 bytes of the hash of a text's UTF-16 units (big-endian), so that lone surrogates differ
 * too.
 */
export function sha256(text: string): Uint8Array {
  const view = padded(text);
  const state = [...initial];
  const words = new Int32Array(64);
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    schedule(view, offset, words);
    compress(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((value, index) => {
    digest.setInt32(index * 4, value);
  });
  return new Uint8Array(digest.buffer);
}
