/** What has to be true before, at and after the end of a soak. */
import type { SoakDaemon } from "./daemon.ts";

interface Status {
  readonly turns: { readonly running: number; readonly waiting: number };
  readonly outbox: Readonly<Record<string, number>>;
  readonly quarantined: number;
}

const pollMs = 100;
/** What takes longer than this never comes. */
const quietMsMax = 60_000;

type Reached = Pick<SoakDaemon, "base" | "token">;

async function get(daemon: Reached, path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${daemon.token}` };
  return fetch(`${daemon.base}${path}`, { headers });
}

/** Asks until it is true; false: it did not become true. */
async function until(isTrue: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + quietMsMax;
  while (!(await isTrue())) {
    if (performance.now() > end) return false;
    await new Promise((next) => setTimeout(next, pollMs));
  }
  return true;
}

/** Messages that were decided since the start, copies aside. */
async function decided(daemon: Reached): Promise<number> {
  const text = await (await get(daemon, "/metrics")).text();
  let sum = 0;
  for (const [, decision, count] of text.matchAll(
    /^earshot_decisions_total\{.*?decision="([^"]+)".*?\} (\d+)$/gm,
  ))
    if (decision !== "duplicate") sum += Number(count);
  return sum;
}

/** Everything that was accepted is decided once. Empty: it is so. */
export async function decisionProblems(daemon: Reached, accepted: number): Promise<string[]> {
  let found = 0;
  await until(async () => {
    found = await decided(daemon);
    return found >= accepted;
  });
  return found === accepted ? [] : [`${accepted} messages were accepted and ${found} decided`];
}

/** After the start that follows: what was open is finished, and nothing is in doubt. */
export async function restartProblems(daemon: Reached): Promise<string[]> {
  let status: Status | null = null;
  const isQuiet = await until(async () => {
    status = (await (await get(daemon, "/api/status")).json()) as Status;
    const { turns, outbox } = status;
    const waits = ["pending", "sending", "waiting"].some((state) => (outbox[state] ?? 0) > 0);
    return turns.running === 0 && turns.waiting === 0 && !waits;
  });
  const { outbox, quarantined, turns } = status as unknown as Status;
  const problems: string[] = [];
  if (!isQuiet) problems.push(`not quiet: ${JSON.stringify({ turns, outbox })}`);
  for (const state of ["in-doubt", "dead", "expired"])
    if ((outbox[state] ?? 0) > 0) problems.push(`${outbox[state]} rows of the outbox are ${state}`);
  if (quarantined > 0) problems.push(`${quarantined} events are in quarantine`);
  return problems;
}
