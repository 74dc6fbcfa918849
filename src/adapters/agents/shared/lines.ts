/**
 * Lines of a byte stream
 * ======================
 * Splits bytes at line feeds and decodes whole lines, so a character that arrives in two chunks
 * stays one character. Lines are bounded, and invalid UTF-8 is an error.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { oneLine } from "../../../domain/sanitize.ts";

/** The largest event as JSON: escaped text takes at most six bytes per UTF-16 unit. */
export const lineBytesMax = 2_097_152;

/** An error about an agent's output. */
export const agentFailed = (message: string, cause?: unknown): EarshotError =>
  new EarshotError("EAR_AGENT_FAILED", message, cause === undefined ? {} : { cause });

/** An agent's line quoted for an error: one line, sanitised, short. */
export const shown = (line: string): string => JSON.stringify(oneLine(line, 120));

/**
 * The lines of a stream without line ends (LF or CRLF); the last one may lack its end.
 * @throws EarshotError EAR_AGENT_FAILED for a line that is too long or not UTF-8.
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  bytesMax: number = lineBytesMax,
): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let size = 0;
  const take = (part: Uint8Array) => {
    size += part.length;
    if (size > bytesMax)
      throw agentFailed(`Cannot read the agent's answer: a line is over ${bytesMax} bytes`);
    if (part.length > 0) parts.push(part);
  };
  const line = () => {
    const whole = decode(Buffer.concat(parts));
    parts = [];
    size = 0;
    return whole;
  };
  for await (const chunk of bytes) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, from);
      if (end === -1) break;
      take(chunk.subarray(from, end));
      yield line();
      from = end + 1;
    }
    take(chunk.subarray(from));
  }
  if (size > 0) yield line();
}

function decode(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  } catch (cause) {
    const seen = shown(Buffer.from(bytes.subarray(0, 512)).toString("utf8"));
    throw agentFailed(`Cannot read the agent's answer: it is not UTF-8 (received ${seen})`, cause);
  }
}
