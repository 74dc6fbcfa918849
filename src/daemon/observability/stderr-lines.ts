/**
 * Lines on stderr
 * ===============
 * The decisions of a batch are logged one after the other, and each write to stderr is a call of the
 * system. Lines that are written before anything else can run go out together; none waits for longer,
 * and the end of the process leaves none behind.
 */

/** Lines for one output. */
export interface JoinedLines {
  /** Takes a whole line, with its end. */
  write(line: string): void;
  /** Puts out what waits. */
  flush(): void;
}

/** Joins lines until everything that runs now has run. */
export function joinLines(put: (lines: string) => void): JoinedLines {
  let waiting = "";
  const flush = () => {
    const lines = waiting;
    waiting = "";
    if (lines !== "") put(lines);
  };
  return {
    write(line) {
      if (waiting === "") queueMicrotask(flush);
      waiting += line;
    },
    flush,
  };
}

let ofProcess: JoinedLines | null = null;

/** Writes a line to the stderr of this process. */
export function writeToStderr(line: string): void {
  if (ofProcess === null) {
    ofProcess = joinLines((lines) => void process.stderr.write(lines));
    process.on("exit", ofProcess.flush);
  }
  ofProcess.write(line);
}
