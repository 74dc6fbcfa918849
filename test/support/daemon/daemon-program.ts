/** A daemon with the pages of a folder, as a process: prints its page's address. */
import { startDaemon } from "../../../src/daemon/daemon.ts";

const [, , stateDir = "", pagesDir = "", port] = process.argv;
const how = { stateDir, pagesDir, port: Number(port), workers: 0, logLevel: "error" } as const;
const daemon = await startDaemon({ ...how, env: {} });
process.stdout.write(`${daemon.page}\n`);
