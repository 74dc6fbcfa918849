/** A real picture without a library: a PNG of a sky over a field (https://www.w3.org/TR/png-3/). */
import { crc32, deflateSync } from "node:zlib";

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const edges = Buffer.alloc(8);
  edges.writeUInt32BE(data.length, 0);
  edges.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([edges.subarray(0, 4), body, edges.subarray(4)]);
}

/** The bytes of a PNG of this size in points; the same ones each time. */
export function samplePicture(width: number, height: number): Buffer {
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const ground = height * (0.66 + 0.08 * Math.sin((x / width) * 7));
      const isSun = Math.hypot(x - width * 0.72, y - height * 0.3) < height * 0.12;
      const fade = Math.round((y / height) * 90);
      const sky = isSun ? [255, 214, 110] : [110 + fade, 160 + Math.round(fade / 2), 230];
      const point = y > ground ? [60, 120 - Math.round(fade / 3), 70] : sky;
      rows.set(point, y * (width * 3 + 1) + 1 + x * 3);
    }
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 2, 0, 0, 0], 8);
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [
    chunk("IHDR", size),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([mark, ...parts]);
}
