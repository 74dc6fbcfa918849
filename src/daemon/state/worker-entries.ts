/** What the daemon starts outside its own thread. Tests put the bundled files in the place of this module. */
import { codeFile } from "./package-files.ts";

/** The process that tries other rules on a recording. */
export const whatIfWorker = codeFile("daemon/what-if/worker.ts", "daemon/what-if-worker.js");

/** The thread that scores a labelled room. */
export const qualityWorker = codeFile("daemon/quality/worker.ts", "daemon/quality-worker.js");
