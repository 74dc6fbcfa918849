/**
 * A program gets the text on its standard input and the path of a file to write, in a temporary
 * folder that is deleted afterwards. The file's type is detected from its first bytes.
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
const extensions: Readonly<Record<string, string>> = {
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "audio/wav": "wav",
  "audio/flac": "flac",
};

/**
 * Synthesizes text.
 * @throws EarshotError when the program fails; the signal's reason when it aborts.
 */
export async function synthesize(
  speech: SpeechConverter,
  text: string,
  limit: { readonly msMax: number; readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<SpokenFile> {
  const { msMax, bytesMax, signal } = limit;
  const extension = extensions[speech.mime] ?? "bin";
  const folder = await mkdtemp(join(tmpdir(), "earshot-speech-"));
  const path = join(folder, `answer.${extension}`);
  const failed = (why: string) =>
    new EarshotError("EAR_HTTP_FAILED", `Cannot speak: ${oneLine(speech.command)} ${why}`);
  try {
    await runProgram(speech, { file: path, input: text, bytesMax: printedBytesMax, msMax, signal });
    const file = await open(path, "r").catch(() => {
      throw failed("wrote no file");
    });
    try {
      const { size } = await file.stat();
      if (size === 0) throw failed("wrote an empty file");
      if (size > bytesMax) throw failed(`wrote more than ${bytesMax} bytes`);
      const data = await file.readFile();
      const mime = sniff(data.subarray(0, headBytes)) ?? speech.mime;
      return { mime, name: `answer.${extensions[mime] ?? extension}`, data };
    } finally {
      await file.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
