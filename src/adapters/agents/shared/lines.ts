/**
 * Lines of a byte stream
 * ======================
 * Cuts bytes at line feeds and decodes each line whole, so a character that arrives in two chunks
 * is one character. Lines are bounded, and bytes that are no UTF-8 are an error, not a guess.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { oneLine } from "../../../domain/sanitize.ts";

/** The largest event as JSON: its text may be escaped, at most six bytes a UTF-16 unit. */
export const lineBytesMax = 2_097_152;

/** A refusal of what an agent said. */
export const agentFailed = (message: string, cause?: unknown): EarshotError =>
  new EarshotError("EAR_AGENT_FAILED", message, cause === undefined ? {} : { cause });

/** A line of an agent as it may be shown in an error: one line, harmless, short. */
export const shown = (line: string): string => JSON.stringify(oneLine(line, 120));

/**
 * The lines of a stream without their ends (LF or CRLF); the last one also without an end.
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
      throw agentFailed(`Cannot read the agent's answer as a line is over ${bytesMax} bytes`);
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
    throw agentFailed(`Cannot read the agent's answer as it is not UTF-8: received ${seen}`, cause);
  }
}
