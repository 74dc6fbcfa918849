/**
 * Ports for programs that cannot choose one themselves. They lie below those that the system gives to all who ask
 * for any (from 32768 on Linux), and each process of the tests has its own: so none is taken by somebody else
 * between the look and the program's start.
 */
import { once } from "node:events";
import { createServer } from "node:net";

const [lowest, each, processes] = [20_000, 1_000, 12];
const first = lowest + (Number(process.env.VITEST_POOL_ID ?? 0) % processes) * each;
/** Somewhere else in each run: others may go on beside this one. */
let next = Math.floor(Math.random() * each);

/** A TCP port of 127.0.0.1 that is free. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < each; tries += 1) {
    const port = first + (next % each);
    next += 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`Cannot find a free port: all from ${first} to ${first + each - 1} are taken.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
  server.close();
  await once(server, "close");
  return true;
}
