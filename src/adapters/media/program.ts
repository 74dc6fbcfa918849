/**
 * Running a media program
 * =======================
 * The config holds command and arguments; only the path of the file is inserted, as an argument of
 * its own. There is no shell. Time and output are bounded; when a bound is reached or the caller
 * aborts, the program is killed with all its children.
 */
import { tmpdir } from "node:os";
import { filePlaceholder, type MediaProgram } from "../../domain/config/conversation/media.ts";
import { EarshotError } from "../../domain/errors.ts";
import { oneLine } from "../../domain/sanitize.ts";
import { startChild } from "../agents/command/child.ts";
import { deadline } from "../http/deadline.ts";

export interface ProgramRun {
  /** The value of `{file}`. */
  readonly file: string;
  /** Its standard input. */
  readonly input?: string;
  readonly bytesMax: number;
  readonly msMax: number;
  readonly signal: AbortSignal;
}

const complaintUnitsMax = 160;

const failed = (program: MediaProgram, why: string) =>
  new EarshotError("EAR_HTTP_FAILED", `Cannot convert: ${oneLine(program.command)} ${why}`);

/**
 * Runs the program and returns its standard output.
 * @throws EarshotError when the program fails; the signal's reason when it aborts.
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
    // Stopped while being read; the reason is reported below.
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
