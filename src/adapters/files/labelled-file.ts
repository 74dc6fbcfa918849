/**
 * Labelled rooms on disk, or from standard input, one after the other. Gzip is recognised by its
 * first bytes, not by a name.
 */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { EarshotError } from "../../domain/errors.ts";
import { type LabelledRoom, LabelledRoomReader } from "../../domain/quality/labelled-room.ts";

/**
 * Reads the rooms of a file; `-` is standard input.
 * @throws EarshotError EAR_SCENARIO_INVALID when it cannot be read, or with the line of the first
 * problem.
 */
export async function* readLabelledRooms(path: string): AsyncGenerator<LabelledRoom> {
  const source = path === "-" ? "standard input" : path;
  const reader = new LabelledRoomReader(source);
  let rooms = 0;
  try {
    const input = await unzipped(path === "-" ? process.stdin : createReadStream(path));
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const room = reader.add(text);
      if (room !== null) {
        rooms += 1;
        yield room;
      }
    }
    const last = reader.end();
    if (last !== null) yield last;
    else if (rooms === 0)
      throw new EarshotError(
        "EAR_SCENARIO_INVALID",
        `Cannot measure ${source}: there is no room in it. Its form is in docs/quality.md`,
      );
  } catch (cause) {
    if (cause instanceof EarshotError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EarshotError("EAR_SCENARIO_INVALID", `Cannot read ${source}: ${reason}`, { cause });
  }
}

/** The content of a stream, decompressed if it begins as gzip does (RFC 1952). */
async function unzipped(stream: NodeJS.ReadableStream): Promise<Readable> {
  const chunks = stream[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, Buffer.from(next.value)]);
  }
  const content = Readable.from(rest(head, chunks), { objectMode: false });
  if (head[0] !== 0x1f || head[1] !== 0x8b) return content;
  // An error of either stream ends the other one, and reaches the reader.
  return pipeline(content, createGunzip(), () => undefined);
}

async function* rest(head: Buffer, chunks: AsyncIterator<string | Buffer>) {
  yield head;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
    yield next.value;
}
