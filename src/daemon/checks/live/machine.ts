/** What a daemon needs of its machine: the state directory, the disk, the clock. */
import { existsSync } from "node:fs";
import { access, constants, statfs } from "node:fs/promises";
import type { Clock } from "../../../domain/ports/index.ts";
import { checkStateDir } from "../../state/state-dir.ts";
import { readToken, tokenFileOf } from "../../state/token.ts";
import type { CheckResult } from "./live-checks.ts";

const freeBytesMin = 200_000_000;
/** An earlier clock is wrong: this version did not exist then. */
const plausibleSince = Date.UTC(2025, 0, 1);

export async function machineResults(stateDir: string, clock: Clock): Promise<CheckResult[]> {
  return [await stateResult(stateDir), await diskResult(stateDir), clockResult(clock)];
}

const incomplete = (stateDir: string): CheckResult => ({
  check: "state directory",
  state: "ok",
  says: `${stateDir} will be set up at the first start`,
});

async function stateResult(stateDir: string): Promise<CheckResult> {
  const check = "state directory";
  try {
    await checkStateDir(stateDir);
    await access(stateDir, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${stateDir} cannot be written (${error.code}): name another --state-dir`);
    });
    // The first start writes the token.
    if (!existsSync(tokenFileOf(stateDir))) return incomplete(stateDir);
    await readToken(stateDir);
    return { check, state: "ok", says: stateDir };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return incomplete(stateDir);
    return { check, state: "wrong", says: error instanceof Error ? error.message : String(error) };
  }
}

async function diskResult(stateDir: string): Promise<CheckResult> {
  const check = "disk";
  for (const folder of [stateDir, "/", "."]) {
    const disk = await statfs(folder).catch(() => null);
    if (disk === null) continue;
    const free = disk.bavail * disk.bsize;
    const says = `${Math.floor(free / 1_000_000)} MB free`;
    return free < freeBytesMin
      ? { check, state: "warning", says: `only ${says}: free some space` }
      : { check, state: "ok", says };
  }
  const says = "the free space cannot be determined on this system";
  return { check, state: "warning", says };
}

function clockResult(clock: Clock): CheckResult {
  const now = clock.now();
  const time = new Date(now).toISOString();
  return now < plausibleSince
    ? { check: "clock", state: "wrong", says: `it shows ${time}. Set it, or credits never expire` }
    : { check: "clock", state: "ok", says: time };
}
