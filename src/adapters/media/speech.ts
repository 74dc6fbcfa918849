/**
 * Text to speech
 * ==============
 * A program is given the text on its standard input and the path of a file to write. The file lies
 * in a folder that is made for it and gone afterwards; it is what its first bytes say.
 */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SpeechConverter } from "../../domain/config/conversation/media.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { SpokenFile } from "../../domain/ports/index.ts";
import { oneLine } from "../../domain/sanitize.ts";
import { runProgram } from "./program.ts";
import { headBytes, sniff } from "./sniff.ts";

const printedBytesMax = 65_536;
const endings: Readonly<Record<string, string>> = {
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "audio/wav": "wav",
  "audio/flac": "flac",
};

/** @throws EarshotError saying what the program did wrong; the signal's reason when it aborts. */
export async function synthesize(
  speech: SpeechConverter,
  text: string,
  limit: { readonly msMax: number; readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<SpokenFile> {
  const { msMax, bytesMax, signal } = limit;
  const ending = endings[speech.mime] ?? "bin";
  const folder = await mkdtemp(join(tmpdir(), "earshot-speech-"));
  const path = join(folder, `answer.${ending}`);
  const wrong = (why: string) =>
    new EarshotError("EAR_HTTP_FAILED", `Cannot speak as ${oneLine(speech.command)} ${why}`);
  try {
    await runProgram(speech, { file: path, input: text, bytesMax: printedBytesMax, msMax, signal });
    const file = await open(path, "r").catch(() => {
      throw wrong("wrote no file");
    });
    try {
      const { size } = await file.stat();
      if (size === 0) throw wrong("wrote an empty file");
      if (size > bytesMax) throw wrong(`wrote more than ${bytesMax} bytes`);
      const data = await file.readFile();
      const mime = sniff(data.subarray(0, headBytes)) ?? speech.mime;
      return { mime, name: `answer.${endings[mime] ?? ending}`, data };
    } finally {
      await file.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
