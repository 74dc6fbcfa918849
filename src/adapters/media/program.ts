/**
 * A program that reads or writes a media file
 * ===========================================
 * Its command and arguments stand in the config; the only thing put in is the path of the file, as
 * an argument of its own. There is no shell. Time and output are bounded, and it is ended with all
 * it started when either runs out or nobody waits any more.
 */
import { tmpdir } from "node:os";
import { filePlaceholder, type MediaProgram } from "../../domain/config/conversation/media.ts";
import { EarshotError } from "../../domain/errors.ts";
import { oneLine } from "../../domain/sanitize.ts";
import { startChild } from "../agents/command/child.ts";
import { deadline } from "../http/deadline.ts";

export interface ProgramRun {
  /** What `{file}` stands for. */
  readonly file: string;
  /** For its standard input. */
  readonly input?: string;
  readonly bytesMax: number;
  readonly msMax: number;
  readonly signal: AbortSignal;
}

const complaintUnitsMax = 160;

const failed = (program: MediaProgram, why: string) =>
  new EarshotError("EAR_HTTP_FAILED", `Cannot convert as ${oneLine(program.command)} ${why}`);

/**
 * Its standard output.
 * @throws EarshotError saying what the program did wrong; the signal's reason when it aborts.
 */
export async function runProgram(program: MediaProgram, run: ProgramRun): Promise<Uint8Array> {
  const limit = deadline(run.signal, run.msMax);
  const child = startChild({
    command: program.command,
    args: program.args.map((arg) => (arg === filePlaceholder ? run.file : arg)),
    env: program.env,
    cwd: tmpdir(),
  });
  let problem: string | null = null;
  const stop = (why: string) => {
    problem ??= why;
    void child.stop();
  };
  const late = () => stop(`took longer than ${run.msMax} ms`);
  limit.signal.addEventListener("abort", late, { once: true });
  if (limit.signal.aborted) late();
  if (run.input !== undefined) child.write(run.input);
  child.closeInput();
  const parts: Uint8Array[] = [];
  try {
    let bytes = 0;
    for await (const part of child.output) {
      bytes += part.length;
      if (bytes > run.bytesMax) {
        stop(`printed more than ${run.bytesMax} bytes`);
        break;
      }
      parts.push(part);
    }
  } catch {
    // Stopped while it was read; the reason is told below.
  }
  const end = await child.ended;
  limit.signal.removeEventListener("abort", late);
  limit.done();
  run.signal.throwIfAborted();
  if (problem !== null) throw failed(program, problem);
  if (end.problem !== null) {
    const complaint = oneLine(end.stderr.slice(-complaintUnitsMax), complaintUnitsMax);
    throw failed(program, `${end.problem}${complaint === "" ? "" : `: ${complaint}`}`);
  }
  return Buffer.concat(parts);
}
