/**
 * A sound for tests
 * =================
 * Bytes that any browser can decode and play, and nobody minds to hear.
 */

/**
 * So many seconds of a low tone: a WAV file, one byte a sample
 * (http://soundfile.sapp.org/doc/WaveFormat).
 */
export function tone(seconds: number): Buffer {
  const samples = Buffer.from(
    Array.from({ length: seconds * 8_000 }, (_, at) => 128 + Math.round(40 * Math.sin(at / 3))),
  );
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  for (const [value, at] of [
    [1, 20],
    [1, 22],
    [1, 32],
    [8, 34],
  ] as const)
    head.writeUInt16LE(value, at);
  // Samples a second, and as many bytes.
  for (const at of [24, 28]) head.writeUInt32LE(8_000, at);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
